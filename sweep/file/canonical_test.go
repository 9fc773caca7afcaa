package file

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// withoutPlaces is a copy of f as far as Canonical keeps it: places and source removed.
func withoutPlaces(f *File) *File {
	c := *f
	c.Source = nil
	axes := func(all []Axis) []Axis {
		var out []Axis
		for _, a := range all {
			b := Axis{Name: a.Name}
			for _, v := range a.Values {
				b.Values = append(b.Values, Value{Literal: v.Literal, Expr: v.Expr})
			}
			out = append(out, b)
		}
		return out
	}
	items := func(all []Item) []Item {
		var out []Item
		for _, it := range all {
			out = append(out, Item{Kind: it.Kind, Axes: axes(it.Axes)})
		}
		return out
	}
	var index func(Index) Index
	index = func(ix Index) Index {
		out := Index{Engine: ix.Engine, Build: axes(ix.Build), Template: axes(ix.Template), Search: axes(ix.Search)}
		for _, p := range ix.Parts {
			out.Parts = append(out.Parts, index(p))
		}
		for _, one := range ix.Fusion {
			out.Fusion = append(out.Fusion, Fusion{Kind: one.Kind, Param: one.Param, Norm: one.Norm})
		}
		return out
	}
	c.Chunkers, c.Embedders, c.Indexes, c.Objectives = items(f.Chunkers), items(f.Embedders), nil, nil
	for _, ix := range f.Indexes {
		c.Indexes = append(c.Indexes, index(ix))
	}
	for _, o := range f.Objectives {
		o.Pos = Pos{}
		c.Objectives = append(c.Objectives, o)
	}
	c.Filters = nil
	for _, one := range f.Filters {
		one.Pos = Pos{}
		if !slices.Contains(one.Modes, FilterBoost) {
			one.Boosts = nil
		}
		c.Filters = append(c.Filters, one)
	}
	c.Measure = loadsWithoutPlaces(f.Measure)
	if f.Dataset != nil {
		c.Dataset = &Dataset{Corpus: f.Dataset.Corpus, Queries: f.Dataset.Queries, Qrels: f.Dataset.Qrels, Title: f.Dataset.Title}
	}
	if v := f.Vectors; v != nil {
		c.Vectors = &Vectors{Base: v.Base, Queries: v.Queries, Truth: v.Truth, Metric: v.Metric, Synthetic: v.Synthetic}
	}
	if f.Cost != nil {
		c.Cost = &Cost{Catalog: f.Cost.Catalog, QPS: f.Cost.QPS, Replicas: f.Cost.Replicas}
	}
	return &c
}

func checkCanonical(t rapid.TB, f *File) {
	t.Helper()
	text, err := f.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(f.Path, text, testRegistry(), nil)
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	if a, b := withoutPlaces(f), withoutPlaces(back); !reflect.DeepEqual(a, b) {
		t.Fatalf("differs after\n%s\n%+v\n%+v", text, a, b)
	}
	again, err := back.Canonical()
	if err != nil || string(again) != string(text) {
		t.Fatalf("not canonical: %v\n%s\n%s", err, text, again)
	}
}

func TestCanonicalOfExamples(t *testing.T) {
	path := folder(t)
	for _, src := range []string{textSweep, vectorSweep} {
		checkCanonical(t, mustParse(t, path, src))
	}
}

// A width of any number of digits is read back as the same width.
func TestCanonicalUntil(t *testing.T) {
	for _, width := range []string{"5%", "0.1%", "7%", "3.3333333333333333%", "1e-7%", "99.999999999%", "5 %"} {
		f := mustParse(t, folder(t), vectorSweep, "measure.until={p99: '"+width+"'}")
		checkCanonical(t, f)
	}
}

