package file

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const textSweep = `version: 1
name: quickstart
seed: 7
dataset:
  corpus: corpus.jsonl
  queries: queries.jsonl
  qrels: test.tsv
chunkers:
  - {kind: recursive, unit: tokens, size: [128, 256, 512], overlap: [0, 10%, 20%]}
  - {kind: none}
embedders:
  - {kind: hash, dim: {from: 64, to: 512, scale: log2}}
indexes:
  - {engine: flat}
  - {engine: hnswlib, M: [8, 16, 32], ef_construction: 100, search: {ef_search: [16, 32, 64, 128, 256]}}
  - {engine: faiss, factory: "IVF{nlist},Flat", nlist: [4*sqrt(n), 16*sqrt(n)], search: {nprobe: [1, 2, 4]}}
  - {engine: bleve, k1: 1.2, b: 0.75}
  - engine: hybrid
    of: [bleve, {engine: hnswlib, M: 16, search: {ef_search: 64}}]
    fusion: [{rrf: [10, 60]}]
rerankers: [{kind: none}]
measure:
  k: [10, 1, 5]
  depth: 50
  unit: chunk
  evidence: contain
  load:
    - {closed: [1, 2]}
    - {open: {rate: [200, 400.5]}}
    - {open: {rate: 200, arrivals: constant, clients: 2}}
    - {slo: {p99: 5ms}}
    - {slo: {p99: 20ms, where: "ann_recall_at_10 >= 0.95", clients: 3}}
  rounds: 2
  min_time: 250ms
  until: {p99: 5%, qps: 2.5%}
  max_time: 30s
  noisy: keep
  ann_benchmarks: true
limits: {cell_time: 10m, memory: 8GiB, query_time: 1s}
objectives: [recall_at_10:max, latency_p99_seconds:min, cost_usd_per_month:min]
cost: {catalog: prices.yaml, qps: 100, replicas: 2}
strategy: {kind: grid}
`

const vectorSweep = `version: 1
vectors: {synthetic: {n: 10000, dim: 128, clusters: 200, spread: 0.3, queries: 500}, metric: euclidean}
indexes:
  - {engine: flat}
  - {engine: faiss, factory: ["IVF{nlist},Flat", "IVF{nlist},PQ16"], nlist: [4*sqrt(n), 1024]}
`

