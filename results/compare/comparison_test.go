package compare

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontier/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

// pairOfRuns are two runs of three points with 60 questions: one point got worse in one scenario, one is larger and
// faster, one failed.
func pairOfRuns(t *testing.T) (base, next *Side) {
	t.Helper()
	build := func(name string, worse bool) *Side {
		var rows []results.Row
		var queries []results.QueryRow
		for p, engine := range []string{"flat", "hnswlib", "bleve"} {
			row := results.Row{
				"run_id": name, "point_id": engine, "status": "ok", "engine": engine, "dataset": "corpus", "dataset_digest": "d", "machine_digest": "m", "k": int64(10), "engine_version": "1",
				"latency_p99_seconds": 0.001, "latency_p99_low_seconds": 0.00099, "latency_p99_high_seconds": 0.00101, "index_bytes": int64(1 << 20), "params": `{"index":{"M":8},"index_search":{"k1":1.2}}`,
			}
			if worse {
				row["engine_version"] = "2"
				switch engine {
				case "hnswlib":
					row["latency_p99_seconds"], row["latency_p99_low_seconds"], row["latency_p99_high_seconds"] = 0.0005, 0.000495, 0.000505
					row["index_bytes"], row["params"] = int64(2<<20), `{"index":{"M":16},"index_search":{"k1":1.2}}`
				case "bleve":
					row["status"], row["error"] = "crashed", "signal 11"
				}
			}
			recall := 0.0
			for q := range 60 {
				v := 0.0
				if (q+p)%3 > 0 {
					v = 1
				}
				if worse && engine == "flat" && q%2 == 0 {
					v = 0
				}
				recall += v / 60
				queries = append(queries, results.QueryRow{RunID: name, PointID: engine, QueryID: fmt.Sprintf("q%02d", q), Scenario: []string{"short", "long"}[q%2], Answerable: true, Metrics: map[string]float64{"recall_at_10": v}})
			}
			row["recall_at_10"] = recall
			rows = append(rows, row)
		}
		return New(name, rows, queries, nil)
	}
	return build("before", false), build("after", true)
}

func compared(t *testing.T, base, next *Side, r Request) *Comparison {
	t.Helper()
	m, err := Match(base, next, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(m, r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	base, next := pairOfRuns(t)
	c := compared(t, base, next, Request{Slices: []string{"scenario"}})
	got := map[string]Finding{}
	for _, l := range c.Lines {
		got[strings.TrimPrefix(l.Pair.Label, "engine=")+" "+l.Metric.Name+" "+l.Slice.String()] = l.Finding
	}
	want := map[string]Finding{
		"flat recall_at_10 ": Worse, "flat recall_at_10 scenario=short": Worse, "flat recall_at_10 scenario=long": Same,
		"flat latency_p99_seconds ": Unshown, "flat index_bytes ": Same, // of equal latencies, each within 1%
		"hnswlib recall_at_10 ": Same, "hnswlib recall_at_10 scenario=short": Same, "hnswlib recall_at_10 scenario=long": Same,
		"hnswlib latency_p99_seconds ": Better, "hnswlib index_bytes ": Worse,
	}
	for line, finding := range want {
		if got[line] != finding {
			t.Errorf("%s: %s, want %s", line, got[line], finding)
		}
	}
	if len(got) != len(want) || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "bleve failed in NEW: signal 11") {
		t.Errorf("lines %v, warnings %q", got, c.Warnings)
	}
	var residue []string
	for _, r := range c.Residue {
		residue = append(residue, string(r.Kind)+" "+r.String())
	}
	if strings.Join(residue, "; ") != "parameter params.index.M: 8 -> 16; environment engine_version: 1 -> 2 (2 points)" {
		t.Errorf("residue %q", residue)
	}
}

// Nothing is found between a run and itself, and nothing is judged across data or machines.
func TestCompareWhatCannotBe(t *testing.T) {
	base, next := pairOfRuns(t)
	for _, l := range compared(t, base, base, Request{}).Lines {
		want := Same
		if l.Metric.MachineBound() {
			want = Unshown // it varies, and what was measured is one figure with an interval
		}
		if l.Finding != want {
			t.Errorf("%s, %s against itself: %s", l.Pair.Label, l.Metric.Name, l.Finding)
		}
	}
	for i := range next.Points {
		next.Points[i].Row["machine_digest"], next.Points[i].Row["dataset_digest"] = "m2", "d2"
	}
	c := compared(t, base, next, Request{})
	for _, l := range c.Lines {
		switch {
		case l.Metric.Quality() && l.Finding != NotJudged, l.Metric.MachineBound() && l.Finding != Unshown:
			t.Errorf("%s, %s: %s", l.Pair.Label, l.Metric.Name, l.Finding)
		}
	}
	if text := strings.Join(c.Warnings, "\n"); !strings.Contains(text, "different machines") || !strings.Contains(text, "not judged alike") {
		t.Errorf("warnings %q", c.Warnings)
	}
}

// A point that failed was not measured on another machine, it was not measured.
func TestFailedPointsAreOfNoMachine(t *testing.T) {
	base, next := pairOfRuns(t)
	for i := range next.Points {
		if failed(next.Points[i].Row) {
			delete(next.Points[i].Row, "machine_digest")
			delete(next.Points[i].Row, "dataset_digest")
		}
	}
	if c := compared(t, base, next, Request{}); len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "bleve failed in NEW") {
		t.Errorf("warnings %q", c.Warnings)
	}
}