func TestCanonicalKeepsEverything(t *testing.T) {
	path := folder(t)
	number := func(t *rapid.T, name string, from, to int) int { return rapid.IntRange(from, to).Draw(t, name) }
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
		line("version: 1")
		line("name: %q", "x"+rapid.StringOfN(rapid.Rune(), 0, 20, -1).Filter(printable).Draw(t, "name"))
		line("seed: %d", rapid.Uint64().Draw(t, "seed"))
		line("build_threads: %d", number(t, "threads", 0, 64))
		onText := rapid.Bool().Draw(t, "text")
		if onText {
			line("dataset: {corpus: godoc:std, queries: queries.jsonl, title: %s}", rapid.SampledFrom([]string{"join", "omit"}).Draw(t, "title"))
			line("chunkers: [{kind: recursive, size: {from: %d, to: 9000, steps: %d}, overlap: [0, %v%%]}]",
				number(t, "from", 10, 4000), number(t, "steps", 2, 5), float64(number(t, "percent", 1, 199))/2)
			line("embedders: [{kind: hash, dim: [8, 'min(256, n)'], stem: %t}]", rapid.Bool().Draw(t, "stem"))
		} else {
			line("vectors: {metric: ip, synthetic: {n: 100000, dim: %d, clusters: %d, spread: %v, queries: 9}}",
				number(t, "dim", 1, 5000), number(t, "clusters", 1, 999), rapid.Float64Range(1e-3, 1e6).Draw(t, "spread"))
		}
		line("indexes:")
		line("  - {engine: hnswlib, M: [%d, 2*8.5], search: {ef_search: 4*sqrt(dim)}}", number(t, "M", 20, 90))
		line("  - {engine: faiss, factory: ['IVF{nlist},Flat', 'IVF{nlist},%s'], nlist: [3*sqrt(n), 7]}",
			rapid.StringMatching(`[ -&(-~]{1,12}`).Filter(func(s string) bool { return !strings.ContainsAny(s, "{}$") }).Draw(t, "factory"))
		if onText {
			line("  - {engine: bleve, k1: %v, b: [0, %v]}", rapid.Float64Range(0, 10).Draw(t, "k1"), rapid.Float64Range(1e-9, 1).Draw(t, "b"))
			line("  - {engine: hybrid, of: [bleve, {engine: hnswlib, M: 4}], fusion: [{rrf: %d}, {convex: [0, %v], norm: [min-max, z-score]}]}",
				number(t, "rrf", 1, 100), rapid.Float64Range(1e-9, 1).Draw(t, "weight"))
			line("filters: [{field: [locale, 'a b'], mode: [pre, boost, post], boost: [%v, 2], hard: {min_gain: %v}}, {field: x, from: query}]",
				rapid.Float64Range(0.01, 1).Draw(t, "boost"), rapid.Float64Range(0, 1).Draw(t, "gain"))
			line("cost: {qps: %v, replicas: 3}", rapid.Float64Range(1e-6, 1e12).Draw(t, "qps"))
		}
		line("measure: {k: [%d, 3], depth: 400, load: [{closed: %d}, {open: {rate: %v, clients: %d}}, {slo: {p99: %dus, arrivals: constant, where: 'qps > 3'}}], min_time: %dns, until: {p90: %d.%d%%}, max_time: 1h}",
			number(t, "k", 4, 400), number(t, "clients", 1, 99), rapid.Float64Range(1e-3, 1e8).Draw(t, "rate"), number(t, "in flight", 1, 99), number(t, "p99", 1, 1e9),
			number(t, "min", 0, 1e9), number(t, "width", 1, 99), number(t, "tenths", 0, 9))
		line("limits: {memory: %dB, cell_time: %dms, query_time: %dns}", number(t, "memory", 0, 1<<50), number(t, "cell", 0, 1e9), number(t, "query", 0, 1e9))
		f, err := Parse(path, []byte(b.String()), testRegistry(), nil)
		if err != nil {
			t.Fatalf("%v\nin\n%s", err, b.String())
		}
		checkCanonical(t, f)
	})
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) && !strings.Contains(s, "${")
}
