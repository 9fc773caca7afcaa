package recall

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"frontier/internal/vector"
)

func TestQuery(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		trueIDs  []int64
		trueDist []float64
		gotIDs   []int64
		gotDist  []float64
		k        int
		want     ANN
	}{
		{
			"perfect",
			[]int64{1, 2, 3},
			[]float64{1, 2, 3},
			[]int64{1, 2, 3},
			[]float64{1, 2, 3},
			3,
			ANN{ByID: 1, ByDistance: 1, TieLow: 1, TieHigh: 1},
		},
		{
			"order does not matter",
			[]int64{1, 2, 3},
			[]float64{1, 2, 3},
			[]int64{3, 1, 2},
			[]float64{3, 1, 2},
			3,
			ANN{ByID: 1, ByDistance: 1, TieLow: 1, TieHigh: 1},
		},
		{
			"one wrong",
			[]int64{1, 2, 3, 4},
			[]float64{1, 2, 3, 4},
			[]int64{1, 2, 9, 4},
			[]float64{1, 2, 7, 4},
			4,
			ANN{ByID: .75, ByDistance: .75, TieLow: .75, TieHigh: .75},
		},
		{
			"longer lists are cut to k",
			[]int64{1, 2, 3, 4},
			[]float64{1, 2, 3, 4},
			[]int64{1, 9, 2, 3},
			[]float64{1, 7, 2, 3},
			2,
			ANN{ByID: .5, ByDistance: .5, TieLow: .5, TieHigh: .5},
		},
		{
			"a neighbour beyond k is no hit",
			[]int64{1, 2, 3},
			[]float64{1, 2, 3},
			[]int64{1, 3},
			[]float64{1, 3},
			2,
			ANN{ByID: .5, ByDistance: .5, TieLow: .5, TieHigh: .5},
		},
		{
			"another row as near as the k-th",
			[]int64{1, 2},
			[]float64{1, 2},
			[]int64{1, 9},
			[]float64{1, 2},
			2,
			ANN{ByID: .5, ByDistance: 1, TieLow: .5, TieHigh: 1},
		},
		{
			"within the relative tolerance",
			[]int64{1, 2},
			[]float64{1, 2e6},
			[]int64{1, 9},
			[]float64{1, 2e6 + 1},
			2,
			ANN{ByID: .5, ByDistance: 1, TieLow: .5, TieHigh: 1},
		},
		{
			"beyond the relative tolerance",
			[]int64{1, 2},
			[]float64{1e-9, 2e-9},
			[]int64{1, 9},
			[]float64{1e-9, 2.1e-9},
			2,
			ANN{ByID: .5, ByDistance: .5, TieLow: .5, TieHigh: .5},
		},
		{
			"negative distances: as near",
			[]int64{1, 2},
			[]float64{-9, -5},
			[]int64{1, 9},
			[]float64{-9, -5 + 1e-6},
			2,
			ANN{ByID: .5, ByDistance: 1, TieLow: .5, TieHigh: 1},
		},
		{
			"negative distances: further",
			[]int64{1, 2},
			[]float64{-9, -5},
			[]int64{1, 9},
			[]float64{-9, -4.9},
			2,
			ANN{ByID: .5, ByDistance: .5, TieLow: .5, TieHigh: .5},
		},
		{
			"k-th at distance zero",
			[]int64{1, 2, 3},
			[]float64{0, 0, 0},
			[]int64{3, 4},
			[]float64{0, 1e-12},
			2,
			ANN{ByID: 0, ByDistance: .5, TieLow: 0, TieHigh: .5},
		},
		{
			"perfect, but another order of the tie would miss one",
			[]int64{1, 2, 3},
			[]float64{1, 2, 2},
			[]int64{1, 2},
			[]float64{1, 2},
			2,
			ANN{ByID: 1, ByDistance: 1, TieLow: .5, TieHigh: 1},
		},
		{
			"ties that cannot all be missed",
			[]int64{1, 2, 3, 4},
			[]float64{2, 2, 2, 2},
			[]int64{4, 3, 2},
			[]float64{2, 2, 2},
			3,
			ANN{ByID: 2. / 3, ByDistance: 1, TieLow: 2. / 3, TieHigh: 1},
		},
		{
			"all tied for one place, the sure ones missed",
			[]int64{1, 2, 3, 4},
			[]float64{1, 1, 2, 2},
			[]int64{3, 4, 9},
			[]float64{2, 2, 9},
			3,
			ANN{ByID: 1. / 3, ByDistance: 2. / 3, TieLow: 1. / 3, TieHigh: 1. / 3},
		},
		{
			"padding",
			[]int64{1, 2, 3},
			[]float64{1, 2, 3},
			[]int64{1, -1, -1},
			[]float64{1, 0, nan},
			3,
			ANN{ByID: 1. / 3, ByDistance: 1. / 3, TieLow: 1. / 3, TieHigh: 1. / 3, Padding: 2, Short: 2},
		},
		{
			"duplicates count once",
			[]int64{1, 2, 3},
			[]float64{1, 2, 3},
			[]int64{1, 1, 1},
			[]float64{1, 1, 1},
			3,
			ANN{ByID: 1. / 3, ByDistance: 1. / 3, TieLow: 1. / 3, TieHigh: 1. / 3, Duplicates: 2, Short: 2},
		},
		{
			"duplicates outside the truth count once",
			[]int64{1, 2},
			[]float64{1, 2},
			[]int64{9, 9},
			[]float64{2, 2},
			2,
			ANN{ByID: 0, ByDistance: .5, TieLow: 0, TieHigh: .5, Duplicates: 1, Short: 1},
		},
		{
			"short",
			[]int64{1, 2, 3},
			[]float64{1, 2, 3},
			[]int64{2},
			[]float64{2},
			3,
			ANN{ByID: 1. / 3, ByDistance: 1. / 3, TieLow: 1. / 3, TieHigh: 1. / 3, Short: 2},
		},
		{"nothing", []int64{1, 2}, []float64{1, 2}, nil, nil, 2, ANN{Short: 2}},
		{
			"k beyond the base",
			[]int64{1, 2},
			[]float64{1, 2},
			[]int64{2, 1, -1, -1, -1},
			[]float64{2, 1, nan, nan, nan},
			5,
			ANN{ByID: 1, ByDistance: 1, TieLow: 1, TieHigh: 1, Padding: 3},
		},
		{
			"no distances: by id only",
			[]int64{1, 2},
			[]float64{1, 2},
			[]int64{1, 9},
			nil, 2,
			ANN{ByID: .5, ByDistance: .5, TieLow: .5, TieHigh: .5},
		},
		{"no truth", nil, nil, []int64{1}, []float64{1}, 2, ANN{ByID: nan, ByDistance: nan, TieLow: nan, TieHigh: nan}},
		{"k = 0", []int64{1}, []float64{1}, []int64{1}, []float64{1}, 0, ANN{ByID: nan, ByDistance: nan, TieLow: nan, TieHigh: nan}},
		{"k < 0", []int64{1}, []float64{1}, []int64{1}, []float64{1}, -1, ANN{ByID: nan, ByDistance: nan, TieLow: nan, TieHigh: nan}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Query(c.trueIDs, c.trueDist, c.gotIDs, c.gotDist, c.k)
			if !same(got, c.want) {
				t.Errorf("got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func same(a, b ANN) bool {
	near := func(x, y float64) bool { return math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) < 1e-12 }
	return near(a.ByID, b.ByID) && near(a.ByDistance, b.ByDistance) && near(a.TieLow, b.TieLow) && near(a.TieHigh, b.TieHigh) &&
		a.Padding == b.Padding && a.Duplicates == b.Duplicates && a.Short == b.Short
}

// With the whole base as truth the tie interval is found by trying all choices of tied rows.
func TestTieIntervalEqualsAllOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 5000 {
		n := 1 + rng.IntN(9)
		distances := make([]float64, n)
		for i := range distances {
			distances[i] = float64(rng.IntN(4)) - 1.5
		}
		slices.Sort(distances)
		ids := make([]int64, n)
		for i := range ids {
			ids[i] = int64(i)
		}
		k := 1 + rng.IntN(n)
		var gotIDs []int64
		var gotDist []float64
		for _, id := range rng.Perm(n)[:rng.IntN(k+1)] {
			gotIDs, gotDist = append(gotIDs, int64(id)), append(gotDist, distances[id])
		}
		got := Query(ids, distances, gotIDs, gotDist, k)

		low, high := 2.0, -1.0
		for chosen := range 1 << n {
			size, hits, valid := 0, 0, true
			for i := range n {
				in := chosen>>i&1 == 1
				if in {
					size++
					if slices.Contains(gotIDs, int64(i)) {
						hits++
					}
				}
				valid = valid && (in || distances[i] >= distances[k-1]) && (!in || distances[i] <= distances[k-1])
			}
			if valid && size == k {
				low, high = min(low, float64(hits)/float64(k)), max(high, float64(hits)/float64(k))
			}
		}
		if math.Abs(got.TieLow-low) > 1e-12 || math.Abs(got.TieHigh-high) > 1e-12 {
			t.Fatalf("trial %d: distances %v, k=%d, answer %v: interval [%v, %v], want [%v, %v]",
				trial, distances, k, gotIDs, got.TieLow, got.TieHigh, low, high)
		}
		if got.ByID < low || got.ByID > high || got.ByDistance < got.ByID {
			t.Fatalf("trial %d: %+v is not ordered", trial, got)
		}
	}
}

// Recall does not depend on names, on the scale of distances, or on how lists are looked up.
func TestQueryMetamorphic(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 3*scanLimit + rng.IntN(100)
		k := 1 + rng.IntN(2*scanLimit)
		distances := make([]float64, n)
		for i := range distances {
			distances[i] = float64(rng.IntN(n)) - 100.25
		}
		slices.Sort(distances)
		ids, renamed, scaled := make([]int64, n), make([]int64, n), make([]float64, n)
		for i := range ids {
			ids[i], renamed[i], scaled[i] = int64(i), int64(7*i+3), distances[i]*1024
		}
		var got, gotRenamed []int64
		var gotDist, gotScaled []float64
		for range k {
			i := rng.IntN(min(n, 2*k)) // repeats some
			got, gotDist = append(got, ids[i]), append(gotDist, distances[i])
			gotRenamed, gotScaled = append(gotRenamed, renamed[i]), append(gotScaled, scaled[i])
		}
		one := Query(ids, distances, got, gotDist, k)
		if other := Query(renamed, scaled, gotRenamed, gotScaled, k); !same(one, other) {
			t.Fatalf("renamed and scaled: %+v became %+v", one, other)
		}
		// Padding behind the answer changes nothing but its own count.
		padded := Query(ids, distances, append(slices.Clone(got[:k-1]), -1), gotDist, k)
		cut := Query(ids, distances, got[:k-1], gotDist[:k-1], k)
		if padded.Padding != 1 {
			t.Fatalf("padding counted %d times", padded.Padding)
		}
		if padded.Padding = 0; !same(padded, cut) {
			t.Fatalf("padded %+v, cut %+v", padded, cut)
		}
	}
}

