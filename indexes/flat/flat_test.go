package flat

import (
	"context"
	"math"
	"slices"
	"testing"

	"frontier/indexes"
	"frontier/indexes/internal/enginetest"
	"frontier/internal/param"
	"frontier/internal/vector"
)

func suite() enginetest.Case {
	return enginetest.Case{Engine: Engine(), Recall: 1, ScoreError: 1e-5, AllRows: true, Deterministic: true}
}

func TestSuite(t *testing.T) { enginetest.Run(t, suite()) }

// The integer coordinates of SIFT make float32 exact, so even the order must be that of float64.
func TestExactIDs(t *testing.T) {
	base, queries := enginetest.SIFT(t)
	x := suite().Build(t, indexes.Input{Vectors: base, Metric: vector.L2})
	for i := range queries.Len() {
		hits, err := x.Search(indexes.Query{Vector: queries.Row(i)}, 100, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := ids(hits), enginetest.Exact(base, vector.L2, queries.Row(i), 100); !slices.Equal(got, want) {
			t.Fatalf("query %d: %v, expected %v", i, got, want)
		}
	}
}

func TestTiesGoToTheSmallerID(t *testing.T) {
	base := enginetest.Matrix(t, []float32{2, 0, 1, 0, 1, 0, 0, 1, 1, 0}, 2)
	for metric, want := range map[vector.Metric][]int64{vector.L2: {1, 2, 4}, vector.IP: {0, 1, 2}, vector.Cosine: {0, 1, 2}} {
		x := suite().Build(t, indexes.Input{Vectors: base, Metric: metric})
		hits, err := x.Search(indexes.Query{Vector: []float32{1, 0}}, 3, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := ids(hits); !slices.Equal(got, want) {
			t.Errorf("%s: %v, expected %v", metric, got, want)
		}
	}
}

// Norms at the ends of float32's range must neither overflow nor vanish under cosine.
func TestExtremeNorms(t *testing.T) {
	const tiny, huge = 1e-40, 2e38
	base := enginetest.Matrix(t, []float32{tiny, 0, 0, huge, huge, huge, 0, 0}, 2)
	x := suite().Build(t, indexes.Input{Vectors: base, Metric: vector.Cosine})
	hits, err := x.Search(indexes.Query{Vector: []float32{1e-30, 1e-30}}, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(hits); !slices.Equal(got, []int64{2, 0, 1, 3}) {
		t.Errorf("order is %v: %v", got, hits)
	}
	if math.Abs(float64(hits[0].Score)-1) > 1e-6 || hits[3].Score != 0 {
		t.Errorf("scores are %v", hits)
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	base := enginetest.Clustered(t, 200, 16, 1)
	for _, m := range metrics {
		x := suite().Build(t, indexes.Input{Vectors: base, Metric: m})
		dst := make([]indexes.Hit, 0, 10)
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := x.Search(indexes.Query{Vector: base.Row(0)}, 10, dst); err != nil {
				t.Fatal(err)
			}
		})
		if allocs >= 1 { // under -race a pool drops some of what it holds
			t.Errorf("%s: %v allocations a query", m, allocs)
		}
	}
}

func TestLoadNeedsVectors(t *testing.T) {
	if _, err := Engine().Load(context.Background(), t.TempDir(), indexes.Input{}, param.Values{}); err == nil {
		t.Error("loading without vectors is not refused")
	}
}

func BenchmarkSearch(b *testing.B) { enginetest.Benchmark(b, suite(), 1) }

func ids(hits []indexes.Hit) []int64 {
	var out []int64
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}
