package cas

import (
	"os"
	"path/filepath"
	"time"
)

// unfinishedFor is how long GC leaves unfinished work alone that nobody has gone on with, if it is not told a time.
const unfinishedFor = 7 * 24 * time.Hour

// Unfinished is a folder for what a build of the artifact k has done so far, if it can go on with that after its process
// was killed. Only the build that holds the artifact's lock, inside of Do, may make and use it; once the artifact is stored
// nobody needs it, and whoever asked for it deletes it. GC does so after a week without change, or after GCOptions.UnusedSince.
func (c *Cache) Unfinished(k Key) string { return filepath.Join(c.root, "unfinished", string(k)) }

// eachAbandoned calls f with each folder for unfinished work that was not changed since then, and that no build uses
// meanwhile.
func (c *Cache) eachAbandoned(since time.Time, f func(dir string)) error {
	entries, err := readDir(filepath.Join(c.root, "unfinished"))
	if err != nil {
		return c.storageError("list unfinished work", err)
	}
	for _, d := range entries {
		k := Key(d.Name())
		if !k.valid() || changedSince(c.Unfinished(k), since) {
			continue
		}
		lock, _, err := tryLockFile(c.lockPath(k), true)
		if err != nil || lock == nil {
			continue // a build uses it, or nobody can know
		}
		f(c.Unfinished(k))
		lock.remove()
	}
	return nil
}

// changedSince says whether something in the folder was written since then, or cannot be looked at.
func changedSince(dir string, since time.Time) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	paths := []string{dir}
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || info.ModTime().After(since) {
			return true
		}
	}
	return false
}
