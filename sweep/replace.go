package sweep

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"frontier/internal/checked"
)

// replaceFile writes path by another name, syncs it and renames it, so that at any instant path is either what it was
// or whole.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", path, err), ignoreClosed(f.Close()), os.Remove(f.Name()))
		}
	}()
	w := checked.New(f)
	err = write(w)
	if w.Err() != nil {
		return w.Err()
	}
	if err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync()); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
