package truth

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// npyValues is the data of a NumPy file of 4-byte values, whatever its shape.
func npyValues[T float32 | int32](t *testing.T, path string) []T {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data := raw[10+int(binary.LittleEndian.Uint16(raw[8:])):]
	values := make([]T, len(data)/4)
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	return values
}

func TestSaveLoadRoundTrip(t *testing.T) {
	for _, want := range []*Neighbors{
		{K: 2, IDs: []int64{4, 1 << 40, 0, 2, 7, 3}, Distances: []float64{0, 1.5, -2, math.Pi, 1e-300, math.MaxFloat64}},
		{K: 1, IDs: []int64{9}, Distances: []float64{-3}},
		{K: 10, IDs: []int64{}, Distances: []float64{}},
	} {
		dir := filepath.Join(t.TempDir(), "made", "by", "save")
		if err := want.Save(dir); err != nil {
			t.Fatal(err)
		}
		got, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, got, want)
		if got.Len() != want.Len() {
			t.Errorf("got %d queries, want %d", got.Len(), want.Len())
		}
	}
}

// The expected bytes are those that numpy.save writes for the same array.
func TestSaveWritesWhatNumPyWrites(t *testing.T) {
	n := &Neighbors{K: 2, IDs: []int64{1, 258}, Distances: []float64{0.5, -2}}
	dir := t.TempDir()
	if err := n.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, idsFile))
	if err != nil {
		t.Fatal(err)
	}
	want := "\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2), }" + strings.Repeat(" ", 58) + "\n" +
		"\x01\x00\x00\x00\x00\x00\x00\x00\x02\x01\x00\x00\x00\x00\x00\x00"
	if string(got) != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got, err = os.ReadFile(filepath.Join(dir, distancesFile)); err != nil {
		t.Fatal(err)
	}
	if tail := got[len(got)-16:]; !slices.Equal(tail, []byte{0, 0, 0, 0, 0, 0, 0xe0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}) {
		t.Errorf("distances end in % x", tail)
	}
}

func TestLoadRefuses(t *testing.T) {
	good := &Neighbors{K: 2, IDs: []int64{4, 5, 6, 7}, Distances: []float64{1, 2, 3, 4}}
	for _, c := range []struct {
		name, file string
		damage     func([]byte) []byte
		want       string
	}{
		{"truncated", idsFile, func(b []byte) []byte { return b[:len(b)-1] }, "31 bytes follow"},
		{"bytes left over", idsFile, func(b []byte) []byte { return append(b, 0) }, "33 bytes follow"},
		{"empty", idsFile, func([]byte) []byte { return nil }, "byte 0"},
		{"magic", idsFile, func(b []byte) []byte { b[0] = 'x'; return b }, "byte 0: not a NumPy file"},
		{"cut in the header", idsFile, func(b []byte) []byte { return b[:40] }, "the header should have 118 bytes"},
		{"type", idsFile, func(b []byte) []byte { return bytes.Replace(b, []byte("<i8"), []byte("<f8"), 1) }, "type <i8"},
		{"order", idsFile, func(b []byte) []byte { return bytes.Replace(b, []byte("False"), []byte("True "), 1) }, "C order"},
		{"one dimension", distancesFile, func(b []byte) []byte { return bytes.Replace(b, []byte("(2, 2)"), []byte("(4,)  "), 1) }, "two dimensions"},
		{"other shape", distancesFile, func(b []byte) []byte { return bytes.Replace(b, []byte("(2, 2)"), []byte("(1, 4)"), 1) }, "not of one search"},
		{"overflowing shape", idsFile, func(b []byte) []byte {
			return bytes.Replace(b, []byte("(2, 2), }"+strings.Repeat(" ", 40)), []byte("(4611686018427387904, 4611686018427387904), }    "), 1)
		}, "truncated or damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := good.Save(dir); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, c.file)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, c.damage(raw), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err = Load(dir); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("got error %v, want one with %q and the path", err, c.want)
			}
		})
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("an empty folder was loaded")
	}
	bad := &Neighbors{K: 3, IDs: []int64{1, 2}, Distances: []float64{1, 2}}
	if err := bad.Save(t.TempDir()); err == nil {
		t.Error("ragged neighbours were saved")
	}
}

func FuzzParseNpy(f *testing.F) {
	dir := f.TempDir()
	good := &Neighbors{K: 2, IDs: []int64{4, 5, 6, 7}, Distances: []float64{1, 2, 3, 4}}
	if err := good.Save(dir); err != nil {
		f.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, idsFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:50])
	f.Fuzz(func(t *testing.T, raw []byte) {
		words, rows, columns, err := parseNpy(bytes.NewReader(raw), int64(len(raw)), idsFile, "<i8")
		if err != nil {
			return
		}
		if len(words) != rows*columns || len(words)*8 > len(raw) {
			t.Errorf("%d words for %d x %d from %d bytes", len(words), rows, columns, len(raw))
		}
	})
}
