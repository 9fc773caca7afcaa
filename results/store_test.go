package results

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Every column has a document, a group and a unit that can be printed; names are distinct and follow the rule that the
// unit is in the name.
func TestColumnsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Columns() {
		if seen[c.Name] || c.Doc == "" || !strings.HasSuffix(c.Doc, ".") || c.Group == "" {
			t.Errorf("column %+v is there twice, or without group or document", c)
		}
		seen[c.Name] = true
		if seconds := strings.HasSuffix(c.Name, "_seconds"); seconds != (c.Unit == "seconds") {
			t.Errorf("column %s has unit %q", c.Name, c.Unit)
		}
		if size := strings.HasSuffix(c.Name, "_bytes"); size != (c.Unit == "bytes") {
			t.Errorf("column %s has unit %q", c.Name, c.Unit)
		}
		if usd := strings.Contains(c.Name, "_usd"); usd != (c.Unit == "usd") {
			t.Errorf("column %s has unit %q", c.Name, c.Unit)
		}
		if c.Better != None && c.Type != Int && c.Type != Float && c.Type != FloatMap {
			t.Errorf("column %s of %s has a direction", c.Name, c.Type)
		}
		name := withCutoff(c.Name, 7)
		if got, ok := Lookup(name); !ok || got.Name != c.Name {
			t.Errorf("Lookup(%q) = %v, %v", name, got, ok)
		}
	}
}