func TestAnnBenchmarks(t *testing.T) {
	for _, c := range []struct {
		name            string
		metric          vector.Metric
		trueDist, found []float64
		k               int
		want            float64
	}{
		{"roots under l2", vector.L2, []float64{1, 4}, []float64{1, 4.003}, 2, 1},
		{"beyond", vector.L2, []float64{1, 4}, []float64{1, 4.005}, 2, .5},
		{"plain under cosine", vector.Cosine, []float64{.1, .2}, []float64{.1, .2009}, 2, 1},
		{"scale-dependent", vector.Cosine, []float64{1e-5, 2e-5}, []float64{5e-4, 6e-4}, 2, 1},
		{"short", vector.IP, []float64{-3, -2, -1}, []float64{-3}, 3, 1. / 3},
		{"cut to k", vector.IP, []float64{-3, -2, -1}, []float64{-3, -1, -1}, 2, .5},
		{"not a number", vector.IP, []float64{-3, -2}, []float64{-3, math.NaN()}, 2, .5},
		{"no truth", vector.IP, nil, []float64{1}, 2, math.NaN()},
		{"k = 0", vector.IP, []float64{1}, []float64{1}, 0, math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := AnnBenchmarks(c.metric, c.trueDist, c.found, c.k)
			if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSummarize(t *testing.T) {
	queries := make([]ANN, 40)
	for i := range queries {
		queries[i] = ANN{ByID: 1, ByDistance: 1, TieLow: .5, TieHigh: 1, Padding: 1, Short: 2}
	}
	queries[7].ByID, queries[30].ByID, queries[31].ByID, queries[7].Duplicates = .2, .4, .6, 3
	got := Summarize(queries)
	want := Summary{Queries: 40, ByID: 38.2 / 40, ByDistance: 1, TieLow: .5, TieHigh: 1, P05: .6, Padding: 40, Duplicates: 3, Short: 80}
	if math.Abs(got.ByID-want.ByID) > 1e-12 {
		t.Errorf("mean %v, want %v", got.ByID, want.ByID)
	}
	if got.ByID = want.ByID; got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if empty := Summarize(nil); !math.IsNaN(empty.ByID) || !math.IsNaN(empty.P05) {
		t.Errorf("no queries: %+v, want NaN", empty)
	}
}

func BenchmarkQuery(b *testing.B) {
	for _, k := range []int{10, 100, 1000} {
		ids, distances, got := make([]int64, k), make([]float64, k), make([]int64, k)
		for i := range ids {
			ids[i], distances[i], got[k-1-i] = int64(i), float64(i), int64(i+i%2*k)
		}
		b.Run(map[int]string{10: "k=10", 100: "k=100", 1000: "k=1000"}[k], func(b *testing.B) {
			var r ANN
			for b.Loop() {
				r = Query(ids, distances, got, nil, k)
			}
			if r.ByID != .5 {
				b.Fatalf("wrong answer %+v", r)
			}
		})
	}
}
