package knn

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"frontier/internal/kernels"
	"frontier/internal/vector"
)

func TestMain(m *testing.M) {
	if err := kernels.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

var metrics = []vector.Metric{vector.L2, vector.IP, vector.Cosine}

// exact ranks by sorting all that it was handed, and counts it.
type exact struct {
	metric        vector.Metric
	queries, rows *vector.Matrix
	k             int
	handed        []map[int]float64 // of each query, by row
	count         atomic.Int64
	t             testing.TB
}

func newExact(t testing.TB, m vector.Metric, queries, rows *vector.Matrix, k int) *exact {
	e := &exact{metric: m, queries: queries, rows: rows, k: k, handed: make([]map[int]float64, queries.Len()), t: t}
	for q := range e.handed {
		e.handed[q] = map[int]float64{}
	}
	return e
}

func distance(m vector.Metric, a, b []float32) float64 {
	switch m {
	case vector.L2:
		return kernels.SquaredL264(a, b)
	case vector.IP:
		return -kernels.Dot64(a, b)
	}
	aa, bb := kernels.Dot64(a, a), kernels.Dot64(b, b)
	if aa == 0 || bb == 0 {
		return 1
	}
	return 1 - kernels.Dot64(a, b)/math.Sqrt(aa*bb)
}

func (e *exact) Rank(query int, rows []int32) {
	e.count.Add(int64(len(rows)))
	for _, row := range rows {
		if _, twice := e.handed[query][int(row)]; twice {
			e.t.Errorf("row %d was handed on twice for query %d", row, query)
		}
		e.handed[query][int(row)] = distance(e.metric, e.queries.Row(query), e.rows.Row(int(row)))
	}
}

func (e *exact) Worst(query int) float64 {
	if len(e.handed[query]) < e.k {
		return math.Inf(1)
	}
	var all []float64
	for _, d := range e.handed[query] {
		all = append(all, d)
	}
	slices.Sort(all)
	return all[e.k-1]
}

// check fails if a row that is among the k nearest allowed ones was not handed on.
func (e *exact) check(allowed func(int) bool) {
	e.t.Helper()
	for q := range e.queries.Len() {
		var all []float64
		for row := range e.rows.Len() {
			if allowed == nil || allowed(row) {
				all = append(all, distance(e.metric, e.queries.Row(q), e.rows.Row(row)))
			}
		}
		if len(all) == 0 {
			continue
		}
		slices.Sort(all)
		worst := all[min(e.k, len(all))-1]
		within := 0
		for row := range e.rows.Len() {
			_, handed := e.handed[q][row]
			if allowed != nil && !allowed(row) {
				if handed {
					e.t.Fatalf("row %d was handed on and is not allowed", row)
				}
				continue
			}
			if d := distance(e.metric, e.queries.Row(q), e.rows.Row(row)); d <= worst {
				within++
				if !handed && kernels.Norm(e.queries.Row(q)) != 0 {
					e.t.Fatalf("query %d: row %d at distance %v was not handed on; the %d-th is at %v", q, row, d, e.k, worst)
				}
			}
		}
	}
}

func gaussian(t testing.TB, rows, dim int, offset float64, seed uint64) *vector.Matrix {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	data := make([]float32, rows*dim)
	for i := range data {
		data[i] = float32(rng.NormFloat64() + offset)
	}
	m, err := vector.NewMatrix(data, dim)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// search hands all rows to e.
func search(t testing.TB, e *exact, workers int, allowed func(int) bool) *Search {
	t.Helper()
	return searchWith(t, New(e.config(workers)), e, allowed)
}

func (e *exact) config(workers int) Config {
	return Config{Queries: e.queries, Metric: e.metric, K: e.k, Workers: workers, Ranker: e}
}

func searchWith(t testing.TB, s *Search, e *exact, allowed func(int) bool) *Search {
	t.Helper()
	if err := s.Add(t.Context(), e.rows, allowed); err != nil {
		t.Fatal(err)
	}
	return s
}

// Hardly more than the nearest may be handed on, whether the rows lie around the origin or far from it, and in whatever
// order: the rest is what makes the search fast.
func TestAlmostEverythingIsRefused(t *testing.T) {
	const queries, k = 40, 10
	rows := 20000
	if testing.Short() {
		rows = 4000
	}
	for _, dim := range []int{16, 100} {
		for _, offset := range []float64{0, 1e4} {
			for _, m := range metrics {
				if m == vector.Cosine && offset > 0 {
					continue // all cosines are then 1 for float32
				}
				t.Run(fmt.Sprintf("%s/dim=%d/offset=%g", m, dim, offset), func(t *testing.T) {
					asked, base := gaussian(t, queries, dim, offset, 1), gaussian(t, rows, dim, offset, 2)
					for _, sieve := range []bool{false, true} {
						e := newExact(t, m, asked, base, k)
						s := searchWith(t, newSearch(e.config(2), sieve, 8<<10), e, nil)
						e.check(nil)
						if handed := e.count.Load(); handed > queries*(k+k/2) {
							t.Errorf("sieve %v: %d rows were handed on, for %d queries and k = %d", sieve, handed, queries, k)
						}
						if (s.Sieved() > 0) != sieve {
							t.Errorf("sieve %v: used %d times", sieve, s.Sieved())
						}
					}
				})
			}
		}
	}
}

// Rows each nearer than those before all reach the limit at first.
func TestRowsInOrderAreRefused(t *testing.T) {
	const rows, dim, k = 60000, 4, 10
	data := make([]float32, rows*dim)
	for i := range data {
		data[i] = float32(rows - i/dim)
	}
	base, err := vector.NewMatrix(data, dim)
	if err != nil {
		t.Fatal(err)
	}
	for _, sieve := range []bool{false, true} {
		e := newExact(t, vector.L2, gaussian(t, 5, dim, 0, 1), base, k)
		searchWith(t, newSearch(e.config(1), sieve, tileBytes), e, nil)
		e.check(nil)
		if handed := e.count.Load(); handed > 5*rows/100 {
			t.Errorf("sieve %v: %d rows were handed on for 5 queries", sieve, handed)
		}
	}
}

func TestOnlyAllowedRowsAreHandedOn(t *testing.T) {
	queries, rows := gaussian(t, 37, 9, 0, 1), gaussian(t, 3000, 9, 0, 2)
	for _, m := range metrics {
		for _, keep := range []int{1, 7, 2999, 10000} {
			allowed := func(row int) bool { return row%keep == keep-1 }
			for _, sieve := range []bool{false, true} {
				e := newExact(t, m, queries, rows, 5)
				searchWith(t, newSearch(e.config(2), sieve, 1<<10), e, allowed)
				e.check(allowed)
			}
		}
	}
}

func TestBlocksOfQueries(t *testing.T) {
	const dim = 30000
	block := blockQueries(dim, 2)
	queries, rows := gaussian(t, block+5, dim, 0, 1), gaussian(t, 50, dim, 0, 2)
	e := newExact(t, vector.L2, queries, rows, 2)
	search(t, e, 2, nil)
	e.check(nil)
}

func TestSampledFirstIsAPermutation(t *testing.T) {
	for n := range 200 {
		seen := make([]bool, n)
		for i := range n {
			at := sampledFirst(i, n)
			if at < 0 || at >= n || seen[at] {
				t.Fatalf("place %d of %d is %d", i, n, at)
			}
			seen[at] = true
		}
	}
}

func TestLargestEqualsSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		values := make([]float32, 1+rng.IntN(40))
		orders := make([]int64, len(values))
		for i := range values {
			values[i] = float32(rng.IntN(12)-6) / 3
			switch rng.IntN(10) {
			case 0:
				values[i] = float32(math.Inf(rng.IntN(2)*2 - 1))
			case 1:
				values[i] *= 1e-44
			case 2:
				values[i] *= 1e38
			}
			orders[i] = order(values[i])
			if got := ordered(orders[i]); got != values[i] {
				t.Fatalf("the order of %v is that of %v", values[i], got)
			}
		}
		slices.Sort(values)
		k := 1 + rng.IntN(len(values))
		if got := ordered(largest(orders, k)); got != values[len(values)-k] {
			t.Fatalf("the %d-th largest is %v, want that of %v", k, got, values)
		}
	}
}

