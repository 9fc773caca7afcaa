package datasets

import (
	"os"
	"path/filepath"
	"testing"
)

// fuzzVectors feeds arbitrary bytes to one format. Whatever opens must hold as many values as it says, and be read or
// refused row by row without a crash.
func fuzzVectors(f *testing.F, ext string) {
	rows := [][]float32{{1, 2, 3}, {4, 5, 6}}
	if ext == ".npy" {
		f.Add(npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", []float32{1, 2, 3, 4, 5, 6}))
		f.Add(npyBytes("{'descr': [('a', '<i8')], 'fortran_order': True, 'shape': (2L,), }", []int64{1, 2}))
	} else {
		raw := vectorBytes(f, ext, rows)
		f.Add(raw)
		f.Add(raw[:len(raw)-1])
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := openBytes("fuzz"+ext, raw)
		if err != nil {
			return
		}
		if r.Len() < 1 || r.Dim() < 1 || r.Len() > len(raw) || r.Dim() > len(raw) || r.Len()*r.Dim() > len(raw) {
			t.Fatalf("%d bytes were read as %d x %d", len(raw), r.Len(), r.Dim())
		}
		dst := make([]float32, r.Dim())
		for i := range r.Len() {
			if r.Read(i, dst) == nil && notFinite(dst) >= 0 {
				t.Fatalf("row %d is not finite", i)
			}
		}
	})
}

func FuzzFvecs(f *testing.F) { fuzzVectors(f, ".fvecs") }
func FuzzBvecs(f *testing.F) { fuzzVectors(f, ".bvecs") }
func FuzzIvecs(f *testing.F) { fuzzVectors(f, ".ivecs") }
func FuzzFbin(f *testing.F)  { fuzzVectors(f, ".fbin") }
func FuzzU8bin(f *testing.F) { fuzzVectors(f, ".u8bin") }
func FuzzI8bin(f *testing.F) { fuzzVectors(f, ".i8bin") }
func FuzzIbin(f *testing.F)  { fuzzVectors(f, ".ibin") }
func FuzzNpy(f *testing.F)   { fuzzVectors(f, ".npy") }

func FuzzNeighbors(f *testing.F) {
	rows := [][]float32{{5, 0, 7}, {1, 2, -1}}
	for kind, ext := range []string{".ivecs", ".ibin"} {
		f.Add(uint8(kind), vectorBytes(f, ext, rows))
	}
	f.Add(uint8(2), npyBytes("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 1), }", []int64{3, -1}))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, kind uint8, raw []byte) {
		path := filepath.Join(dir, "fuzz"+[]string{".ivecs", ".ibin", ".npy"}[kind%3])
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		k, ids, err := ReadNeighbors(path)
		if err != nil {
			return
		}
		if k < 1 || len(ids) < k || len(ids)%k != 0 || len(ids) > len(raw) {
			t.Fatalf("%d bytes gave k %d and %d ids", len(raw), k, len(ids))
		}
	})
}
