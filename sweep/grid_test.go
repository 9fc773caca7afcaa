package sweep

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontier/bench/load"
	"frontier/bench/truth"
	"frontier/datasets"
	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/vector"
)

// The grid of BenchmarkGrid: 6 builds with 10 points each.
var (
	gridM  = []int64{8, 16, 32}
	gridEf = []int64{10, 15, 20, 30, 40, 60, 80, 120, 160, 240}
)

const (
	gridN, gridDim, gridQueries, gridK = 8000, 32, 100, 10
	gridMinTime, gridWarmup            = 20 * time.Millisecond, 2 * time.Millisecond
	gridSeed                           = 42
)

// BenchmarkGrid compares a sweep, with all that it does besides, with a plain loop in one process that builds, loads,
// sets and measures one point after the other, as scripts do.
func BenchmarkGrid(b *testing.B) {
	engine := indexes.Find(testEngines(), "hnswlib")
	second, tolerance := "ef_construction: [100, 200]", 1e-9
	if engine.Absent != "" {
		// coder has no second parameter and other answers on each build, so M has all six values and recalls only agree on
		// average.
		engine, tolerance = indexes.Find(testEngines(), "coder"), 0.1
		second = ""
	}
	base, queries := gridVectors(b)
	exact, err := truth.Exact(b.Context(), base, queries, vector.L2, gridK, 1)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p := newPlace(b, gridYAML(engine.Name, second))
		started := time.Now()
		s := p.run()
		swept := time.Since(started)
		if s.Points != 60 || s.Failed != 0 {
			b.Fatalf("summary %+v", s)
		}
		started = time.Now()
		looped := map[string]float64{}
		for _, build := range gridBuilds(engine.Name) {
			for _, ef := range gridEf {
				looped[fmt.Sprint(build["M"], build["ef_construction"], ef)] = loopPoint(b, engine, build, ef, base, queries, exact)
			}
		}
		plain := time.Since(started)
		var difference float64
		for _, row := range p.rows() {
			recall, ok := looped[fmt.Sprint(row["m"], row["ef_construction"], row["ef_search"])]
			if !ok {
				b.Fatalf("the loop has no point m=%v ef_construction=%v ef_search=%v", row["m"], row["ef_construction"], row["ef_search"])
			}
			difference += math.Abs(recall-row["ann_recall_at_10"].(float64)) / 60
		}
		if difference > tolerance {
			b.Fatalf("the recalls of sweep and loop differ by %g on average", difference)
		}
		b.ReportMetric(swept.Seconds(), "s/sweep")
		b.ReportMetric(plain.Seconds(), "s/loop")
		b.ReportMetric(swept.Seconds()/plain.Seconds(), "sweep/loop")
	}
}

func gridYAML(engine, second string) string {
	m := fmt.Sprint(gridM)
	if second == "" {
		m = "[8 12 16 20 24 32]"
	}
	list := func(s string) string {
		out := []rune(s)
		for i, r := range out {
			if r == ' ' {
				out[i] = ','
			}
		}
		return string(out)
	}
	if second != "" {
		second += ", "
	}
	return fmt.Sprintf(`version: 1
seed: %d
build_threads: 1
vectors: {synthetic: {n: %d, dim: %d, clusters: 20, spread: 0.8, queries: %d}, metric: l2}
indexes: [{engine: %s, M: %s, %ssearch: {ef_search: %s}}]
measure: {k: [%d], depth: %d, rounds: 1, min_time: %v, warmup: %v, max_time: %v}
`, gridSeed, gridN, gridDim, gridQueries, engine, list(m), second, list(fmt.Sprint(gridEf)), gridK, gridK, gridMinTime, gridWarmup, gridMinTime)
}

func gridBuilds(engine string) []param.Values {
	var builds []param.Values
	if engine == "coder" {
		for _, m := range []int64{8, 12, 16, 20, 24, 32} {
			builds = append(builds, param.Values{"M": m})
		}
		return builds
	}
	for _, m := range gridM {
		for _, ef := range []int64{100, 200} {
			builds = append(builds, param.Values{"M": m, "ef_construction": ef})
		}
	}
	return builds
}

