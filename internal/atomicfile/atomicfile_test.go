package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWriteReplacesOrLeaves(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error { return errors.Join(text("half")(w), broken) })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Errorf("a failed write: %v", err)
	}
	check := func(want string) {
		t.Helper()
		raw, err := os.ReadFile(path)
		if err != nil || string(raw) != want {
			t.Errorf("the file holds %q, %v; want %q", raw, err, want)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
	check("old")
	if err := Write(path, text(strings.Repeat("new", bufferBytes))); err != nil {
		t.Fatal(err)
	}
	check(strings.Repeat("new", bufferBytes))
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o600 != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := Write(filepath.Join(dir, "absent", "x"), text("")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
