package flat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"frontier/indexes"
	"frontier/indexes/internal/enginetest"
	"frontier/internal/vector"
)

// values makes rows on which float32 ties, overflows or vanishes.
var values = map[string]func(rng *rand.Rand, i int) float64{
	"gaussian":   func(rng *rand.Rand, _ int) float64 { return rng.NormFloat64() },
	"ties":       func(rng *rand.Rand, _ int) float64 { return float64(rng.IntN(3)) },
	"duplicates": func(_ *rand.Rand, i int) float64 { return math.Sin(float64(i % 5)) },
	"zeros":      func(rng *rand.Rand, i int) float64 { return float64(i%2) * rng.NormFloat64() },
	"far":        func(rng *rand.Rand, _ int) float64 { return 1e4 + rng.NormFloat64() },
	"huge":       func(rng *rand.Rand, _ int) float64 { return 1e30 * rng.NormFloat64() },
	"tiny":       func(rng *rand.Rand, _ int) float64 { return 1e-24 * rng.NormFloat64() },
	"vanishing":  func(rng *rand.Rand, _ int) float64 { return 1e-42 * rng.NormFloat64() },
	"all sizes":  func(rng *rand.Rand, i int) float64 { return math.Pow(10, float64(i%60)-30) * rng.NormFloat64() },
}

func rows(t testing.TB, rng *rand.Rand, n, dim int, value func(rng *rand.Rand, i int) float64) *vector.Matrix {
	data := make([]float32, n*dim)
	for i := range data {
		data[i] = float32(value(rng, i/dim))
	}
	return enginetest.Matrix(t, data, dim)
}

func some(rng *rand.Rand, n int, share float64) *indexes.IDSet {
	s := indexes.NewIDSet(n)
	for id := range int64(n) {
		if rng.Float64() < share {
			s.Add(id)
		}
	}
	return s
}

func TestFilteredAndBatchAnswerAsSearchDoes(t *testing.T) {
	const n, count = 1000, 9 // at 96 dimensions, all but the first rows meet the sieve of package knn
	dims := []int{1, 3, 17, 96}
	if testing.Short() {
		dims = []int{3, 17}
	}
	for name, value := range values {
		for _, m := range metrics {
			for _, dim := range dims {
				t.Run(fmt.Sprintf("%s/%s/dim=%d", name, m, dim), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(dim), 1))
					base, asked := rows(t, rng, n, dim, value), rows(t, rng, count, dim, value)
					x := newIndex(base, m)
					queries := make([]indexes.Query, count)
					for i := range queries {
						queries[i].Vector = asked.Row(i)
					}
					all := make([][]indexes.Hit, count)
					for i, q := range queries {
						var err error
						if all[i], err = x.Search(q, n, nil); err != nil {
							t.Fatal(err)
						}
					}
					for _, allowed := range []*indexes.IDSet{nil, some(rng, n, 0), some(rng, n, 0.05), some(rng, n, 0.7)} {
						for _, k := range []int{1, 10, 2 * n} {
							batch := make([][]indexes.Hit, count)
							if err := x.SearchBatch(t.Context(), queries, k, allowed, 2, batch); err != nil {
								t.Fatal(err)
							}
							for i, q := range queries {
								var want []indexes.Hit
								for _, h := range all[i] {
									if len(want) < k && (allowed == nil || allowed.Has(h.ID)) {
										want = append(want, h)
									}
								}
								if !slices.Equal(batch[i], want) {
									t.Fatalf("query %d, k = %d: the batch gives %v, want %v", i, k, batch[i], want)
								}
								if allowed == nil {
									continue
								}
								if got, err := x.SearchFiltered(q, k, allowed, nil); err != nil || !slices.Equal(got, want) {
									t.Fatalf("query %d, k = %d: filtered gives %v, %v; want %v", i, k, got, err, want)
								}
							}
						}
					}
				})
			}
		}
	}
}

func TestSetsAndRoomOfOtherSizesAreRefused(t *testing.T) {
	x := newIndex(enginetest.Clustered(t, 20, 3, 1), vector.L2)
	q := indexes.Query{Vector: []float32{1, 2, 3}}
	one, none := make([][]indexes.Hit, 1), context.Background()
	for name, err := range map[string]error{
		"set":            func() error { _, err := x.SearchFiltered(q, 1, indexes.NewIDSet(19), nil); return err }(),
		"set of a batch": x.SearchBatch(none, []indexes.Query{q}, 1, indexes.NewIDSet(21), 1, one),
		"room":           x.SearchBatch(none, []indexes.Query{q, q}, 1, nil, 1, one),
		"threads":        x.SearchBatch(none, []indexes.Query{q}, 1, nil, 0, one),
		"k":              x.SearchBatch(none, []indexes.Query{q}, 0, nil, 1, one),
		"dimension":      x.SearchBatch(none, []indexes.Query{{Vector: []float32{1}}}, 1, nil, 1, one),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := x.SearchBatch(none, nil, 1, nil, 1, nil); err != nil {
		t.Errorf("no queries: %v", err)
	}
	ctx, cancel := context.WithCancel(none)
	cancel()
	for _, vectors := range []*vector.Matrix{enginetest.Clustered(t, 20, 3, 1), enginetest.Matrix(t, []float32{1e30, 0, 0}, 3)} {
		err := newIndex(vectors, vector.L2).SearchBatch(ctx, []indexes.Query{q}, 1, nil, 1, one)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
}

func TestFilteredAllocatesNothing(t *testing.T) {
	base := enginetest.Clustered(t, 300, 16, 1)
	allowed := some(rand.New(rand.NewPCG(1, 2)), 300, 0.4)
	for _, m := range metrics {
		x, dst := newIndex(base, m), make([]indexes.Hit, 0, 10)
		allocs := testing.AllocsPerRun(100, func() {
			if _, err := x.SearchFiltered(indexes.Query{Vector: base.Row(0)}, 10, allowed, dst); err != nil {
				t.Fatal(err)
			}
		})
		if allocs >= 1 { // under -race a pool drops some of what it holds
			t.Errorf("%s: %v allocations a query", m, allocs)
		}
	}
}

func BenchmarkBatch(b *testing.B) {
	n, count := 20000, 200
	if testing.Short() {
		n, count = 2000, 20
	}
	base, asked := enginetest.Clustered(b, n, 128, 1), enginetest.Clustered(b, count, 128, 2)
	queries, dst := make([]indexes.Query, count), make([][]indexes.Hit, count)
	for i := range queries {
		queries[i].Vector = asked.Row(i)
	}
	for _, m := range metrics {
		x := newIndex(base, m)
		for _, batch := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/batch=%t", m, batch), func(b *testing.B) {
				for b.Loop() {
					if batch {
						if err := x.SearchBatch(b.Context(), queries, 10, nil, 1, dst); err != nil {
							b.Fatal(err)
						}
						continue
					}
					for i, q := range queries {
						var err error
						if dst[i], err = x.Search(q, 10, dst[i]); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(float64(count)*float64(b.N)/b.Elapsed().Seconds(), "queries/s")
				if got, want := ids(dst[0]), enginetest.Exact(base, m, asked.Row(0), 10); !slices.Equal(got, want) {
					b.Fatalf("wrong answer: %v, want %v", got, want)
				}
			})
		}
	}
}
