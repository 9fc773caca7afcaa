package sweep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

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
		if _, err := s.begin(fresh); err != nil {
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

// reopen begins on the results folder dir once more.
func reopen(t *testing.T, dir string, fresh bool) (*store, []string) {
	t.Helper()
	s, err := openStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	warnings, err := s.begin(fresh)
	if err != nil {
		t.Fatal(err)
	}
	return s, warnings
}

// committed is a results folder with one measured point.
func committed(t *testing.T) (dir string, s *store) {
	t.Helper()
	dir = t.TempDir()
	s, _ = reopen(t, dir, false)
	row := results.Row{"run_id": s.runID, "point_id": "p", "status": statusOK, "started_at": time.Now().UTC()}
	query := results.QueryRow{RunID: s.runID, PointID: "p", QueryID: "q", Metrics: map[string]float64{}}
	if err := s.commit(&cellPlan{id: "cell"}, []results.Row{row}, []results.QueryRow{query}); err != nil {
		t.Fatal(err)
	}
	return dir, s
}

func only(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// A --fresh that is killed between two moves is finished by the next run: nothing is lost, and no run id is used twice.
func TestKilledSupersedeIsFinished(t *testing.T) {
	dir, first := committed(t)
	to := filepath.Join(dir, "superseded", first.runID)
	if err := errors.Join(os.MkdirAll(to, 0o755), os.WriteFile(filepath.Join(dir, supersedingFile), []byte(first.runID+"\n"), 0o644),
		os.Rename(filepath.Join(dir, partsDir), filepath.Join(to, partsDir))); err != nil {
		t.Fatal(err)
	}
	second, _ := reopen(t, dir, false)
	if second.runID == first.runID || len(second.have) != 0 {
		t.Errorf("run %s goes on with %d rows", second.runID, len(second.have))
	}
	only(t, filepath.Join(to, partsDir, "*.parquet"))
	only(t, filepath.Join(to, queriesDir, "*.parquet"))
}

func TestDamagedPartCostsOnlyItself(t *testing.T) {
	for name, damage := range map[string]func(dir string) string{
		"cut":             func(dir string) string { return filepath.Join(dir, partsDir) },
		"without queries": func(dir string) string { return filepath.Join(dir, queriesDir) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, s := committed(t)
			other := results.Row{"run_id": s.runID, "point_id": "good", "status": statusFailed, "started_at": time.Now().UTC()}
			if err := s.commit(&cellPlan{id: "other"}, []results.Row{other}, nil); err != nil {
				t.Fatal(err)
			}
			path := only(t, filepath.Join(damage(dir), "cell-*.parquet"))
			if name == "cut" {
				if err := os.Truncate(path, 20); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			again, warnings := reopen(t, dir, false)
			if again.runID != s.runID || again.have["p"] != nil || again.have["good"] == nil || len(warnings) != 1 {
				t.Errorf("rows %v, warnings %q", again.have, warnings)
			}
			only(t, filepath.Join(dir, damagedDir, partsDir, "cell-*.parquet"))
		})
	}
}

func TestLostRunIDIsTakenFromTheRows(t *testing.T) {
	dir, first := committed(t)
	if err := os.Remove(filepath.Join(dir, runFile)); err != nil {
		t.Fatal(err)
	}
	if second, _ := reopen(t, dir, false); second.runID != first.runID || second.have["p"] == nil {
		t.Errorf("run %s became %s with %d rows", first.runID, second.runID, len(second.have))
	}
}

// A clock that was set back does not make a failure newer than a measurement.
func TestMeasuredRowOutlivesAFailureOfTheFuture(t *testing.T) {
	dir, s := committed(t)
	failed := results.Row{"run_id": s.runID, "point_id": "p", "status": statusFailed, "started_at": time.Now().UTC().Add(2 * time.Hour)}
	if err := s.commit(&cellPlan{id: "future"}, []results.Row{failed}, nil); err != nil {
		t.Fatal(err)
	}
	if again, _ := reopen(t, dir, false); again.have["p"]["status"] != statusOK {
		t.Errorf("the row is %v", again.have["p"])
	}
	if rows, err := results.ReadRows(t.Context(), dir); err != nil || len(rows) != 1 || rows[0]["status"] != statusOK {
		t.Errorf("read %v, %v", rows, err)
	}
}
