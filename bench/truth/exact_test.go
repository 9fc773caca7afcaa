package truth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"frontier/internal/kernels"
	"frontier/internal/vector"
)

var metrics = []vector.Metric{vector.L2, vector.IP, vector.Cosine}

// bruteForce sorts all rows of the base for each query by Distance, ties to the smaller id.
func bruteForce(base, queries *vector.Matrix, m vector.Metric, k int) *Neighbors {
	k = min(k, base.Len())
	out := &Neighbors{K: k}
	for q := range queries.Len() {
		distances, order := make([]float64, base.Len()), make([]int, base.Len())
		for i := range order {
			order[i], distances[i] = i, Distance(m, queries.Row(q), base.Row(i))
		}
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case distances[a] < distances[b]:
				return -1
			case distances[a] > distances[b]:
				return 1
			}
			return 0
		})
		for _, i := range order[:k] {
			out.IDs, out.Distances = append(out.IDs, int64(i)), append(out.Distances, distances[i])
		}
	}
	return out
}

// first is the k nearest of n.
func (n *Neighbors) first(k int) *Neighbors {
	out := &Neighbors{K: min(k, n.K)}
	for q := range n.Len() {
		ids, distances := n.Row(q)
		out.IDs, out.Distances = append(out.IDs, ids[:out.K]...), append(out.Distances, distances[:out.K]...)
	}
	return out
}

func matrix(t testing.TB, data []float32, dim int) *vector.Matrix {
	t.Helper()
	m, err := vector.NewMatrix(data, dim)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// adversary is a data set on which float32 search goes wrong. value makes dimension j of row i.
type adversary struct {
	name  string
	value func(rng *rand.Rand, i, j int) float64
}

func (a adversary) matrix(t *testing.T, rng *rand.Rand, rows, dim int) *vector.Matrix {
	data := make([]float32, rows*dim)
	for i := range data {
		data[i] = float32(a.value(rng, i/dim, i%dim))
	}
	return matrix(t, data, dim)
}

var adversaries = []adversary{
	{"gaussian", func(rng *rand.Rand, _, _ int) float64 { return rng.NormFloat64() }},
	{"duplicates", func(_ *rand.Rand, i, j int) float64 { return math.Sin(float64((i%7)*31 + j)) }},
	{"all rows equal", func(_ *rand.Rand, _, j int) float64 { return float64(j) - 0.3 }},
	{"ties on a grid", func(rng *rand.Rand, _, _ int) float64 { return float64(rng.IntN(3) - 1) }},
	{"zero vectors among others", func(rng *rand.Rand, i, _ int) float64 {
		if i%3 == 0 {
			return 0
		}
		return rng.NormFloat64()
	}},
	{"ties in a row", func(_ *rand.Rand, i, j int) float64 { return float64(i / 40 * (j%3 + 1)) }},
	{"squares underflow", func(rng *rand.Rand, _, _ int) float64 { return 1e-25 * rng.NormFloat64() }},
	{"subnormal", func(rng *rand.Rand, _, _ int) float64 { return 1e-42 * rng.NormFloat64() }},
	{"squares overflow", func(rng *rand.Rand, _, _ int) float64 { return 1e30 * rng.NormFloat64() }},
	{"norms from tiny to huge", func(rng *rand.Rand, i, _ int) float64 {
		return rng.NormFloat64() * math.Pow(10, float64(i%60)-30)
	}},
	{"far from the origin", func(rng *rand.Rand, _, _ int) float64 { return 1e4 + 1e-2*rng.NormFloat64() }},
	{"closer than float32 tells", func(rng *rand.Rand, _, _ int) float64 { return 1 + 1e-6*rng.NormFloat64() }},
	{"nearer and nearer", func(rng *rand.Rand, i, _ int) float64 { return 100/float64(i+1) + 1e-3*rng.NormFloat64() }},
}

func TestExactEqualsBruteForce(t *testing.T) {
	for _, set := range adversaries {
		dims := []int{1, 3, 17, 96, 1536}
		if testing.Short() {
			dims = []int{1, 17}
		}
		for _, dim := range dims {
			for _, m := range metrics {
				t.Run(fmt.Sprintf("%s/dim=%d/%s", set.name, dim, m), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(dim), 7))
					base, queries := set.matrix(t, rng, 401, dim), set.matrix(t, rng, 11, dim)
					all := bruteForce(base, queries, m, base.Len())
					for _, k := range []int{1, 10, 401, 1000} {
						got, err := Exact(t.Context(), base, queries, m, k, 3)
						if err != nil {
							t.Fatal(err)
						}
						equal(t, got, all.first(k))
					}
				})
			}
		}
	}
}

