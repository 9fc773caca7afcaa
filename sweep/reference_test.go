package sweep

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"testing"

	"frontier/bench/loss"
	"frontier/internal/testdata"
	"frontier/results"
	"frontier/sweep/file"
)

var update = flag.Bool("update", false, "write the rankings of the reference sweeps anew")

// reference is one sweep over real data whose rankings are pinned in testdata/reference.
type reference struct {
	name, file string
	sets       []string // dataset.corpus and so on; the values are paths within the test data
	short      bool     // small enough for the race detector
}

var references = []reference{
	{"cranfield", "beir", []string{"dataset.corpus=cranfield/corpus.jsonl", "dataset.queries=cranfield/queries.jsonl", "dataset.qrels=cranfield/qrels/test.tsv"}, false},
	{"med", "beir", []string{"dataset.corpus=med/corpus.jsonl", "dataset.queries=med/queries.jsonl", "dataset.qrels=med/qrels/test.tsv"}, false},
	{"xquad-en", "golden", []string{"dataset.corpus=xquad-en/corpus.jsonl", "dataset.queries=xquad-en/golden.jsonl"}, false},
	{"xquad-de", "golden-de", []string{"dataset.corpus=xquad-de/corpus.jsonl", "dataset.queries=xquad-de/golden.jsonl"}, false},
	{"xquad-zh", "golden-zh", []string{"dataset.corpus=xquad-zh/corpus.jsonl", "dataset.queries=xquad-zh/golden.jsonl"}, false},
	{"sift5k", "vectors", []string{"vectors.base=sift5k/base.fvecs", "vectors.queries=sift5k/query.fvecs", "vectors.truth=sift5k/groundtruth.ivecs"}, true},
	{"minilm778", "vectors", []string{"vectors.base=minilm778/base.fbin", "vectors.queries=minilm778/query.fbin"}, true},
}

// run runs the sweep with as little measuring as can be: what is pinned is what was found.
func (ref reference) run(t *testing.T) (string, []results.Row) {
	t.Helper()
	sets := []string{"measure.rounds=1", "measure.min_time=1ms", "measure.warmup=1ms", "measure.max_time=1ms"}
	for _, set := range ref.sets {
		name, path, _ := strings.Cut(set, "=")
		sets = append(sets, name+"="+testdata.Path(t, path))
	}
	if ref.name == "minilm778" {
		sets = append(sets, "vectors.metric=cosine")
	}
	reg := testRegistry()
	f, err := file.Read(filepath.Join("..", "examples", "reference", ref.file+".yaml"), reg, sets)
	if err != nil {
		t.Fatal(err)
	}
	f.DropAbsent(reg)
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if _, err := Run(t.Context(), f, Options{
		Out: out, Cache: filepath.Join(dir, "cache"), Jobs: 2, Registry: reg,
		Command: func() *exec.Cmd { return exec.Command(os.Args[0]) },
	}); err != nil {
		t.Fatal(err)
	}
	rows, err := results.ReadRows(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	return out, rows
}

// pinned is what is kept of one point: its metrics to six digits and what the first questions got.
type pinned struct {
	Metrics map[string]float64
	First   map[string][]string // question to its first answers
}

// pinnedQueries and pinnedDepth keep the files small; a change in any other question shows in the metrics.
const (
	pinnedQueries = 12
	pinnedDepth   = 5
)

func TestReferenceRankings(t *testing.T) {
	for _, ref := range references {
		t.Run(ref.name, func(t *testing.T) {
			if testing.Short() && !ref.short {
				t.Skip("left out with -short: it embeds a whole corpus")
			}
			out, rows := ref.run(t)
			queries, err := results.ReadQueries(t.Context(), out)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]pinned{}
			for _, row := range rows {
				if row["status"] != "ok" {
					t.Fatalf("%v: %v", row["engine"], row["error"])
				}
				checkReference(t, ref.name, row)
				addsUp(t, fmt.Sprint(ref.name, " ", pinName(row)), func(name string) (float64, bool) {
					v, ok := row[name].(float64)
					return v, ok
				})
				if row["engine"] != "coder" { // its answers differ from run to run
					got[pinName(row)] = pin(row, queries)
				}
			}
			for _, q := range queries {
				addsUp(t, fmt.Sprint(ref.name, " question ", q.QueryID), func(name string) (float64, bool) {
					v, ok := q.Metrics[name]
					return v, ok
				})
			}
			comparePins(t, filepath.Join("testdata", "reference", ref.name+".json"), got)
		})
	}
}

