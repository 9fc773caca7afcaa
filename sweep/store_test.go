package sweep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"frontier/results"
)

// What a killed run left unfinished is cleared away, and nothing else.
func TestStoreSweepsUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "with [brackets]*")
	begin := func(fresh bool) *store {
		t.Helper()
		s, err := openStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if err := s.begin(fresh); err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := begin(false)
	c := &cellPlan{id: "cell"}
	row := results.Row{"run_id": first.runID, "point_id": "p", "status": statusOK}
	query := results.QueryRow{RunID: first.runID, PointID: "p", QueryID: "q", Metrics: map[string]float64{}}
	if err := first.commit(c, []results.Row{row}, []results.QueryRow{query}); err != nil {
		t.Fatal(err)
	}
	left := []string{"queries/other.parquet", "queries/.a.parquet.1.tmp", "parts/.a.parquet.1.tmp", ".report.html.1.tmp", ".answers-1/p.arrow"}
	for _, name := range left {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("half"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	second := begin(false)
	for _, name := range left {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there", name)
		}
	}
	if second.runID != first.runID || second.have["p"] == nil {
		t.Errorf("run %s became %s, with %d rows", first.runID, second.runID, len(second.have))
	}
	if queries, err := results.ReadQueries(t.Context(), dir); err != nil || len(queries) != 1 {
		t.Errorf("%d query rows, %v", len(queries), err)
	}
}

// A --fresh that was killed after it had moved old results away can be begun again, and loses none of them.
func TestSupersedeTwice(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		if err := os.MkdirAll(filepath.Join(dir, partsDir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, partsDir, fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := (&store{dir: dir}).supersede("run"); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := filepath.Glob(filepath.Join(dir, "superseded", "run*", partsDir, "?")); err != nil || len(kept) != 2 {
		t.Errorf("kept %v, %v", kept, err)
	}
}