// Of sets this large, all but the first rows meet the sieve, where the machine has one.
func TestExactThroughTheSieveEqualsBruteForce(t *testing.T) {
	const rows, queries, k = 3000, 5, 8
	dims := []int{33, 128}
	if testing.Short() {
		dims = dims[1:]
	}
	for _, set := range adversaries {
		for _, dim := range dims {
			for _, m := range metrics {
				t.Run(fmt.Sprintf("%s/dim=%d/%s", set.name, dim, m), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(dim), 8))
					base, asked := set.matrix(t, rng, rows, dim), set.matrix(t, rng, queries, dim)
					s, err := NewScanner(asked, m, k, 2)
					if err != nil {
						t.Fatal(err)
					}
					if err := s.Add(t.Context(), base, 0); err != nil {
						t.Fatal(err)
					}
					equal(t, s.Neighbors(), bruteForce(base, asked, m, k))
					if set.name == "gaussian" && kernels.HasSieve() && s.search.Sieved() == 0 {
						t.Error("the sieve was not used")
					}
				})
			}
		}
	}
}

// Workers share the rows and the queries; that must not show.
func TestExactWithAnyWorkersEqualsBruteForce(t *testing.T) {
	const dim, rows = 5, 3*minShardRows + 17
	rng := rand.New(rand.NewPCG(3, 4))
	data := make([]float32, rows*dim)
	for i := range data {
		data[i] = float32(rng.IntN(5)) // many ties across shards
	}
	base := matrix(t, data, dim)
	for _, m := range metrics {
		for _, workers := range []int{1, 2, 8} {
			for _, count := range []int{1, 5} {
				queries := matrix(t, data[7*dim:(7+count)*dim], dim)
				got, err := Exact(t.Context(), base, queries, m, 20, workers)
				if err != nil {
					t.Fatal(err)
				}
				equal(t, got, bruteForce(base, queries, m, 20))
			}
		}
	}
}

func equal(t *testing.T, got, want *Neighbors) {
	t.Helper()
	if got.K != want.K || !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.Distances, want.Distances) {
		for q := range want.Len() {
			gotIDs, gotDistances := got.Row(q)
			wantIDs, wantDistances := want.Row(q)
			if !slices.Equal(gotIDs, wantIDs) {
				t.Fatalf("query %d: got ids %v at %v\nwant %v at %v", q, gotIDs, gotDistances, wantIDs, wantDistances)
			}
		}
		t.Fatalf("got K=%d and %d ids, want K=%d and %d", got.K, len(got.IDs), want.K, len(want.IDs))
	}
}

func TestExactRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	good := matrix(t, []float32{1, 2, 3, 4}, 2)
	for _, c := range []struct {
		name          string
		base, queries *vector.Matrix
		metric        vector.Metric
		k             int
		want          string
	}{
		{"k", good, good, vector.L2, 0, "k is 0"},
		{"empty base", matrix(t, nil, 2), good, vector.L2, 1, "no rows"},
		{"dimensions", good, matrix(t, []float32{1, 2, 3}, 3), vector.L2, 1, "2 dimensions and queries 3"},
		{"metric", good, good, "hamming", 1, `unknown metric "hamming"`},
		{"NaN in the base", matrix(t, []float32{1, 2, 3, nan}, 2), good, vector.L2, 1, "base row 1 holds NaN at dimension 1"},
		{"Inf in a query", good, matrix(t, []float32{inf, 2}, 2), vector.IP, 1, "query row 0 holds +Inf at dimension 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Exact(t.Context(), c.base, c.queries, c.metric, c.k, 1)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
	if got, err := Exact(t.Context(), good, matrix(t, nil, 2), vector.L2, 1, 1); err != nil || got.Len() != 0 || got.K != 1 {
		t.Errorf("no queries: got %v, %v; want no rows and no error", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Exact(ctx, good, good, vector.L2, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got error %v", err)
	}
}

func BenchmarkExact(b *testing.B) {
	const rows, count, dim, k = 20000, 64, 128, 10
	rng := rand.New(rand.NewPCG(8, 9))
	data := make([]float32, (rows+count)*dim)
	for i := range data {
		data[i] = float32(rng.NormFloat64())
	}
	base, queries := matrix(b, data[:rows*dim], dim), matrix(b, data[rows*dim:], dim)
	for _, m := range metrics {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", m, workers), func(b *testing.B) {
				var got *Neighbors
				for b.Loop() {
					var err error
					if got, err = Exact(b.Context(), base, queries, m, k, workers); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(2*rows*count*dim*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				want := bruteForce(base, matrix(b, queries.Row(count-1), dim), m, k)
				if ids, _ := got.Row(count - 1); !slices.Equal(ids, want.IDs) {
					b.Fatalf("wrong answer: %v, want %v", ids, want.IDs)
				}
			})
		}
	}
}
