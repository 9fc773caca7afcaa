package indexes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontier/internal/param"
	"frontier/internal/vector"
)

func TestSaved(t *testing.T) {
	matrix, err := vector.NewMatrix(make([]float32, 12), 4)
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Vectors: matrix, Metric: vector.L2}
	params := param.Values{"M": int64(16)}
	dir := t.TempDir()
	if _, err := ReadSaved(dir, "e", in, params); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder gives %v", err)
	}
	if err := NewSaved("e", in, params, 99).Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSaved(dir, "e", in, params)
	if want := (Saved{"e", 3, 4, vector.L2, `{"M":16}`, 99}); err != nil || got != want {
		t.Errorf("read %+v, %v; expected %+v", got, err, want)
	}
	if _, err := ReadSaved(dir, "e", Input{}, params); err != nil {
		t.Errorf("without vectors: %v", err)
	}
	wider, err := vector.NewMatrix(make([]float32, 12), 6)
	if err != nil {
		t.Fatal(err)
	}
	for says, read := range map[string]func() (Saved, error){
		"not of f":      func() (Saved, error) { return ReadSaved(dir, "f", in, params) },
		"not {\"M\":8}": func() (Saved, error) { return ReadSaved(dir, "e", in, param.Values{"M": int64(8)}) },
		"not ip":        func() (Saved, error) { return ReadSaved(dir, "e", Input{Metric: vector.IP}, params) },
		"2 of 6":        func() (Saved, error) { return ReadSaved(dir, "e", Input{Vectors: wider, Metric: vector.L2}, params) },
	} {
		if _, err := read(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error is %v, expected %q", err, says)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, savedName), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSaved(dir, "e", in, params); err == nil {
		t.Error("a broken description is read")
	}
}

func TestCheckFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CheckFile(path, 3); err != nil {
		t.Error(err)
	}
	if CheckFile(path, 4) == nil || CheckFile(path+"x", 3) == nil {
		t.Error("a short or an absent file passes")
	}
}
