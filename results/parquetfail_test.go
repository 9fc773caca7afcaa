package results

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// narrowWriter has room for so many bytes, and then none.
type narrowWriter struct{ room int }

func (w *narrowWriter) Write(p []byte) (int, error) {
	if len(p) > w.room {
		n := w.room
		w.room = 0
		return n, syscall.ENOSPC
	}
	w.room -= len(p)
	return len(p), nil
}

// Wherever a write fails, the error is that of the write, and neither a panic of the library nor success.
func TestFailedWritesAreTold(t *testing.T) {
	rows := sparseRows()
	fields := newCatalogue().expand([]int{1, 5, 10})
	value := func(row, f int) any { return rows[row][fields[f].name] }
	var whole bytes.Buffer
	if err := encodeChecked(&whole, fields, batchesOf(len(rows), rowGroupRows, value)); err != nil {
		t.Fatal(err)
	}
	step := max(1, whole.Len()/97)
	for room := 0; room < whole.Len(); room += step {
		err := encodeChecked(&narrowWriter{room}, fields, batchesOf(len(rows), rowGroupRows, value))
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("with room for %d of %d bytes: error %v, want that of the writer", room, whole.Len(), err)
		}
	}
	if err := encodeChecked(&narrowWriter{whole.Len()}, fields, batchesOf(len(rows), rowGroupRows, value)); err != nil {
		t.Errorf("with room for all: %v", err)
	}
}

func TestLargeFilePointers(t *testing.T) {
	for text, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:dec31c\nsize 8106566\n": "git lfs pull",
		"/annex/objects/SHA256E-s8106566--dec31c.parquet\n":                             "git annex get",
	} {
		path := filepath.Join(t.TempDir(), "results.parquet")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadRows(context.Background(), path)
		if err == nil || !strings.Contains(err.Error(), "large-file pointer") || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}
