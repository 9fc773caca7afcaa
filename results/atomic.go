package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"frontier/internal/checked"
)

// writeAtomically writes path through a temporary file in the same folder, which is synced and renamed, so that path
// is at any instant either what it was before or whole. The temporary name begins with a dot and no reader takes it
// for a part.
func writeAtomically(path string, write func(io.Writer) error) (err error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "."+base+".*.tmp")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, err)
			f.Close() // closing twice is harmless, the first error is the one to report
			os.Remove(f.Name())
		}
	}()
	w := checked.New(f)
	err = write(w)
	if w.Err() != nil { // also where the encoder did not notice; it says more than what the encoder makes of it
		return w.Err()
	}
	if err != nil {
		return err
	}
	// CreateTemp makes files that only the owner can read; results are for the whole team, within its umask.
	if err := f.Chmod(0o644); err != nil {
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
	return syncDir(dir)
}

// syncDir makes a rename within dir outlive a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
