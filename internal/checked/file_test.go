package checked

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFirstErrorIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	c := New(f)
	if n, err := c.Write([]byte("abc")); n != 3 || err != nil || c.Err() != nil {
		t.Fatalf("%d, %v, %v", n, err, c.Err())
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Write([]byte("def")); !errors.Is(err, os.ErrClosed) || !errors.Is(c.Err(), os.ErrClosed) {
			t.Errorf("a failed write gave %v, kept is %v", err, c.Err())
		}
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "abc" {
		t.Errorf("the file holds %q, %v", raw, err)
	}
}
