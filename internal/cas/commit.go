package cas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// commit gives the folder t, which a build has filled, its final name. Until the one rename at its end nothing is seen
// of it; after that it is whole, also if the machine loses power: all files, the names in all folders, and artifact.json
// last, are on the disk before the rename. The artifact is pinned from its birth on.
func (c *Cache) commit(ctx context.Context, t *temp, m *Meta) (pin *os.File, err error) {
	if m.Files, err = c.seal(ctx, t.dir); err != nil {
		return nil, err
	}
	raw, err := m.encode()
	if err != nil {
		return nil, err
	}
	meta := filepath.Join(t.dir, metaFile)
	if err := c.fs.writeFile(meta, raw); err != nil {
		return nil, err
	}
	for _, path := range []string{meta, t.dir} {
		if err := c.fs.sync(path); err != nil {
			return nil, err
		}
	}
	dir := c.dir(m.Key)
	if err := c.makeParent(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	if pin, err = pinNew(meta); err != nil {
		return nil, err
	}
	if err := c.fs.rename(t.dir, dir); err != nil {
		return nil, errors.Join(err, pin.Close())
	}
	if err := c.fs.sync(filepath.Dir(dir)); err != nil {
		return nil, errors.Join(err, pin.Close())
	}
	return pin, nil
}

// seal computes the checksums of the files in dir and brings files and folders to the disk.
func (c *Cache) seal(ctx context.Context, dir string) (map[string]File, error) {
	sizes, err := listFiles(dir, false)
	if err != nil {
		return nil, err
	}
	if _, ok := sizes[metaFile]; ok {
		return nil, fmt.Errorf("a build may not write %s: the cache does", metaFile)
	}
	// The sums come first: what the disk makes of the files afterwards can then be told from what was meant.
	sums, failed := checksums(ctx, dir, sizes)
	for _, name := range sortedKeys(failed) {
		return nil, failed[name]
	}
	files := make(map[string]File, len(sizes))
	var group errgroup.Group
	group.SetLimit(2 * runtime.GOMAXPROCS(0)) // a disk serves several requests at once
	for name, size := range sizes {
		files[name] = File{Size: size, CRC32C: sums[name]}
		path := filepath.Join(dir, name)
		group.Go(func() error {
			if err := c.fs.protect(path); err != nil {
				return err
			}
			return c.fs.sync(path)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	dirs, err := listDirs(dir)
	if err != nil {
		return nil, err
	}
	for _, d := range dirs[:len(dirs)-1] { // the outermost follows artifact.json
		if err := c.fs.sync(d); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// makeParent makes the folder that an artifact's folder lies in.
func (c *Cache) makeParent(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := c.fs.mkdirAll(dir); err != nil {
		return err
	}
	return c.fs.sync(filepath.Dir(dir))
}

func pinNew(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if _, err := tryFlock(f, unix.LOCK_SH); err != nil && !cannotLock(err) { // nobody else knows the file yet
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// makeWay moves aside what lies where the artifact of s is to be, and is not it: f, whose pin keeps others from
// deleting it meanwhile.
func (c *Cache) makeWay(s Stage, k Key, f finding) error {
	switch f.state {
	case damaged:
		moved := filepath.Join(c.root, "damaged", string(k)+"-"+time.Now().UTC().Format("20060102T150405.000000000"))
		if err := c.fs.mkdirAll(filepath.Dir(moved)); err != nil {
			return err
		}
		if err := c.fs.rename(c.dir(k), moved); err != nil {
			return err
		}
		c.report(Notice{Kind: Damaged, Stage: s, Key: k, Faults: f.faults, MovedTo: moved})
	case otherFormat:
		t, err := c.newTemp(k)
		if err != nil {
			return err
		}
		defer t.close()
		return c.fs.rename(c.dir(k), filepath.Join(t.dir, "old"))
	}
	return nil
}
