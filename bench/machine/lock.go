package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Lock waits until no other sweep measures on this machine and keeps others from it until the function that it returns
// is called, or the process ends. Whoever runs them, the file that is locked is the same; it does not move with $TMPDIR,
// which may differ between two users or two jobs. waiting is called once if another sweep has it.
func Lock(ctx context.Context, waiting func()) (release func(), err error) {
	return lockFile(ctx, waiting, lockDirs()...)
}

// TryLock is Lock without waiting: it is not ok where another sweep measures now.
func TryLock() (release func(), ok bool, err error) {
	return tryLockFile(lockDirs()...)
}

// LockDirEnv names a folder for the lock in place of /tmp. Sweeps with different folders do not wait for each other: for
// parts of a machine that do not disturb each other, and for tests, which assert no times.
const LockDirEnv = "FRONTIER_LOCK_DIR"

func lockDirs() []string {
	if dir := os.Getenv(LockDirEnv); dir != "" {
		return []string{dir}
	}
	return []string{"/tmp", os.TempDir()}
}

func lockFile(ctx context.Context, waiting func(), dirs ...string) (func(), error) {
	release, ok, err := tryLockFile(dirs...)
	if ok || err != nil {
		return release, err
	}
	waiting()
	lock, path, err := measureLock(dirs...)
	if err != nil {
		return nil, err
	}
	if _, err := lock.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait until no other sweep measures on this machine (%s): %w", path, err)
	}
	return func() { _ = lock.Unlock() }, nil // the lock ends with the process in any case
}

func tryLockFile(dirs ...string) (release func(), ok bool, err error) {
	lock, path, err := measureLock(dirs...)
	if err != nil {
		return nil, false, err
	}
	ok, err = lock.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock %s, which keeps two sweeps from measuring at once: %w", path, err)
	}
	if !ok {
		return nil, false, nil
	}
	return func() { _ = lock.Unlock() }, true, nil
}

func measureLock(dirs ...string) (*flock.Flock, string, error) {
	path, err := machineLockFile(dirs...)
	if err != nil {
		return nil, "", err
	}
	// Read-only, for the file may be another user's.
	return flock.New(path, flock.SetFlag(os.O_RDONLY)), path, nil
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
