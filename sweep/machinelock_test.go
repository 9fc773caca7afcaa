package sweep

import (
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