// gridVectors are those that the sweep generates.
func gridVectors(b *testing.B) (base, queries *vector.Matrix) {
	b.Helper()
	s := datasets.Synthetic{N: gridN, Dim: gridDim, Clusters: 20, Queries: gridQueries, Spread: 0.8, Seed: gridSeed}
	read := func(name string, r datasets.VectorReader) *vector.Matrix {
		path := filepath.Join(b.TempDir(), name)
		w, err := vector.CreateFbin(path, gridDim)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := datasets.Import(b.Context(), r, w); err != nil {
			b.Fatal(err)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		m, err := vector.OpenFbin(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = m.Close() })
		return m
	}
	return read("base.fbin", s.Base()), read("queries.fbin", s.QuerySet())
}

// loopPoint does what a plain loop does for one point, and gives its recall.
func loopPoint(b *testing.B, engine *indexes.Engine, build param.Values, ef int64, base, queries *vector.Matrix, exact *truth.Neighbors) float64 {
	b.Helper()
	dir, err := os.MkdirTemp(b.TempDir(), "index")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	in := indexes.Input{Vectors: base, Metric: vector.L2, Seed: gridSeed, Threads: 1, Dir: dir}
	build, err = param.Complete(engine.Params, build)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := engine.Build(b.Context(), in, build); err != nil {
		b.Fatal(err)
	}
	index, err := engine.Load(b.Context(), dir, in, build)
	if err != nil {
		b.Fatal(err)
	}
	defer index.Close()
	if _, _, err := index.Set(param.Values{"ef_search": ef}, gridK); err != nil {
		b.Fatal(err)
	}
	target := &loopTarget{index: index, queries: queries, answers: make([][]indexes.Hit, queries.Len())}
	_, err = load.RunClosed(b.Context(), target, load.Closed{
		Clients: 1, Order: load.Order(queries.Len(), gridSeed), EachOnce: true, Warmup: gridWarmup, MinTime: gridMinTime,
		Keeper: load.NewKeeper(queries.Len()),
	})
	if err != nil {
		b.Fatal(err)
	}
	return target.recall(exact)
}

type loopTarget struct {
	index   indexes.Index
	queries *vector.Matrix
	hits    []indexes.Hit
	answers [][]indexes.Hit
}

func (t *loopTarget) Do(_, query int) (err error) {
	t.hits, err = t.index.Search(indexes.Query{Vector: t.queries.Row(query)}, gridK, t.hits)
	return err
}

func (t *loopTarget) Keep(_, query int, _ time.Duration, _ error) {
	t.answers[query] = append([]indexes.Hit(nil), t.hits...)
}

func (t *loopTarget) recall(exact *truth.Neighbors) float64 {
	found := 0
	for q, hits := range t.answers {
		ids, _ := exact.Row(q)
		for _, id := range ids[:gridK] {
			for _, h := range hits {
				if h.ID == int64(id) {
					found++
				}
			}
		}
	}
	return float64(found) / float64(len(t.answers)*gridK)
}

// An index that stands in two entries is built, loaded and measured once, with the points of both.
func TestSameIndexInTwoEntries(t *testing.T) {
	p := newPlace(t, strings.Replace(vectorSweep, "  - {engine: flat}\n", "  - {engine: flat}\n  - {engine: flat}\n  - {engine: slow, search: {percent: [0, 10]}}\n  - {engine: slow, search: {percent: [10, 20]}}\n", 1))
	p.run()
	points := map[string]bool{}
	rows := p.rows()
	for _, row := range rows {
		points[row.Text("point_id")] = true
	}
	if len(rows) != 8 || len(points) != 8 { // of two loads each
		t.Errorf("%d rows of %d points", len(rows), len(points))
	}
}