func TestCompareRefuses(t *testing.T) {
	base, next := pairOfRuns(t)
	m, err := Match(base, next, nil)
	if err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]Request{
		"did you mean":       {Metrics: []string{"recal_at_10"}},
		"no question has a":  {Slices: []string{"locale"}},
		"the values are":     {Slices: []string{"scenario=typo"}},
		"write field=value":  {Slices: []string{"=typo"}},
		"a confidence of 99": {Confidence: 99},
	} {
		if _, err := Compare(m, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestComparisonFormats(t *testing.T) {
	base, next := pairOfRuns(t)
	c := compared(t, base, next, Request{Slices: []string{"scenario"}})
	write := func(format string) string {
		t.Helper()
		var out strings.Builder
		if err := c.Write(&out, format, 3); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	golden(t, "compare.txt", write("table"))
	golden(t, "compare.md", write("markdown"))
	lines, err := csv.NewReader(strings.NewReader(write("csv"))).ReadAll()
	if err != nil || len(lines) != len(c.Lines)+1 {
		t.Errorf("csv: %d lines, %v", len(lines), err)
	}
	var v struct {
		Differences []struct {
			Metric, Finding string
			Won, Lost       []string
		}
		Residue []struct{ Base, New string }
	}
	if err := json.Unmarshal([]byte(write("json")), &v); err != nil || len(v.Differences) != len(c.Lines) || len(v.Differences[0].Lost) != 20 || v.Residue[0].New != "16" {
		t.Errorf("json: %v, %+v", err, v)
	}
	if err := c.Write(&strings.Builder{}, "yaml", 0); err == nil {
		t.Error("an unknown format is written")
	}
}

func TestCard(t *testing.T) {
	base, next := pairOfRuns(t)
	next.Sources = []results.Source{{Manifest: &results.Manifest{Name: "m16", Hypothesis: "M = 16 is faster\nat equal recall"}}}
	c := compared(t, base, next, Request{})
	var out strings.Builder
	if err := c.WriteCard(&out, "**Adopt**: the gate passed.", 5); err != nil {
		t.Fatal(err)
	}
	golden(t, "card.md", out.String())
	out.Reset()
	next.Sources = nil
	if err := c.WriteCard(&out, "", 5); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# Experiment: after", "None was stated", `Shown to be better: latency\_p99\_seconds at 1 of 2 points. Shown to be worse: index\_bytes at 1 of 2 points, recall\_at\_10 at 1 of 2 points. No policy was given`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not current; if that is meant, go test -update ./results/compare. Now:\n%s", path, got)
	}
}

func TestMatchLabelsAndAmbiguity(t *testing.T) {
	rows := func(params ...string) []results.Row {
		var out []results.Row
		for i, p := range params {
			out = append(out, results.Row{"run_id": "r", "point_id": fmt.Sprint(i), "status": "ok", "engine": "bleve", "params": p})
		}
		return out
	}
	side := New("s", rows(`{"k1":1}`, `{"k1":2}`), nil, nil)
	m, err := Match(side, side, nil)
	if err != nil || len(m.Pairs) != 2 || m.Pairs[0].Label != `engine=bleve params={"k1":1}` {
		t.Errorf("points that only params tells apart: %v, %+v", err, m)
	}
	twice := New("twice", rows(`{"k1":1}`, `{"k1":1}`), nil, nil)
	if _, err := Match(side, twice, nil); err == nil || !strings.Contains(err.Error(), "no column tells them apart; name one run") {
		t.Errorf("error %v", err)
	}
	if _, err := Match(side, side, []string{"engine"}); err == nil || !strings.Contains(err.Error(), `what tells them apart: params ({"k1":1}, {"k1":2}). Add it to match`) {
		t.Errorf("error %v", err)
	}
	if _, err := Match(side, side, []string{"engin"}); err == nil || !strings.Contains(err.Error(), `did you mean "engine"?`) {
		t.Errorf("error %v", err)
	}
}

// The rate that was found for an slo differs from run to run; the point is the same.
func TestMatchUnderAnSLO(t *testing.T) {
	run := func(name string, rate any) *Side {
		row := results.Row{"run_id": name, "point_id": "p", "status": "ok", "engine": "flat", "load_mode": "slo", "slo": "p99 <= 20ms", "qps": 800.0}
		if rate != nil {
			row["target_qps"] = rate
		}
		return New(name, []results.Row{row}, nil, nil)
	}
	for _, rate := range []any{812.5, nil} {
		m, err := Match(run("base", 900.0), run("new", rate), nil)
		if err != nil || len(m.Pairs) != 1 || m.Pairs[0].Base == nil || m.Pairs[0].New == nil || len(m.Residue()) != 0 {
			t.Errorf("%v: %v, %+v", rate, err, m)
		}
	}
	open := func(name string, rate float64) *Side {
		return New(name, []results.Row{{"run_id": name, "point_id": "p", "status": "ok", "engine": "flat", "load_mode": "open", "target_qps": rate}}, nil, nil)
	}
	if m, err := Match(open("base", 100), open("new", 200), nil); err != nil || len(m.Pairs) != 2 {
		t.Errorf("open loops at two rates: %v, %+v", err, m)
	}
}

// A condition that no point meets is told; it leaves nothing to name points by.
func TestMatchOfNoPoints(t *testing.T) {
	base, next := pairOfRuns(t)
	for _, s := range []*Side{base, next} {
		if err := s.Where(func(r results.Row) (bool, error) { return r["engine"] == "faiss", nil }); err != nil {
			t.Fatal(err)
		}
	}
	for _, columns := range [][]string{nil, {"engine"}} {
		if _, err := Match(base, next, columns); err == nil || !strings.Contains(err.Error(), "no point left to compare") {
			t.Errorf("by %v: error %v", columns, err)
		}
	}
	whole, _ := pairOfRuns(t)
	m, err := Match(whole, next, nil)
	if err != nil || len(m.Pairs) != 3 {
		t.Errorf("one side without points: %v, %+v", err, m)
	}
}