func TestRoundingIsDirected(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		v        float64
		down, up float32
	}{
		{0, 0, 0},
		{1e-300, 0, math.SmallestNonzeroFloat32},
		{-1e-300, -math.SmallestNonzeroFloat32, 0},
		{math.Inf(1), inf, inf},
		{math.Inf(-1), -inf, -inf},
		{1e300, math.MaxFloat32, inf},
		{-1e300, -inf, -math.MaxFloat32},
	} {
		if down, up := roundDown(c.v), roundUp(c.v); down != c.down || up != c.up {
			t.Errorf("%v lies between %v and %v, want %v and %v", c.v, down, up, c.down, c.up)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		v := rng.NormFloat64() * math.Pow(10, 90*rng.Float64()-45)
		down, up := roundDown(v), roundUp(v)
		if float64(down) > v || float64(up) < v || up != down && math.Nextafter32(down, up) != up {
			t.Fatalf("%v lies between %v and %v", v, down, up)
		}
	}
}

// The bounds are what makes answers exact: they are tested as such, with the scores of the kernels and distances in
// float64, on rows and queries for which float32 is at its worst.
func TestScoresStayWithinTheirBounds(t *testing.T) {
	dims := []int{1, 3, 17, 96, 700}
	if testing.Short() {
		dims = []int{1, 3, 17, 96}
	}
	for _, dim := range dims {
		for _, size := range []float64{1e-42, 1e-25, 1, 1e15, 1e30} {
			for _, offset := range []float64{0, 1, 1e4} {
				for _, m := range metrics {
					t.Run(fmt.Sprintf("%s/dim=%d/size=%g/offset=%g", m, dim, size, offset), func(t *testing.T) {
						checkBounds(t, m, dim, size, offset, false)
						checkBounds(t, m, dim, size, offset, true)
					})
				}
			}
		}
	}
}

