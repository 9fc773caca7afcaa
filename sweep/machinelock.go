package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// machineLock keeps two sweeps of one machine from measuring at the same time. Whoever runs them, the file is the same;
// it does not move with $TMPDIR, which may differ between two users or two jobs.
// waiting is called once if another sweep has it.
func machineLock(ctx context.Context, waiting func()) (func(), error) {
	path, err := machineLockFile("/tmp", os.TempDir())
	if err != nil {
		return nil, err
	}
	// Read-only, for the file may be another user's.
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	if free, err := lock.TryLock(); err == nil && free {
		return func() { _ = lock.Unlock() }, nil
	}
	waiting()
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait until no other sweep measures on this machine (%s): %w", path, err)
	}
	return func() { _ = lock.Unlock() }, nil // the lock ends with the process in any case
}

// machineLockFile is the file to lock, in the first of the folders in which it is there or can be made.
func machineLockFile(dirs ...string) (string, error) {
	var failed error
	for _, dir := range dirs {
		path := filepath.Join(dir, "frontier-measure.lock")
		// O_EXCL, for in a folder that all can write to, systems refuse O_CREATE on the file of another user.
		f, err := os.OpenFile(path, os.O_RDONLY|os.O_CREATE|os.O_EXCL, 0o644)
		switch {
		case err == nil:
			return path, errors.Join(f.Chmod(0o644), f.Close()) // also under a mask that keeps others out
		case errors.Is(err, os.ErrExist):
			return path, checkLockFile(path)
		}
		failed = errors.Join(failed, err)
	}
	return "", fmt.Errorf("make the file that keeps two sweeps from measuring at once: %w", failed)
}

// checkLockFile refuses a file that cannot be locked. Another place would not do: the other users' sweeps lock this one.
func checkLockFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // opening a pipe would wait for ever
		return fmt.Errorf("%s keeps two sweeps from measuring at once, but it is not a regular file: remove it", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%w; it keeps two sweeps from measuring at once: its owner can make it readable with chmod 644", err)
	}
	return f.Close()
}