// addsUp checks that what the stages lost is all that was not found, to the last bit.
func addsUp(t *testing.T, who string, value func(string) (float64, bool)) {
	t.Helper()
	found, ok := value("evidence_recall")
	if !ok {
		return // vectors have no evidence, nor have questions without an answer
	}
	lost := 0.0
	for _, class := range loss.Losses() {
		v, ok := value("loss_" + class.String())
		if !ok {
			t.Errorf("%s has no loss_%v", who, class)
		}
		lost += v
	}
	if lost != 1-found {
		t.Errorf("%s: %v was found and %v lost", who, found, lost)
	}
}

// checkReference holds a row against what is known of the data set from elsewhere.
func checkReference(t *testing.T, name string, row results.Row) {
	t.Helper()
	floor := map[string]float64{"cranfield": 0.35, "med": 0.66}[name] // BM25, unchunked, title and text
	if ndcg, _ := row["ndcg_at_10"].(float64); row["engine"] == "bleve" && ndcg < floor {
		t.Errorf("BM25 has an nDCG@10 of %v on %s, less than %v", ndcg, name, floor)
	}
	if row["engine"] == "flat" && row["ann_recall_at_10"] != 1.0 {
		t.Errorf("exact search has ann_recall_at_10 %v on %s", row["ann_recall_at_10"], name)
	}
}

func pinName(row results.Row) string {
	name := fmt.Sprint(row["engine"], " ", row["index_spec"])
	for _, p := range []string{"ef_search", "nprobe", "fusion", "fusion_param", "fusion_norm"} {
		if row[p] != nil {
			name += fmt.Sprintf(" %s=%v", p, row[p])
		}
	}
	return name
}

func pin(row results.Row, queries []results.QueryRow) pinned {
	p := pinned{Metrics: map[string]float64{}, First: map[string][]string{}}
	for name, v := range row {
		c, _ := results.Lookup(name)
		// Losses follow from rankings, and have tests of their own.
		if f, ok := v.(float64); ok && results.PerQuery(name) && c.Group != "loss" {
			p.Metrics[name] = math.Round(1e6*f) / 1e6
		}
	}
	var mine []results.QueryRow
	for _, q := range queries {
		if q.PointID == row["point_id"] {
			mine = append(mine, q)
		}
	}
	sort.Slice(mine, func(i, j int) bool { return mine[i].QueryID < mine[j].QueryID })
	for _, q := range mine[:min(pinnedQueries, len(mine))] {
		list := q.IDs
		if q.Documents != nil {
			list = q.Documents
		}
		p.First[q.QueryID] = list[:min(pinnedDepth, len(list))]
	}
	return p
}

// comparePins compares with the file. Graphs depend on the instruction set, by which distances round differently, so
// of approximate engines only the metrics are compared, to 0.02; and only amd64 has the arithmetic of the file.
func comparePins(t *testing.T, path string, got map[string]pinned) {
	t.Helper()
	want := map[string]pinned{}
	if raw, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		for name, p := range got {
			want[name] = p // what this binary has no engine for stays
		}
		raw, err := json.MarshalIndent(want, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the rankings are pinned for amd64")
	}
	for name, p := range got {
		w, ok := want[name]
		if !ok {
			t.Errorf("%s is not in %s; look at it and run the test with -update", name, path)
			continue
		}
		exact := !strings.HasPrefix(name, "hnswlib") && !strings.HasPrefix(name, "faiss")
		for metric, v := range p.Metrics {
			tolerance := 0.0
			if !exact {
				tolerance = 0.02
			}
			if math.Abs(v-w.Metrics[metric]) > tolerance {
				t.Errorf("%s: %s is %v, pinned at %v", name, metric, v, w.Metrics[metric])
			}
		}
		if exact && !reflect.DeepEqual(p.First, w.First) {
			t.Errorf("%s: the first answers changed:\n got %v\nwant %v", name, p.First, w.First)
		}
	}
}
