// Package cas is the content-addressed cache of a sweep's preparation: each artifact is a folder whose name is a hash
// over all that it was made from. A folder under its final name is whole; there is no other state to recover from.
package cas

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Key names an artifact: 32 hexadecimal digits of a SHA-256.
type Key string

// Stage says what an artifact is made by and from. Its key is a hash over all of it.
type Stage struct {
	Name    string // "chunk", "embed", ...
	Version int    // changes when the same inputs would give another output
	Params  string // canonical text of the parameters
	Inputs  []Key
}

// Key is the name of the artifact that the stage makes.
func (s Stage) Key() Key {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("cas: a stage of strings and numbers always has a text form: " + err.Error())
	}
	return Hash(string(raw))
}

// Hash is the key of a text, for inputs that are not artifacts.
func Hash(text string) Key {
	sum := sha256.Sum256([]byte(text))
	return Key(hex.EncodeToString(sum[:16]))
}

// Meta is what is known about a whole artifact; it lies in the artifact's folder and is written last.
type Meta struct {
	Key         Key
	Stage       Stage
	Created     time.Time
	WallSeconds float64
	Files       map[string]int64 // path within the folder to size in bytes
}

// Bytes is the size of the artifact.
func (m Meta) Bytes() int64 {
	var sum int64
	for _, size := range m.Files {
		sum += size
	}
	return sum
}

// Artifact is a whole artifact on disk.
type Artifact struct {
	Meta
	Dir string
	Hit bool // it was there already
}

// Path is the path of a file of the artifact.
func (a Artifact) Path(name string) string { return filepath.Join(a.Dir, name) }

// Cache is a folder of artifacts. Several processes may use it at once.
type Cache struct{ root string }

const metaFile = "artifact.json"

// Open opens the cache in the folder root and makes it if it is not there.
func Open(root string) (*Cache, error) {
	abs, err := filepath.Abs(root) // children run elsewhere
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{"objects", "tmp", "locks"} {
		if err := os.MkdirAll(filepath.Join(abs, dir), 0o755); err != nil {
			return nil, fmt.Errorf("open the cache: %w; name a folder that can be written with --cache", err)
		}
	}
	return &Cache{root: abs}, nil
}

// Root is the cache's folder.
func (c *Cache) Root() string { return c.root }

func (c *Cache) dir(k Key) string { return filepath.Join(c.root, "objects", string(k[:2]), string(k)) }

// Lookup finds a whole artifact without making it. An artifact whose files no longer have the sizes that they were
// written with does not count as whole.
func (c *Cache) Lookup(k Key) (Artifact, bool) {
	dir := c.dir(k)
	raw, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		return Artifact{}, false
	}
	var m Meta
	if json.Unmarshal(raw, &m) != nil || m.Key != k {
		return Artifact{}, false
	}
	for name, size := range m.Files {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() != size {
			return Artifact{}, false
		}
	}
	return Artifact{Meta: m, Dir: dir, Hit: true}, true
}

// Do returns the artifact of s, making it first if it is not there: build fills a temporary folder, which is synced
// and renamed when build has succeeded. Of several callers, in this and in other processes, one builds and the others
// wait for it.
func (c *Cache) Do(ctx context.Context, s Stage, build func(ctx context.Context, dir string) error) (Artifact, error) {
	k := s.Key()
	if a, ok := c.Lookup(k); ok {
		return a, nil
	}
	lock := flock.New(filepath.Join(c.root, "locks", string(k)))
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return Artifact{}, fmt.Errorf("%s: wait for the lock on the artifact: %w", s.Name, err)
	}
	defer func() { _ = lock.Unlock() }() // closing the file, which always follows, unlocks as well
	if a, ok := c.Lookup(k); ok {
		return a, nil
	}
	tmp, err := os.MkdirTemp(filepath.Join(c.root, "tmp"), string(k)+"-")
	if err != nil {
		return Artifact{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	defer func() { _ = os.RemoveAll(tmp) }() // after the rename there is nothing left to remove
	start := time.Now()
	if err := build(ctx, tmp); err != nil {
		return Artifact{}, err
	}
	m := Meta{Key: k, Stage: s, Created: start.UTC(), WallSeconds: time.Since(start).Seconds()}
	if err := c.commit(tmp, &m); err != nil {
		return Artifact{}, fmt.Errorf("%s: store the artifact: %w", s.Name, err)
	}
	return Artifact{Meta: m, Dir: c.dir(k)}, nil
}

func (c *Cache) commit(tmp string, m *Meta) error {
	files, err := sizes(tmp)
	if err != nil {
		return err
	}
	m.Files = files
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, metaFile), raw, 0o644); err != nil {
		return err
	}
	for name := range files {
		if err := syncPath(filepath.Join(tmp, name)); err != nil {
			return err
		}
	}
	if err := errors.Join(syncPath(filepath.Join(tmp, metaFile)), syncPath(tmp)); err != nil {
		return err
	}
	dir := c.dir(m.Key)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // what is there was not whole, or Lookup had found it
		return err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return err
	}
	return syncPath(filepath.Dir(dir))
}

func sizes(root string) (map[string]int64, error) {
	files := map[string]int64{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		files[rel] = info.Size()
		return err
	})
	return files, err
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