// checkBounds compares rows and queries of the given size, or of ever smaller ones.
func checkBounds(t *testing.T, m vector.Metric, dim int, size, offset float64, shrinking bool) {
	base, asked := scaled(t, 30, dim, size, offset, shrinking, 1), scaled(t, 4, dim, size, offset, shrinking, 2)
	b := newBounds(t, m, base, asked)
	b.checkScores()
	b.checkSieve()
}

func scaled(t *testing.T, n, dim int, size, offset float64, shrinking bool, seed uint64) *vector.Matrix {
	data := gaussian(t, n, dim, offset, seed).Rows(0, n)
	for i := range data {
		data[i] = float32(float64(data[i]) * size)
		if !shrinking {
			continue
		}
		data[i] *= float32(math.Pow(10, -1.5*float64(i/dim)))
		if i/dim%2 == 1 { // each with its opposite, so that the mean does not hide the small ones
			data[i] = -data[i-dim]
		}
	}
	matrix, err := vector.NewMatrix(data, dim)
	if err != nil {
		t.Fatal(err)
	}
	return matrix
}

// bounds is a Search with rows in the tile of its worker and queries in its panel.
type bounds struct {
	*testing.T
	*Search
	w           *worker
	p           *panel
	base, asked *vector.Matrix
	rows        int
}

func newBounds(t *testing.T, m vector.Metric, base, asked *vector.Matrix) *bounds {
	return newBoundsIn(t, m, base, asked, func(s *Search) {
		s.space.moveTo(base)
		s.chooseStep(s.workers[0], base)
	})
}

// newBoundsIn takes space and step as move makes them.
func newBoundsIn(t *testing.T, m vector.Metric, base, asked *vector.Matrix, move func(s *Search)) *bounds {
	t.Helper()
	queries := slices.Repeat(asked.Rows(0, asked.Len()), kernels.TileShape().Queries)
	all, err := vector.NewMatrix(queries[:kernels.TileShape().Queries*asked.Dim()], asked.Dim())
	if err != nil {
		t.Fatal(err)
	}
	e := newExact(t, m, all, base, 1)
	s := newSearch(e.config(1), true, 1<<17)
	move(s)
	b := &bounds{t, s, s.workers[0], &s.panels[0], base, all, 0}
	s.begin(b.w, base, nil, b.p, 0, all.Len())
	if b.rows, err = s.fill(b.w, base, nil, 0, min(base.Len(), b.w.tile.Cap())); err != nil {
		t.Fatal(err)
	}
	s.roundRows(b.w, b.rows)
	return b
}

func (b *bounds) distance(row, query int) float64 {
	return distance(b.space.metric, b.asked.Row(query), b.base.Row(row))
}

// checkScores fails if a score and its bounds exclude what follows from the distance.
func (b *bounds) checkScores() {
	b.Helper()
	limits := slices.Repeat([]float32{float32(math.Inf(-1))}, b.asked.Len())
	for _, sieve := range []bool{false, true} {
		if sieve {
			b.w.sifted.Sieve(b.p.bytes, b.w.bytes, limits)
			b.w.sifted.Rescore(b.p.bytes, b.w.bytes, limits)
		} else {
			b.w.sifted.Sift(b.p.packed, b.w.tile, limits)
		}
		if b.w.sifted.Rows() < b.rows {
			b.Fatalf("sieve %v: %d of %d rows reach a limit of -Inf", sieve, b.w.sifted.Rows(), b.rows)
		}
		for i := range b.w.sifted.Rows() {
			row, mask, scores := b.w.sifted.Row(i)
			if row >= b.rows {
				continue
			}
			if bits.OnesCount32(mask) != len(limits) {
				b.Fatalf("sieve %v: of row %d, %b reach a limit of -Inf", sieve, row, mask)
			}
			for j, score := range scores {
				q := &b.p.queries[j]
				want := q.origin - q.factor*b.distance(row, j)
				slack := float64(b.w.slacks[row])
				upper, lower := float64(score)+q.slack, float64(score)-slack-q.slack
				if upper < want || lower > want { // neither where there is no bound
					b.Fatalf("sieve %v, row %d: the score %v, with slacks of %v and %v, excludes %v, which follows from the distance %v",
						sieve, row, score, slack, q.slack, want, b.distance(row, j))
				}
			}
		}
	}
}

// checkSieve fails if a row that is as near as the limit is refused. It makes each row the limit once.
func (b *bounds) checkSieve() {
	b.Helper()
	limits := make([]float32, b.asked.Len())
	for row := range b.rows {
		for j := range limits {
			limits[j] = b.space.limit(&b.p.queries[j], b.distance(row, j))
		}
		b.w.sifted.Sieve(b.p.bytes, b.w.bytes, limits)
		var mask uint32
		for i := range b.w.sifted.Rows() {
			if at, m, _ := b.w.sifted.Row(i); at == row {
				mask = m
			}
		}
		for j := range limits {
			if q := &b.p.queries[j]; q.id >= 0 && mask>>j&1 == 0 {
				b.Fatalf("row %d is refused for query %d, where it is at the limit %v", row, j, limits[j])
			}
		}
	}
}
