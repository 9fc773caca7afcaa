package vector

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFbinRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 9).Draw(t, "dim")
		data := rapid.SliceOfN(rapid.Float32(), 0, 5*dim).Draw(t, "data")
		data = data[:len(data)/dim*dim]
		path := filepath.Join(dir, "x.fbin")
		w, err := CreateFbin(path, dim)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(data); err != nil {
			t.Fatal(err)
		}
		if w.Len() != len(data)/dim {
			t.Errorf("%d rows after %d values of %d", w.Len(), len(data), dim)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		m, err := OpenFbin(path)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if m.Len() != len(data)/dim || m.Dim() != dim {
			t.Fatalf("%d x %d", m.Len(), m.Dim())
		}
		for i := range m.Len() {
			if !slices.Equal(m.Row(i), data[i*dim:(i+1)*dim]) {
				t.Errorf("row %d is %v, not %v", i, m.Row(i), data[i*dim:(i+1)*dim])
			}
		}
		if m.Len() > 1 && !slices.Equal(m.Rows(1, m.Len()), data[dim:]) {
			t.Error("a range of rows differs")
		}
	})
}

func TestBrokenFbinIsRefused(t *testing.T) {
	head := func(n, dim uint32) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, n), dim)
	}
	for name, c := range map[string]struct {
		raw  []byte
		says string
	}{
		"empty":     {nil, "0 bytes"},
		"half head": {head(1, 1)[:7], "7 bytes"},
		"no dim":    {head(1, 0), "dimension 0"},
		"truncated": {append(head(2, 3), make([]byte, 20)...), "32 bytes, but the file has 28"},
		"too long":  {append(head(1, 1), make([]byte, 8)...), "the file has 16"},
		"huge":      {head(1<<32-1, 1<<32-1), "truncated or of another format"},
	} {
		path := filepath.Join(t.TempDir(), "x.fbin")
		if err := os.WriteFile(path, c.raw, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenFbin(path); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v does not say %q", name, err, c.says)
		}
	}
}

// A writer that did not get to Close leaves a file that is not mistaken for a whole one.
func TestUnfinishedFbinIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.fbin")
	w, err := CreateFbin(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(make([]float32, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFbin(path); err == nil {
		t.Error("an unfinished file was opened")
	}
	if err := w.Append(make([]float32, 3)); err == nil {
		t.Error("half a row was written")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNewMatrix(t *testing.T) {
	if _, err := NewMatrix(make([]float32, 5), 2); err == nil {
		t.Error("5 values are whole rows of 2")
	}
	if _, err := NewMatrix(nil, 0); err == nil {
		t.Error("a dimension of 0 is accepted")
	}
}

func TestParseMetric(t *testing.T) {
	for s, want := range map[string]Metric{"L2": L2, "euclidean": L2, "dot": IP, "angular": Cosine} {
		if got, err := ParseMetric(s); err != nil || got != want {
			t.Errorf("%s is %v, %v", s, got, err)
		}
	}
	if _, err := ParseMetric("hamming"); err == nil {
		t.Error("hamming is accepted")
	}
}

func FuzzOpenFbin(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x01\x00\x00\x00abcd"))
	f.Add(bytes.Repeat([]byte{255}, 8))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), "x.fbin")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := OpenFbin(path)
		if err != nil {
			return
		}
		if 8+m.Len()*m.Dim()*4 != len(raw) {
			t.Errorf("%d rows of %d from %d bytes", m.Len(), m.Dim(), len(raw))
		}
		for i := range m.Len() {
			_ = m.Row(i)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}
