package datasets

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"frontier/internal/testdata"

	"pgregory.net/rapid"
)

// A stream reads what the mapped reader reads, in runs of any length, whether or not what was read is dropped.
func TestVectorStreamReadsLikeTheMapping(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ext := rapid.SampledFrom(VectorExtensions()[:7]).Draw(rt, "format")
		dim := rapid.IntRange(1, 70).Draw(rt, "dim")
		rows := make([][]float32, rapid.IntRange(1, 40).Draw(rt, "rows"))
		for i := range rows {
			for range dim {
				rows[i] = append(rows[i], float32(rapid.IntRange(0, 127).Draw(rt, "value")))
			}
		}
		s, err := OpenVectorStream(writeVectors(t, "x"+ext, vectorBytes(t, ext, rows)))
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		if s.staging != nil { // so that it is used more than once
			s.staging = s.staging[:s.layout.stride()*rapid.IntRange(1, 3).Draw(rt, "staged")]
		}
		if rapid.Bool().Draw(rt, "drop") {
			if err := s.DropBehind(); err != nil {
				rt.Fatal(err)
			}
		}
		from := rapid.IntRange(0, len(rows)-1).Draw(rt, "from")
		to := rapid.IntRange(from, len(rows)).Draw(rt, "to")
		got := make([]float32, (to-from)*dim)
		if err := s.ReadRows(from, got); err != nil {
			rt.Fatal(err)
		}
		for i, row := range rows[from:to] {
			if !bytes.Equal(floatBytes(row), floatBytes(got[i*dim:(i+1)*dim])) {
				rt.Fatalf("row %d is %v, want %v", from+i, got[i*dim:(i+1)*dim], row)
			}
		}
		if s.ReadRows(len(rows), make([]float32, dim)) == nil || s.ReadRows(0, make([]float32, dim*(len(rows)+1))) == nil {
			rt.Fatal("rows that are not there were read")
		}
	})
}

func TestVectorStreamOfNpy(t *testing.T) {
	for _, name := range []string{"minilm778/base.npy", "minilm778/base.fbin"} {
		path := testdata.Path(t, name)
		s, err := OpenVectorStream(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := OpenVectors(path)
		if err != nil {
			t.Fatal(err)
		}
		got, want := make([]float32, s.Len()*s.Dim()), make([]float32, s.Dim())
		if err := s.ReadRows(0, got); err != nil {
			t.Fatal(err)
		}
		for i := range r.Len() {
			if err := r.Read(i, want); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(floatBytes(want), floatBytes(got[i*s.Dim():(i+1)*s.Dim()])) {
				t.Fatalf("%s: row %d differs", name, i)
			}
		}
		if err := errors.Join(s.Close(), r.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestVectorStreamFaults(t *testing.T) {
	raw := vectorBytes(t, ".fvecs", [][]float32{{1}, {2}, {3}})
	raw[8] = 9
	s, err := OpenVectorStream(writeVectors(t, "x.fvecs", raw))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.ReadRows(0, make([]float32, 3))
	if err == nil || !strings.Contains(err.Error(), "byte 8: row 1 (from 0) has the dimension 9, but row 0 has 1") {
		t.Errorf("a ragged row: %v", err)
	}

	path := writeVectors(t, "y.fbin", vectorBytes(t, ".fbin", [][]float32{{1, 2}, {3, 4}}))
	cut, err := OpenVectorStream(path)
	if err != nil {
		t.Fatal(err)
	}
	defer cut.Close()
	if err := os.Truncate(path, 20); err != nil {
		t.Fatal(err)
	}
	var fault *Error
	if err := cut.ReadRows(0, make([]float32, 4)); !errors.As(err, &fault) || fault.Offset != 20 {
		t.Errorf("a file that was cut short meanwhile: %v", err)
	}

	// The row's fault is found in the file, where float32 hides it.
	wide, err := OpenVectorStream(writeVectors(t, "z.npy", npyBytes("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", []float64{1, 1e300})))
	if err != nil {
		t.Fatal(err)
	}
	defer wide.Close()
	if err := wide.Check(0); !errors.As(err, &fault) || !strings.Contains(err.Error(), "too large for float32") {
		t.Errorf("a float64 beyond float32: %v", err)
	}
	if need := int64(len(wide.staging)); need > StreamBytes(2) {
		t.Errorf("a stream holds %d bytes and says %d", need, StreamBytes(2))
	}
}

func TestVectorFingerprint(t *testing.T) {
	values := make([]float32, 3*samplePieces*samplePiece/4)
	write := func() string { return writeVectors(t, "x.fbin", vectorBytes(t, ".fbin", [][]float32{values})) }
	fingerprint := func(path string) VectorFingerprint {
		s, err := OpenVectorStream(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		p, err := s.Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	path := write()
	first := fingerprint(path)
	if first.Rows != 1 || first.Dim != len(values) || first.Type != "float32" || first.Size != int64(8+4*len(values)) {
		t.Errorf("%+v", first)
	}
	copied := fingerprint(write())
	if copied.Digest != first.Digest || copied.Path == first.Path {
		t.Error("a copy has another digest, or the same path")
	}
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 5)); err != nil {
		t.Fatal(err)
	}
	if later := fingerprint(path); later.Modified != 1e9+5 || later.Digest != first.Digest {
		t.Errorf("%+v", later)
	}
	values[len(values)-1] = 1
	if fingerprint(write()).Digest == first.Digest {
		t.Error("the last value is not seen")
	}
	values[len(values)-1], values[0] = 0, 1
	if fingerprint(write()).Digest == first.Digest {
		t.Error("the first value is not seen")
	}
}
