package results

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// slicedRun is three points over 40 questions of two kinds: a finds all, b half of the hard ones and all others, c misses
// one easy question.
func slicedRun(t *testing.T) (rows []Row, queries []QueryRow) {
	t.Helper()
	for i, name := range []string{"a", "b", "c"} {
		sum := 0.0
		for q := range 40 {
			one := QueryRow{RunID: "run", PointID: name, CellID: "cell" + name, QueryID: fmt.Sprint(q), Scenario: "easy", Answerable: true}
			v := 1.0
			if q%2 == 0 {
				one.Scenario = "hard"
				if name == "b" && q%4 == 0 {
					v = 0
				}
			} else if name == "c" && q == 1 {
				v = 0
			}
			one.Metrics = map[string]float64{"recall_at_10": v}
			sum += v
			queries = append(queries, one)
		}
		rows = append(rows, Row{
			"run_id": "run", "point_id": name, "cell_id": "cell" + name, "status": "ok", "engine": "flat", "dataset": "d",
			"recall_at_10": sum / 40, "latency_p99_seconds": 0.01 / float64(i+1),
		})
	}
	return rows, queries
}

func TestSliceTable(t *testing.T) {
	rows, queries := slicedRun(t)
	table := newSliceTable(rows, queries, "recall_at_10")
	if table == nil || len(table.Sheet.Rows) != 3 {
		t.Fatalf("%+v", table)
	}
	for i, want := range [][]string{
		{"all", "40", "1.000 [0.912–1.000] best", "0.750 [", "0.975 ["},
		{"scenario=easy", "20", "1.000 [0.839–1.000] best", "1.000 [0.839–1.000] ≈", "0.950 ["},
		{"scenario=hard", "20", "1.000 [0.839–1.000] best", "0.500 [", "1.000 [0.839–1.000] ≈"},
	} {
		for j, cell := range table.Sheet.Rows[i] {
			if !strings.HasPrefix(cell, want[j]) {
				t.Errorf("row %d, column %d is %q, want %q", i, j, cell, want[j])
			}
		}
	}
	// b is worse on the hard questions and overall; what c missed is one question.
	for _, c := range []struct {
		row, column int
		same        bool
	}{{0, 3, false}, {2, 3, false}, {0, 4, true}, {1, 4, true}} {
		if cell := table.Sheet.Rows[c.row][c.column]; strings.HasSuffix(cell, "≈") != c.same {
			t.Errorf("row %d, column %d is %q", c.row, c.column, cell)
		}
	}
	for i := range queries {
		queries[i].Scenario = "one"
	}
	if table := newSliceTable(rows, queries, "recall_at_10"); table != nil {
		t.Errorf("questions of one kind have a table of %d rows", len(table.Sheet.Rows))
	}
}

func TestReportShowsSlices(t *testing.T) {
	rows, queries := slicedRun(t)
	dir := t.TempDir()
	for _, cell := range []string{"cella", "cellb", "cellc"} {
		var mine []QueryRow
		for _, q := range queries {
			if q.CellID == cell {
				mine = append(mine, q)
			}
		}
		if err := WriteQueries(filepath.Join(dir, cell+"-1.parquet"), mine); err != nil {
			t.Fatal(err)
		}
	}
	sources := []Source{{Manifest: &Manifest{RunID: "run"}, Queries: dir}}
	var b bytes.Buffer
	if err := ReportRuns(&b, rows, sources, objectives(t, "recall_at_10", "latency_p99_seconds")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"By kind of question", "scenario=hard", "P2: flat"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
}

func TestReportNamesTheSubset(t *testing.T) {
	run := describeManifest(Source{Manifest: &Manifest{Subset: &Subset{Rule: "split: dev", Cases: 30, Of: 50}}})
	for _, f := range run.Facts {
		if f.Name == "Subset" && strings.HasPrefix(f.Value, "split: dev: 30 of 50 questions.") {
			return
		}
	}
	t.Errorf("the facts are %v", run.Facts)
}

// Of one figure there is one interval: that of all questions is the row's.
func TestSliceOfAllHasTheIntervalOfTheRow(t *testing.T) {
	rows, queries := slicedRun(t)
	rows[1]["recall_at_10_low"], rows[1]["recall_at_10_high"] = 0.6, 0.9
	if cell := newSliceTable(rows, queries, "recall_at_10").Sheet.Rows[0][3]; !strings.HasPrefix(cell, "0.750 [0.600–0.900]") {
		t.Errorf("the cell is %q", cell)
	}
}

// What a run and its points warn of alike is one warning, and a point that repeats it is one point.
func TestWarningsAreListedOnce(t *testing.T) {
	rows := []Row{{"warnings": []string{"doubles", "doubles"}}, {"warnings": []string{"doubles"}}}
	got := warningsOf(rows, []Source{{Manifest: &Manifest{Warnings: []string{"doubles", "of the run"}}}})
	if want := []warning{{Text: "of the run"}, {"doubles", 2}}; !slices.Equal(got, want) {
		t.Errorf("warnings %+v, want %+v", got, want)
	}
}
