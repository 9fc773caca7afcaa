package truthfile

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"frontier/datasets"
	"frontier/results"

	"github.com/apache/arrow/go/v17/parquet/file"
)

// listed is neighbours in memory.
type listed struct {
	k         int
	ids       []int64
	distances []float64
	fail      error // after all rows
}

func (l listed) Queries() int { return len(l.ids) / l.k }
func (l listed) K() int       { return l.k }
func (l listed) Each(yield func([]int64, []float64) error) error {
	for at := 0; at < len(l.ids); at += l.k {
		if err := yield(l.ids[at:at+l.k], l.distances[at:at+l.k]); err != nil {
			return err
		}
	}
	return l.fail
}

// some is more than one row group of neighbours.
func some(queries, k int) listed {
	l := listed{k: k}
	for i := range queries * k {
		l.ids, l.distances = append(l.ids, int64(i*7919%1000003)), append(l.distances, float64(i)/3-1)
	}
	return l
}

func TestIDsReadBack(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []listed{some(1, 1), some(3, 5), some(700, 200)} {
		for _, ext := range Extensions() {
			path := filepath.Join(dir, "gt"+ext)
			if err := Check(path, n.Queries(), 1000003); err != nil {
				t.Fatal(err)
			}
			if err := Write(path, n, map[string]string{"about": "this"}); err != nil {
				t.Fatal(err)
			}
			read := datasets.ReadNeighbors
			if ext == ".parquet" {
				read = func(path string) (int, []int64, error) { return results.ReadNeighbors(context.Background(), path) }
			}
			k, ids, err := read(path)
			if err != nil || k != n.k || !slices.Equal(ids, n.ids) {
				t.Errorf("%s of %d x %d: read %d x %d, %v", ext, n.Queries(), n.k, len(ids)/max(k, 1), k, err)
			}
		}
	}
}

func TestDistancesReadBack(t *testing.T) {
	dir := t.TempDir()
	n := some(70, 20)
	for _, ext := range DistanceExtensions() {
		path := filepath.Join(dir, "gt"+ext)
		if err := errors.Join(CheckDistances(path), WriteDistances(path, n)); err != nil {
			t.Fatal(err)
		}
		r, err := datasets.OpenVectors(path)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, r.Dim())
		for q := range r.Len() {
			if err := r.Read(q, got); err != nil {
				t.Fatal(err)
			}
			for i, d := range got {
				if d != float32(n.distances[q*n.k+i]) {
					t.Fatalf("%s: query %d, rank %d: %v, want %v", ext, q, i+1, d, n.distances[q*n.k+i])
				}
			}
		}
		if r.Len() != n.Queries() || r.Dim() != n.k {
			t.Errorf("%s: %d x %d", ext, r.Len(), r.Dim())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestParquetKeepsDistancesAndMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gt.parquet")
	n := some(700, 200)
	if err := Write(path, n, map[string]string{"b": "2", "a": "1"}); err != nil {
		t.Fatal(err)
	}
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	meta := r.MetaData().KeyValueMetadata()
	for key, want := range map[string]string{"a": "1", "b": "2"} {
		if got := meta.FindValue(key); got == nil || *got != want {
			t.Errorf("the metadata %s is %v", key, got)
		}
	}
	if r.NumRows() != int64(len(n.ids)) || r.NumRowGroups() != 2 {
		t.Errorf("%d rows in %d groups", r.NumRows(), r.NumRowGroups())
	}
	var distances []float64
	for g := range r.NumRowGroups() {
		column, err := r.RowGroup(g).Column(3)
		if err != nil {
			t.Fatal(err)
		}
		values, levels := make([]float64, rowGroupRows), make([]int16, rowGroupRows)
		for column.HasNext() {
			_, read, err := column.(*file.Float64ColumnChunkReader).ReadBatch(rowGroupRows, values, levels, nil)
			if err != nil {
				t.Fatal(err)
			}
			distances = append(distances, values[:read]...)
		}
	}
	if !slices.Equal(distances, n.distances) {
		t.Error("the distances differ")
	}
}

func TestFaults(t *testing.T) {
	dir := t.TempDir()
	var fault *datasets.Error
	if err := Check(filepath.Join(dir, "gt.csv"), 1, 1); !errors.As(err, &fault) || !strings.Contains(err.Error(), ".parquet .ivecs .ibin .npy") {
		t.Errorf("csv: %v", err)
	}
	if err := CheckDistances(filepath.Join(dir, "d.ivecs")); !errors.As(err, &fault) || !strings.Contains(err.Error(), ".fvecs .fbin .npy") {
		t.Errorf("distances as ivecs: %v", err)
	}
	if err := Check("gt.ibin", 1, math.MaxInt32+2); err == nil || !strings.Contains(err.Error(), "write .parquet or .npy") {
		t.Errorf("ids of 33 bits: %v", err)
	}
	if err := Check("gt.npy", 1, math.MaxInt32+2); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	n := some(10, 10)
	n.fail = broken
	for _, ext := range Extensions() {
		if err := Write(filepath.Join(dir, "gt"+ext), n, nil); !errors.Is(err, broken) {
			t.Errorf("%s: %v", ext, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Files that were written by other tools may be wrong in their own ways.
func TestParquetThatIsNoTruth(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gt.parquet")
	for want, n := range map[string]listed{
		"ids count from 0": {k: 2, ids: []int64{1, -1}, distances: make([]float64, 2)},
		"0 rows":           {k: 2},
	} {
		if err := Write(path, n, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := results.ReadNeighbors(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestDistancesBeyondFloat32AreRefused(t *testing.T) {
	dir := t.TempDir()
	n := some(3, 2)
	n.distances[4] = -1e39
	for _, ext := range []string{".fbin", ".fvecs"} {
		path := filepath.Join(dir, "d"+ext)
		err := WriteDistances(path, n)
		if err == nil || !strings.Contains(err.Error(), "query 2: the distance -1e+39") || !strings.Contains(err.Error(), ".npy") {
			t.Errorf("%s: %v", ext, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if err := WriteDistances(filepath.Join(dir, "d.npy"), n); err != nil {
		t.Error(err)
	}
}
