package cas

import (
	"errors"
	"os"
)

// fsys is every change that the cache makes to its folders. Tests put in one that fails, or stops, at any step.
type fsys interface {
	mkdir(path string) error
	mkdirAll(path string) error
	writeFile(path string, data []byte) error
	protect(path string) error // against writing
	sync(path string) error    // a file's content, or the names in a folder, to the disk
	rename(from, to string) error
	removeAll(path string) error
}

type osFS struct{}

func (osFS) mkdir(path string) error                  { return os.Mkdir(path, 0o777) } // the umask says who may use a cache
func (osFS) mkdirAll(path string) error               { return os.MkdirAll(path, 0o777) }
func (osFS) writeFile(path string, data []byte) error { return os.WriteFile(path, data, 0o666) }
func (osFS) rename(from, to string) error             { return os.Rename(from, to) }
func (osFS) removeAll(path string) error              { return os.RemoveAll(path) }

func (osFS) protect(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Chmod(path, info.Mode().Perm()&^0o222)
}

func (osFS) sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