// Each interval belongs to a column, and each quality metric has one.
func TestIntervalsBelongToColumns(t *testing.T) {
	for _, c := range Columns() {
		low, high := IntervalColumns(withCutoff(c.Name, 5))
		if c.Group == "quality" && c.Better == Higher {
			if c.Name != "mrr" && c.Name != "map" {
				low, high = withCutoff(c.Name, 5)+"_low", withCutoff(c.Name, 5)+"_high"
			}
			for _, name := range []string{low, high} {
				if _, ok := Lookup(name); !ok {
					t.Errorf("%s has no interval: %s is unknown", c.Name, name)
				}
			}
		}
	}
	r := Row{"qps": 5.0, "qps_low": 4.0, "qps_high": 6.0, "latency_p99_low_seconds": 1.0, "latency_p99_high_seconds": 2.0, "mrr_low": 0.5}
	for column, want := range map[string][3]float64{"qps": {4, 6, 1}, "latency_p99_seconds": {1, 2, 1}, "mrr": {0, 0, 0}, "engine": {0, 0, 0}} {
		low, high, ok := r.Interval(column)
		if ok != (want[2] == 1) || (ok && (low != want[0] || high != want[1])) {
			t.Errorf("Interval(%s) = %v, %v, %v", column, low, high, ok)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"recal_at_10": "recall_at_10", "ndgc_at_5": "ndcg_at_5", "recall_at_K": "recall_at_10", "latency_p99": "latency_p99_seconds",
		"index": "index_bytes", "nothing_like_it_at_all": "",
	} {
		if got := Nearest(name); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestQueriesRoundTrip(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []QueryRow{
		{
			RunID: "r", PointID: "p", CellID: "c", QueryID: "q1", Scenario: "typo", Difficulty: "easy", Split: "release", Tags: []string{"smoke", "de"}, Fields: map[string]string{"locale": "de", "depth": "2"}, Answerable: true, LatencySeconds: 0.25, Depth: 50,
			IDs: []string{"net/http#0-120", "os#5-9"}, Scores: []float32{1.5, -2}, Documents: []string{"net/http", "os"}, LossStages: []string{"found", "embedding"},
			Metrics: map[string]float64{"recall_at_10": 1, "recall_at_1": 0.5, "ndcg_at_10": 0.75, "ann_recall_at_10": 1, "mrr": 1, "judged_at_10": 0.2},
		},
		{RunID: "r", PointID: "p", QueryID: "q2", Error: "timed out after 5s", LatencySeconds: 5, IDs: []string{}, Scores: []float32{}, Metrics: map[string]float64{"recall_at_10": 0}},
		{RunID: "r", PointID: "p", QueryID: "q3", LatencySeconds: math.NaN(), IDs: []string{"7"}, Scores: []float32{float32(math.Inf(-1))}},
	}
	if err := WriteQueries(filepath.Join(dir, "queries", "a.parquet"), want[:2]); err != nil {
		t.Fatal(err)
	}
	if err := WriteQueries(filepath.Join(dir, "queries", "b.parquet"), want[2:]); err != nil {
		t.Fatal(err)
	}
	got, err := ReadQueries(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 3 && math.IsNaN(got[2].LatencySeconds) {
		got[2].LatencySeconds, want[2].LatencySeconds = 0, 0 // NaN equals nothing
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, want %+v", got, want)
	}
}

// Without the answers, rows say what kind each query is and have the metrics that were asked for.
func TestReadQueryMetrics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.parquet")
	whole := QueryRow{
		RunID: "r", PointID: "p", CellID: "c", QueryID: "q1", Scenario: "typo", Difficulty: "easy", Split: "release", Tags: []string{"smoke"}, Fields: map[string]string{"locale": "de"}, Answerable: true,
		LatencySeconds: 0.25, Depth: 50, IDs: []string{"os#5-9"}, Scores: []float32{1.5}, Documents: []string{"os"}, LossStages: []string{"found"}, Error: "slow", Metrics: map[string]float64{"recall_at_10": 1, "mrr": 0.5},
	}
	if err := WriteQueries(path, []QueryRow{whole}); err != nil {
		t.Fatal(err)
	}
	want := whole
	want.LatencySeconds, want.Depth, want.IDs, want.Scores, want.Documents, want.LossStages, want.Error = 0, 0, nil, nil, nil, nil, ""
	for _, metrics := range [][]string{nil, {"mrr"}} {
		if metrics != nil {
			want.Metrics = map[string]float64{"mrr": 0.5}
		}
		got, err := ReadQueryMetrics(context.Background(), metrics, path)
		if err != nil || len(got) != 1 || !math.IsNaN(got[0].LatencySeconds) {
			t.Fatalf("%v: %+v, %v", metrics, got, err)
		}
		if got[0].LatencySeconds = 0; !reflect.DeepEqual(got[0], want) {
			t.Errorf("%v: %+v, want %+v", metrics, got[0], want)
		}
	}
}

// Metrics stand in the order of results.parquet: neighbours for one k before the next k.
func TestMetricsInOrder(t *testing.T) {
	want := []string{"ann_recall_at_1", "recall_at_1", "ndcg_at_1", "ann_recall_at_10", "recall_at_10", "mrr", "span_recall_at_1", "recall_at_budget", "loss_ann"}
	names := map[string]bool{}
	for _, name := range want {
		names[name] = true
	}
	var got []string
	for _, f := range newCatalogue().inOrder(names) {
		got = append(got, f.name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWriteQueriesRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.parquet")
	for want, row := range map[string]QueryRow{
		"1 ids with 0 scores":            {IDs: []string{"a"}},
		`"qps" is not a metric`:          {Metrics: map[string]float64{"qps": 1}},
		`"recall_at_10_low" is not a`:    {Metrics: map[string]float64{"recall_at_10_low": 1}},
		`did you mean "recall_at_10"?`:   {Metrics: map[string]float64{"recal_at_10": 1}},
		"recall_at_10: the value is NaN": {Metrics: map[string]float64{"recall_at_10": math.NaN()}},
		"score 0 is NaN":                 {IDs: []string{"a"}, Scores: []float32{float32(math.NaN())}},
		"not valid UTF-8":                {Error: "\xff"},
		`field "locale": the text`:       {Fields: map[string]string{"locale": "\xff"}},
		"a field has no name":            {Fields: map[string]string{"": "x"}},
	} {
		row.PointID, row.QueryID = "p", "q"
		if err := WriteQueries(path, []QueryRow{row}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `query "q"`) {
			t.Errorf("%+v: error %v, want one with %q", row, err, want)
		}
	}
	if err := WriteQueries(path, []QueryRow{{PointID: "p"}}); err == nil || !strings.Contains(err.Error(), "needs a point and a query id") {
		t.Errorf("a row without a query: %v", err)
	}
}

func TestManifestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadManifest(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no manifest: %v", err)
	}
	_, want := sampleText()
	if err := WriteManifest(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadManifest(dir)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, %v; want %+v", got, err, want)
	}
	for text, want := range map[string]string{
		`{"version": 1,}`:  "byte offset",
		`{"version": 2}`:   "it is of version 2, this frontier reads 1",
		`{"version": "1"}`: ManifestFile,
		``:                 ManifestFile,
	} {
		if err := os.WriteFile(filepath.Join(dir, ManifestFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadManifest(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	// Writing again replaces what was there and leaves nothing beside it.
	if err := WriteManifest(dir, want); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	if err := WriteManifest(filepath.Join(dir, "none"), want); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
