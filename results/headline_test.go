package results

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	for want, r := range map[string]Row{
		"hnswlib M=16 ef_search=64": {"engine": "hnswlib", "m": int64(16), "ef_construction": int64(100), "ef_search": int64(64)},
		"faiss IVF36,Flat nprobe=4, lsa dim=128, recursive size=512 overlap=102 tokens": {
			"engine": "faiss", "nlist": int64(36), "nprobe": int64(4), "embedder": "lsa", "dim": int64(128), "chunker": "recursive",
			"chunk_size": int64(512), "chunk_overlap": int64(102), "chunk_unit": "tokens", "concurrency": int64(1),
			"params": `{"chunker":{"size":512},"index":{"factory":"IVF36,Flat"},"index_search":{"nprobe":4}}`,
		},
		"hybrid of bleve and hnswlib M=16 ef_search=64 rrf=60, documents uncut, 4 clients": {
			"engine": "hybrid", "m": int64(16), "ef_search": int64(64), "fusion": "rrf", "fusion_param": 60.0, "chunker": "none", "concurrency": int64(4),
			"params": `{"fusion":{"rrf":60},"index_1_bleve":{"k1":1.2},"index_1_bleve_search":{},"index_2_hnswlib":{"M":16},"index_2_hnswlib_search":{"ef_search":64}}`,
		},
		"hybrid of bleve and faiss IVF4,Flat": {"engine": "hybrid", "params": `{"index_1_bleve":{},"index_2_faiss":{"factory":"IVF4,Flat"}}`},
		"flat, 200 arrivals a second":         {"engine": "flat", "params": "not JSON", "target_qps": 200.0},
		"flat, slo p99 <= 20ms":               {"engine": "flat", "load_mode": "slo", "slo": "p99 <= 20ms", "target_qps": 812.5},
	} {
		if got := Describe(r); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestHeadlines(t *testing.T) {
	point := func(id string, recall, cost float64) Row {
		return Row{"point_id": id, "status": "ok", "engine": id, "recall_at_10": recall, "cost_usd_per_month": cost}
	}
	crashed := Row{"point_id": "x", "status": "crashed"}
	for _, tt := range []struct {
		name string
		rows []Row
		want []string
	}{
		{"all equal in one", []Row{point("a", 0.9, 146), point("b", 0.9, 146), point("c", 0.5, 146), crashed}, []string{
			"Best recall@10: 0.900 by a; at cost per month 146.00 USD.",
			"All 3 points have the same cost per month, 146.00 USD: this objective decides nothing.",
		}},
		{"a trade-off", []Row{point("a", 0.9, 146), point("b", 0.5, 73)}, []string{
			"Best recall@10: 0.900 by a; at cost per month 146.00 USD.",
			"Best cost per month: 73.00 USD by b; at recall@10 0.500.",
		}},
		{"one is best in all", []Row{point("a", 0.9, 73), point("b", 0.5, 146)}, []string{
			"No point is better in any objective than a, with recall@10 0.900, cost per month 73.00 USD.",
		}},
		{"a single row", []Row{point("a", 0.9, 73), crashed}, []string{
			"No point is better in any objective than a, with recall@10 0.900, cost per month 73.00 USD.",
		}},
	} {
		objs := objectives(t, "recall_at_10", "cost_usd_per_month")
		front, err := Group{Rows: tt.rows}.Frontier(objs)
		if err != nil {
			t.Fatal(err)
		}
		if got := headlines(tt.rows, front, objs); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s: got\n%s", tt.name, strings.Join(got, "\n"))
		}
	}
}

// A manifest that lists failures hides none of the runs that it does not describe.
func TestFailuresOfSeveralRuns(t *testing.T) {
	crashed := func(run, cell string) Row {
		return Row{"run_id": run, "cell_id": cell, "point_id": cell, "status": "crashed", "error": "signal 11"}
	}
	rows := []Row{crashed("a", "c1"), crashed("b", "c2"), crashed("b", "c2"), {"run_id": "b", "status": "ok"}}
	listed := Failure{CellID: "c1", Status: "crashed", Error: "signal 11", Points: 4}
	sources := []Source{{Manifest: &Manifest{RunID: "a", Failures: []Failure{listed}}}, {Manifest: &Manifest{RunID: "b"}}}
	want := []Failure{listed, {CellID: "c2", Status: "crashed", Error: "signal 11", Points: 2}}
	if got := failuresOf(rows, sources); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := failuresOf([]Row{crashed("", "c1")}, sources[:1]); !slices.Equal(got, want[:1]) {
		t.Errorf("rows without a run: %+v", got)
	}
}

// What most points suffer from is said once, with how many; what few do stays a footnote.
func TestCommonWarnings(t *testing.T) {
	rows, m := sampleText()
	const all, few = "stop other processes", "this index is odd"
	measured := 0
	for i, r := range rows {
		if delete(r, "warnings"); r["status"] == "ok" && i != 0 {
			measured++
			r["warnings"] = []string{all, all}
		}
	}
	rows[5]["warnings"] = []string{few, all}
	common := CommonWarnings(rows)
	if len(common) != 1 || common[0] != (CommonWarning{all, measured, measured + 1}) {
		t.Fatalf("got %+v", common)
	}
	for i, r := range withoutWarnings(rows, common) {
		want := any(nil)
		if i == 5 {
			if list, _ := r["warnings"].([]string); len(list) != 1 || list[0] != few {
				t.Errorf("row 5 warns %v", r["warnings"])
			}
		} else if r["warnings"] != want {
			t.Errorf("row %d still warns %v", i, r["warnings"])
		}
	}
	if list, _ := rows[5]["warnings"].([]string); len(list) != 2 {
		t.Error("the rows themselves were changed")
	}
	var b bytes.Buffer
	if err := reportOf(&b, rows, m, objectives(t, "recall_at_10", "latency_p99_seconds")); err != nil {
		t.Fatal(err)
	}
	// Once above the tables, and once in the list of all warnings.
	if n := strings.Count(b.String(), all); n != 2 {
		t.Errorf("the common warning is there %d times, want 2", n)
	}
	if CommonWarnings(rows[1:2]) != nil || CommonWarnings(nil) != nil {
		t.Error("one row has nothing in common")
	}
}

func TestMachineValue(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"governor", "", ""},
		{"cpu_limit", "0", ""},
		{"memory_limit", "0", ""},
		{"cpu_limit", "1.5", "1.5"},
		{"memory_bytes", "25769803776", "24.0 GiB"},
		{"memory_bytes", "8 GiB", "8 GiB"},
		{"cores", "2", "2"},
	} {
		if got := machineValue(tt.name, tt.value); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.name, tt.value, got, tt.want)
		}
	}
}

// A parameter tells rows apart if it differs within an engine or between values, not where it merely belongs to one.
func TestTellsApart(t *testing.T) {
	rows := []Row{
		{"engine": "hnswlib", "m": int64(16), "ef_search": int64(32), "dim": int64(8)},
		{"engine": "hnswlib", "m": int64(16), "ef_search": int64(64), "dim": int64(8)},
		{"engine": "coder", "ef_search": int64(32), "dim": int64(9)},
		{"engine": "flat", "dim": int64(8)},
		{"engine": "faiss", "nlist": int64(4), "dim": int64(8)},
		{"engine": "faiss", "dim": int64(8)},
	}
	for column, want := range map[string]bool{"m": false, "ef_search": true, "dim": true, "nlist": true, "nprobe": false} {
		if got := tellsApart(rows, column); got != want {
			t.Errorf("%s: %v", column, got)
		}
	}
}
