package datasets

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"frontier/internal/testdata"
	"frontier/internal/vector"
	"pgregory.net/rapid"
)

// memoryVectors is a reader that checks nothing itself.
type memoryVectors [][]float32

func (m memoryVectors) Len() int                        { return len(m) }
func (m memoryVectors) Dim() int                        { return len(m[0]) }
func (m memoryVectors) Close() error                    { return nil }
func (m memoryVectors) Read(i int, dst []float32) error { copy(dst, m[i]); return nil }

func importInto(t testing.TB, dim int, r VectorReader) (Audit, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.fbin")
	w, err := vector.CreateFbin(path, dim)
	if err != nil {
		t.Fatal(err)
	}
	audit, err := Import(context.Background(), r, w)
	if closed := w.Close(); closed != nil {
		t.Fatal(closed)
	}
	return audit, path, err
}

func TestImportKeepsRows(t *testing.T) {
	r, err := OpenVectors(testdata.Path(t, "sift5k/base.fvecs"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	audit, path, err := importInto(t, r.Dim(), r)
	if err != nil {
		t.Fatal(err)
	}
	m, err := vector.OpenFbin(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	row := make([]float32, r.Dim())
	distinct := map[string]bool{}
	for i := range r.Len() {
		if err := r.Read(i, row); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(row, m.Row(i)) {
			t.Fatalf("row %d differs", i)
		}
		distinct[string(floatBytes(row))] = true
	}
	if audit.Rows != 4900 || audit.Zero != 0 || audit.Duplicates != 4900-len(distinct) || len(audit.Counting) != 0 {
		t.Errorf("%+v with %d distinct rows", audit, len(distinct))
	}
}

func TestImportCounts(t *testing.T) {
	minusZero := float32(math.Copysign(0, -1))
	audit, _, err := importInto(t, 2, memoryVectors{{1, 2}, {0, 0}, {1, 2}, {minusZero, 0}, {3, 4}, {1, 2}})
	if err != nil || audit.Rows != 6 || audit.Zero != 2 || audit.Duplicates != 3 {
		t.Errorf("%+v, %v", audit, err)
	}
}

func TestImportCountsLikeAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := make(memoryVectors, rapid.IntRange(1, 60).Draw(rt, "rows"))
		distinct := map[[2]float32]bool{}
		zero := 0
		for i := range rows {
			row := [2]float32{float32(rapid.IntRange(0, 3).Draw(rt, "a")), float32(rapid.IntRange(0, 3).Draw(rt, "b"))}
			rows[i] = row[:]
			distinct[row] = true
			if row == [2]float32{} {
				zero++
			}
		}
		audit, _, err := importInto(t, 2, rows)
		if err != nil || audit.Zero != zero || audit.Duplicates != len(rows)-len(distinct) {
			rt.Fatalf("%+v, %v; want %d zero, %d duplicates", audit, err, zero, len(rows)-len(distinct))
		}
	})
}

func TestImportSeesIdsBesideVectors(t *testing.T) {
	rows := make(memoryVectors, 20)
	for i := range rows {
		rows[i] = []float32{float32(i * i), 5, float32(i + 1)}
	}
	if audit, _, err := importInto(t, 3, rows); err != nil || !slices.Equal(audit.Counting, []int{2}) {
		t.Errorf("%+v, %v", audit, err)
	}
	if audit, _, err := importInto(t, 3, rows[:countingRows-1]); err != nil || audit.Counting != nil {
		t.Errorf("few rows: %+v, %v", audit, err)
	}
}

func TestImportFaults(t *testing.T) {
	_, _, err := importInto(t, 2, memoryVectors{{1, 2}, {3, float32(math.NaN())}})
	if err == nil || !strings.Contains(err.Error(), "row 1, column 1 (from 0) is NaN") {
		t.Errorf("NaN: %v", err)
	}
	if _, _, err := importInto(t, 2, memoryVectors{{1, 2, 3, 4}}); err == nil || !strings.Contains(err.Error(), "another dimension") {
		t.Errorf("a writer of half the dimension: %v", err)
	}
	if _, _, err := importInto(t, 3, memoryVectors{{1, 2}}); err == nil {
		t.Error("a writer of another dimension took the row")
	}
	w, err := vector.CreateFbin(filepath.Join(t.TempDir(), "out.fbin"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if _, err := Import(ctx, memoryVectors{{1}}, w); !errors.Is(err, cause) {
		t.Errorf("cancelled: %v", err)
	}
}

func BenchmarkImport(b *testing.B) {
	s := Synthetic{N: 2000, Dim: 128, Clusters: 10, Queries: 1, Spread: 0.3, Seed: 1}
	base := s.Base()
	rows := make(memoryVectors, s.N)
	for i := range rows {
		rows[i] = make([]float32, s.Dim)
		if err := base.Read(i, rows[i]); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(s.N * s.Dim * 4))
	for b.Loop() {
		w, err := vector.CreateFbin(filepath.Join(b.TempDir(), "out.fbin"), s.Dim)
		if err != nil {
			b.Fatal(err)
		}
		audit, err := Import(context.Background(), rows, w)
		if err != nil || audit.Rows != s.N || audit.Duplicates != 0 {
			b.Fatal(audit, err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
