// Package atomicfile replaces files as a whole: whatever happens, a path names what it named before or all of the new.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"frontier/internal/checked"
)

// bufferBytes is what is gathered before it is written.
const bufferBytes = 256 << 10

// Write writes path through a temporary file beside it, which is synced and renamed. Others may read the file. If write
// fails, or the disk does, path is what it was and the temporary file is gone.
func Write(path string, write func(io.Writer) error) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("writing %s: %w", path, err), unless(os.ErrClosed, f.Close()), unless(os.ErrNotExist, os.Remove(f.Name())))
		}
	}()
	c := checked.New(f)
	w := bufio.NewWriterSize(c, bufferBytes)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if c.Err() != nil { // also where the encoder did not notice; it says more than what the encoder makes of it
		return c.Err()
	}
	if err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil { // CreateTemp makes files that only the owner can read
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close()) // so that the rename outlives a power failure
}

// unless is err, or nil if it is only what was to be expected.
func unless(expected, err error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}
