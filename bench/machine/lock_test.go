package machine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The lock is the same file for all users, also where the file is not theirs.
func TestMachineLockFile(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	path, err := machineLockFile(filepath.Join(a, "missing"), b)
	if err != nil || filepath.Dir(path) != b {
		t.Fatalf("%q, %v", path, err)
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if again, err := machineLockFile(b); err != nil || again != path {
		t.Errorf("again: %q, %v", again, err)
	}
	if _, err := machineLockFile(filepath.Join(a, "missing")); err == nil {
		t.Error("a folder that is not there gave no error")
	}
}

func TestLockFileMustBeAFile(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "frontier-measure.lock"), 0o644); err != nil {
		t.Fatal(err)
	}
	if path, err := machineLockFile(dir, t.TempDir()); err == nil {
		t.Errorf("a pipe is taken for a lock file: %s", path)
	}
}

func TestLockIsHeldByOneAtATime(t *testing.T) {
	dir := t.TempDir()
	release, ok, err := tryLockFile(dir)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if _, again, err := tryLockFile(dir); again || err != nil {
		t.Errorf("held twice: %v, %v", again, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := lockFile(ctx, cancel, dir); !errors.Is(err, context.Canceled) { // waiting ends the wait
		t.Errorf("a cancelled wait: %v", err)
	}
	after, err := lockFile(t.Context(), release, dir) // waiting gives it free
	if err != nil {
		t.Fatal(err)
	}
	after()
	if release, ok, err := tryLockFile(dir); !ok || err != nil {
		t.Errorf("not free after all let go: %v, %v", ok, err)
	} else {
		release()
	}
}