func mustParse(t testing.TB, path, src string, sets ...string) *File {
	t.Helper()
	f, err := Parse(path, []byte(src), testRegistry(), sets)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func loadsWithoutPlaces(m Measure) Measure {
	m.Load = slices.Clone(m.Load)
	for i := range m.Load {
		m.Load[i].Pos, m.Load[i].WherePos = Pos{}, Pos{}
	}
	return m
}

func written(a Axis) string {
	var out []string
	for _, v := range a.Values {
		out = append(out, v.String())
	}
	return a.Name + "=" + strings.Join(out, " ")
}

func TestParseText(t *testing.T) {
	f := mustParse(t, folder(t), textSweep)
	if f.Name != "quickstart" || f.Seed != 7 || f.BuildThreads != 0 {
		t.Errorf("name, seed, threads: %q %d %d", f.Name, f.Seed, f.BuildThreads)
	}
	if f.Dataset.Title != "join" || f.Dataset.QrelsPos != (Pos{7, 10}) {
		t.Errorf("dataset: %+v", f.Dataset)
	}
	var axes []string
	for _, item := range append(f.Chunkers, f.Embedders...) {
		axes = append(axes, item.Kind)
		for _, a := range item.Axes {
			axes = append(axes, written(a))
		}
	}
	want := []string{"recursive", "unit=tokens", "size=128 256 512", "overlap=0 10% 20%", "none", "hash", "dim=64 128 256 512"}
	if !reflect.DeepEqual(axes, want) {
		t.Errorf("axes\n got %q\nwant %q", axes, want)
	}
	if got := f.Chunkers[0].Axes[2].Values[1]; got != (Value{Literal: "10%", Pos: Pos{9, 73}}) {
		t.Errorf("second overlap: %+v", got)
	}
	faiss := f.Indexes[2]
	if len(faiss.Build) != 1 || written(faiss.Template[0]) != "nlist=4*sqrt(n) 16*sqrt(n)" || written(faiss.Search[0]) != "nprobe=1 2 4" {
		t.Errorf("faiss: %+v", faiss)
	}
	h := f.Indexes[4]
	if len(h.Parts) != 2 || h.Parts[0].Engine != "bleve" || written(h.Parts[1].Search[0]) != "ef_search=64" {
		t.Errorf("parts of the hybrid: %+v", h.Parts)
	}
	if len(h.Fusion) != 2 || h.Fusion[0].Param != 10 || h.Fusion[1].Kind != "rrf" {
		t.Errorf("fusion: %+v", h.Fusion)
	}
	m := Measure{
		K: []int{1, 5, 10}, Depth: 50, Unit: "chunk", Evidence: "contain", RelevanceMin: 1, WithheldMax: 0.05, Leaks: "fail",
		Load: []Load{
			{Mode: Closed, Clients: 1},
			{Mode: Closed, Clients: 2},
			{Mode: Open, Clients: 1, Rate: 200, Arrivals: Poisson},
			{Mode: Open, Clients: 1, Rate: 400.5, Arrivals: Poisson},
			{Mode: Open, Clients: 2, Rate: 200, Arrivals: Constant},
			{Mode: SLO, Clients: 1, P99: 5 * time.Millisecond, Arrivals: Poisson},
			{Mode: SLO, Clients: 3, P99: 20 * time.Millisecond, Arrivals: Poisson, Where: "ann_recall_at_10 >= 0.95"},
		},
		Rounds: 2, MinTime: 250 * time.Millisecond, Warmup: 200 * time.Millisecond, MaxTime: 30 * time.Second,
		Until: []Until{{"qps", 0.025}, {"p99", 0.05}}, Noisy: "keep", AnnBenchmarks: true,
	}
	if got := loadsWithoutPlaces(f.Measure); !reflect.DeepEqual(got, m) {
		t.Errorf("measure\n got %+v\nwant %+v", got, m)
	}
	if f.Limits != (Limits{10 * time.Minute, 8 << 30, time.Second}) {
		t.Errorf("limits: %+v", f.Limits)
	}
	if f.Cost.QPS != 100 || f.Cost.Replicas != 2 || f.Cost.Catalog != "prices.yaml" {
		t.Errorf("cost: %+v", f.Cost)
	}
	if len(f.Objectives) != 3 || !f.Objectives[0].Max || f.Objectives[1].Max {
		t.Errorf("objectives: %+v", f.Objectives)
	}
}

func TestDefaults(t *testing.T) {
	path := folder(t)
	f := mustParse(t, path, "version: 1\ndataset: {corpus: godoc:std, queries: queries.jsonl}\nindexes: [bleve]\n", "indexes.0={engine: bleve}")
	want := Measure{
		K: []int{1, 5, 10}, Depth: 100, Unit: "document", Evidence: "overlap", RelevanceMin: 1, WithheldMax: 0.05, Leaks: "fail",
		Load: []Load{{Mode: Closed, Clients: 1}}, Rounds: 3, MinTime: time.Second, Warmup: 200 * time.Millisecond, Noisy: "repeat",
	}
	if !reflect.DeepEqual(f.Measure, want) {
		t.Errorf("measure\n got %+v\nwant %+v", f.Measure, want)
	}
	if f.Name != "sweep" || f.Seed != 42 || f.Cost != nil || len(f.Chunkers) != 1 || f.Chunkers[0].Kind != "none" {
		t.Errorf("%+v", f)
	}
	if f.Objectives[0].Column != "recall_at_10" || f.Objectives[1].Column != "latency_p99_seconds" || f.Objectives[1].Max {
		t.Errorf("objectives: %+v", f.Objectives)
	}

	v := mustParse(t, path, vectorSweep, "measure.k=[20,3]")
	if v.Vectors.Metric != "l2" || v.Measure.Unit != "" || v.Measure.Depth != 20 || len(v.Chunkers) != 0 {
		t.Errorf("%+v %+v", v.Vectors, v.Measure)
	}
	if v.Objectives[0].Column != "ann_recall_at_20" || v.Objectives[1] != (Objective{Column: "qps", Max: true}) {
		t.Errorf("objectives: %+v", v.Objectives)
	}
}

func TestReadAndRel(t *testing.T) {
	path := folder(t)
	if err := os.WriteFile(path, []byte(textSweep), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path, testRegistry(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Rel("a/b"), filepath.Join(filepath.Dir(path), "a/b"); got != want {
		t.Errorf("Rel: %q, want %q", got, want)
	}
	if got := f.Rel("/a"); got != "/a" {
		t.Errorf("Rel of an absolute path: %q", got)
	}
	if _, err := Read(path+".absent", testRegistry(), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	if _, err := Read(filepath.Dir(path), testRegistry(), nil); err == nil {
		t.Error("a folder was read as a sweep file")
	}
}

func TestContextTokens(t *testing.T) {
	path := folder(t)
	for _, set := range []string{"measure.context_tokens=2048", "measure.context_tokens=[2048]"} {
		f := mustParse(t, path, textSweep, set)
		if f.Measure.ContextTokens != 2048 {
			t.Errorf("%s: %d", set, f.Measure.ContextTokens)
		}
		text, err := f.Canonical()
		if err != nil || !strings.Contains(string(text), "context_tokens: 2048") {
			t.Errorf("%s: %v in\n%s", set, err, text)
		}
	}
	for _, set := range []string{"measure.context_tokens=0", "measure.context_tokens=[]", "measure.context_tokens=many"} {
		if _, err := Parse(path, []byte(textSweep), testRegistry(), []string{set}); err == nil {
			t.Errorf("%s is accepted", set)
		}
	}
	if _, err := Parse(path, []byte(vectorSweep), testRegistry(), []string{"measure.context_tokens=10"}); err == nil {
		t.Error("vectors have a context")
	}
}

func TestSubset(t *testing.T) {
	path := folder(t)
	f := mustParse(t, path, textSweep, "dataset.tags=[smoke, '1']", "dataset.split=dev", "dataset.sample=50", "dataset.by=scenario")
	if want := `split: dev, tags: [smoke, "1"], sample: 50, by: scenario`; f.Dataset.Subset() != want {
		t.Errorf("subset %q, want %q", f.Dataset.Subset(), want)
	}
	text, err := f.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	if again := mustParse(t, path, string(text)); again.Dataset.Subset() != f.Dataset.Subset() {
		t.Errorf("read back: %q", again.Dataset.Subset())
	}
	for _, sets := range [][]string{
		{"dataset.by=scenario"},
		{"dataset.sample=0"},
		{"dataset.tags=[]"},
		{"dataset.tags=[a, a]"},
		{"dataset.tags=[1]"},
		{"dataset.sample=5", "dataset.by=tags"},
	} {
		if _, err := Parse(path, []byte(textSweep), testRegistry(), sets); err == nil {
			t.Errorf("%q is accepted", sets)
		}
	}
}

func TestOverrides(t *testing.T) {
	path := folder(t)
	f := mustParse(t, path, textSweep,
		"indexes.1.M=[4, 6]", "measure.rounds=1", "limits=null", "dataset.title=omit", "indexes.1.search.ef_search={from: 8, to: 64, scale: log2}")
	ix := f.Indexes[1]
	if written(ix.Build[0]) != "M=4 6" || written(ix.Search[0]) != "ef_search=8 16 32 64" {
		t.Errorf("index: %+v", ix)
	}
	if ix.Build[0].Values[0].Pos != (Pos{}) {
		t.Errorf("a value from a flag has the place %+v", ix.Build[0].Values[0].Pos)
	}
	if f.Measure.Rounds != 1 || f.Limits != (Limits{}) || f.Dataset.Title != "omit" {
		t.Errorf("%+v %+v %+v", f.Measure, f.Limits, f.Dataset)
	}
}

// null removes what is there, and makes nothing of what is not.
func TestRemovingOverrides(t *testing.T) {
	path := folder(t)
	want := mustParse(t, path, vectorSweep)
	got := mustParse(t, path, vectorSweep, "cost.qps=null", "limits.memory=null", "name=null", "measure.load=null")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAliasesAndMerges(t *testing.T) {
	src := `version: 1
dataset: {corpus: corpus.jsonl, queries: queries.jsonl}
embedders: [{kind: hash}]
indexes:
  - &base {engine: hnswlib, M: &m [8, 16], ef_construction: 200}
  - {<<: *base, M: 64}
  - {engine: hnswlib, M: *m}
`
	f := mustParse(t, folder(t), src, "indexes.0.M=4")
	got := []string{}
	for _, ix := range f.Indexes {
		for _, a := range ix.Build {
			got = append(got, written(a))
		}
	}
	want := []string{"M=4", "ef_construction=200", "M=64", "ef_construction=200", "M=8 16"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q: an override of one alias must not change the others", got, want)
	}
}

func TestErrorsAs(t *testing.T) {
	_, err := Parse("s.yaml", []byte("version: 1\nmesure: {}\n"), testRegistry(), nil)
	var one *Error
	var all Errors
	if !errors.As(err, &one) || !errors.As(err, &all) {
		t.Fatalf("%T is neither", err)
	}
	if one.Path != "s.yaml" {
		t.Errorf("path %q", one.Path)
	}
	want := "s.yaml:2:1: mesure: unknown key (did you mean \"measure\"?)\n    2 | mesure: {}\n      | ^"
	found := false
	for _, e := range all {
		found = found || e.Detail() == want
	}
	if !found {
		t.Errorf("no detail is\n%s\nbut\n%s", want, all.Detail())
	}
}

func TestErrorsPrintsTwenty(t *testing.T) {
	src := "version: 1\ndataset: {corpus: godoc:std, queries: queries.jsonl}\nindexes:\n" + strings.Repeat("  - {engine: flot}\n", 30)
	_, err := Parse(folder(t), []byte(src), testRegistry(), nil)
	var all Errors
	if !errors.As(err, &all) || len(all) != 30 {
		t.Fatalf("%d problems", len(all))
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 21 || lines[20] != "and 10 more" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestDropAbsent(t *testing.T) {
	path := folder(t)
	f := mustParse(t, path, textSweep+"\n", `indexes.0={engine: hybrid, of: [bleve, {engine: faiss, factory: Flat}]}`)
	warnings := f.DropAbsent(testRegistry())
	want := []string{
		path + ": indexes[0]: hybrid of faiss is left out: this binary has no faiss (run make deps)",
		path + ":16:5: indexes[2]: faiss is left out: this binary has no faiss (run make deps)",
	}
	if !reflect.DeepEqual(warnings, want) {
		t.Errorf("warnings\n got %q\nwant %q", warnings, want)
	}
	var left []string
	for _, ix := range f.Indexes {
		left = append(left, ix.Engine)
	}
	if strings.Join(left, " ") != "hnswlib bleve hybrid" {
		t.Errorf("left: %q", left)
	}
}

func TestGrid(t *testing.T) {
	axis := func(name string, values ...int64) Axis {
		a := Axis{Name: name}
		for _, v := range values {
			a.Values = append(a.Values, Value{Literal: v})
		}
		return a
	}
	axes := []Axis{axis("a", 1, 2), axis("b", 7), axis("c", 3, 4, 5)}
	var got []string
	for p := range Grid(axes) {
		got = append(got, p[0].String()+p[1].String()+p[2].String())
	}
	if strings.Join(got, " ") != "173 174 175 273 274 275" {
		t.Errorf("order: %q", got)
	}
	if Count(axes) != 6 || Count(nil) != 1 || Count([]Axis{axis("a")}) != 0 {
		t.Error("Count is wrong")
	}
	empty := 0
	for p := range Grid(nil) {
		empty += 1 + len(p)
	}
	if empty != 1 {
		t.Errorf("no axes give %d points", empty)
	}
	for range Grid([]Axis{axis("a", 1), axis("b")}) {
		t.Error("an axis without values gives a point")
	}
	long := Axis{Values: make([]Value, 10_000)}
	huge := []Axis{long, long, long, long, long, long}
	if Count(huge) != math.MaxInt {
		t.Errorf("Count of 1e24 points is %d", Count(huge))
	}
	first := 0
	for range Grid(huge) { // streams: this would not end otherwise
		if first++; first == 3 {
			break
		}
	}
}

// BenchmarkGrid walks a grid of 100,000 points.
func BenchmarkGrid(b *testing.B) {
	axis := Axis{Values: make([]Value, 10)}
	axes := []Axis{axis, axis, axis, axis, axis}
	for b.Loop() {
		n := 0
		for range Grid(axes) {
			n++
		}
		if n != 100_000 {
			b.Fatalf("%d points", n)
		}
	}
}

// BenchmarkParse parses the sweep of the quick start.
func BenchmarkParse(b *testing.B) {
	path, reg := folder(b), testRegistry()
	for b.Loop() {
		f, err := Parse(path, []byte(textSweep), reg, nil)
		if err != nil || len(f.Indexes) != 5 {
			b.Fatal(err)
		}
	}
}
