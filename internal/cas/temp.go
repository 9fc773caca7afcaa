package cas

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ownerSuffix ends the name of the file that says whether a temporary folder is still in use: its owner holds a lock
// on tmp/NAME.owner from before tmp/NAME exists until after it is gone. A folder without such a file, or with one that
// nobody has locked, is left from a process that died.
const ownerSuffix = ".owner"

type temp struct {
	c     *Cache
	dir   string
	owner *lockFile
}

// newTemp makes a temporary folder for the artifact k.
func (c *Cache) newTemp(k Key) (*temp, error) {
	for {
		dir := filepath.Join(c.root, "tmp", string(k)+"-"+nonce())
		owner, _, err := tryLockFile(dir+ownerSuffix, true)
		if err != nil {
			return nil, err
		}
		if owner == nil { // someone who cleans up was quicker, and deletes it
			continue
		}
		if err := c.fs.mkdir(dir); err != nil {
			owner.remove()
			return nil, err
		}
		return &temp{c, dir, owner}, nil
	}
}

// close deletes the folder, if it was not renamed, and gives up its owner file. A folder that cannot be deleted now is
// deleted when a cache is next opened.
func (t *temp) close() {
	if t.c.fs.removeAll(t.dir) == nil {
		_ = t.c.fs.removeAll(t.dir + ownerSuffix) // while it is locked
	}
	t.owner.unlock()
}

func nonce() string {
	raw := make([]byte, 8)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}

// eachStale visits the temporary folders of processes that are gone, each with its owner file, locked meanwhile, if it
// has one. The folder may be gone already.
func (c *Cache) eachStale(visit func(dir string, owner *lockFile)) {
	entries, err := os.ReadDir(filepath.Join(c.root, "tmp"))
	if err != nil {
		return // nothing can be cleaned where nothing can be listed
	}
	last := ""
	for _, e := range entries {
		dir := filepath.Join(c.root, "tmp", strings.TrimSuffix(e.Name(), ownerSuffix))
		if dir == last { // the owner file stands after its folder, and was dealt with there
			continue
		}
		last = dir
		owner, _, err := tryLockFile(dir+ownerSuffix, false)
		switch {
		case owner != nil:
			visit(dir, owner)
			owner.unlock()
		case errors.Is(err, fs.ErrNotExist) && dir == filepath.Join(c.root, "tmp", e.Name()):
			visit(dir, nil)
		}
	}
}

// cleanTemp deletes what processes that are gone left in tmp.
func (c *Cache) cleanTemp() {
	c.eachStale(func(dir string, owner *lockFile) {
		if os.RemoveAll(dir) == nil && owner != nil {
			_ = os.Remove(owner.f.Name()) // it is tried again the next time
		}
	})
}
