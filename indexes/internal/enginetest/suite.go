package enginetest

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/vector"
)

// Case is one way to use an engine.
type Case struct {
	Engine        indexes.Engine
	Params        param.Values // of building
	Search        param.Values
	Recall        float64 // recall@10 on sift5k that is expected at the least
	Clustered     float64 // the same on clustered Gaussians, for every metric; 0 means as Recall
	ScoreError    float64 // relative error of scores that is allowed; 0 means that scores are not checked, as they are of compressed vectors
	AllRows       bool    // k > n finds all rows
	MinRows       int     // fewest rows it can be built from
	Deterministic bool    // one thread, same seed: same answers
}

// Build builds, saves and loads an index of in with the case's parameters.
func (c Case) Build(t testing.TB, in indexes.Input) indexes.Index {
	t.Helper()
	x, _ := c.build(t, in)
	return x
}

func (c Case) build(t testing.TB, in indexes.Input) (indexes.Index, string) {
	t.Helper()
	params, err := param.Complete(c.Engine.Params, c.Params)
	if err != nil {
		t.Fatal(err)
	}
	search, err := param.Complete(c.Engine.Search, c.Search)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Engine.Check(params, search, in.Vectors.Len(), in.Vectors.Dim()); err != nil {
		t.Fatal(err)
	}
	in.Dir = t.TempDir()
	if in.Threads == 0 {
		in.Threads = 1
	}
	built, err := c.Engine.Build(context.Background(), in, params)
	if err != nil {
		t.Fatal(err)
	}
	if built.Bytes <= 0 {
		t.Errorf("built an index of %d bytes", built.Bytes)
	}
	return c.open(t, in, params, search), in.Dir
}

func (c Case) open(t testing.TB, in indexes.Input, params, search param.Values) indexes.Index {
	t.Helper()
	x, err := c.Engine.Load(context.Background(), in.Dir, in, params)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, _, err := x.Set(search, 10); err != nil {
		t.Fatal(err)
	}
	if x.Len() != in.Vectors.Len() {
		t.Errorf("the index has %d rows, not %d", x.Len(), in.Vectors.Len())
	}
	if x.Bytes() <= 0 {
		t.Errorf("the loaded index has %d bytes", x.Bytes())
	}
	return x
}

// Run is the whole suite.
func Run(t *testing.T, c Case) {
	if c.Clustered == 0 {
		c.Clustered = c.Recall
	}
	t.Run("sift", func(t *testing.T) { sift(t, c) })
	for _, m := range c.Engine.Metrics {
		t.Run(string(m), func(t *testing.T) { metric(t, c, m) })
	}
	t.Run("reload", func(t *testing.T) { reload(t, c) })
	t.Run("small", func(t *testing.T) { small(t, c) })
	t.Run("permuted", func(t *testing.T) { permuted(t, c) })
	t.Run("concurrent", func(t *testing.T) { concurrent(t, c) })
	t.Run("errors", func(t *testing.T) { refusals(t, c) })
}

func sift(t *testing.T, c Case) {
	base, queries := SIFT(t)
	x := c.Build(t, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 7, Threads: 2})
	recall := Recall(t, x, base, queries, vector.L2, 10)
	t.Logf("recall@10 on sift5k: %.4f; %d bytes", recall, x.Bytes())
	if recall < c.Recall {
		t.Errorf("recall@10 is %.4f, expected at least %.4f", recall, c.Recall)
	}
}

// metric checks recall and scores, with zero vectors and duplicates among the rows and a zero query.
func metric(t *testing.T, c Case, m vector.Metric) {
	const dim = 24
	base := Clustered(t, 1500, dim, 3)
	values := slices.Clone(base.Rows(0, base.Len()))
	clear(values[5*dim : 7*dim])
	for i := 10; i < 14; i++ {
		copy(values[i*dim:(i+1)*dim], values[9*dim:10*dim])
	}
	base, queries := Matrix(t, values, dim), Clustered(t, 50, dim, 4)
	x := c.Build(t, indexes.Input{Vectors: base, Metric: m, Seed: 7})
	if recall := Recall(t, x, base, queries, m, 10); recall < c.Clustered {
		t.Errorf("recall@10 is %.4f, expected at least %.4f", recall, c.Clustered)
	}
	for i := range queries.Len() {
		q := queries.Row(i)
		hits := search(t, x, q, 10, base.Len())
		for _, h := range hits {
			want := Score(m, q, base.Row(int(h.ID)))
			if c.ScoreError > 0 && math.Abs(float64(h.Score)-want) > c.ScoreError*max(1, math.Abs(want)) {
				t.Fatalf("query %d: row %d has score %v, expected %v", i, h.ID, h.Score, want)
			}
		}
	}
	search(t, x, make([]float32, dim), 10, base.Len()) // a zero query gets some order, and no NaN
}

// search also checks that the query was left as it was.
func search(t testing.TB, x indexes.Index, q []float32, k, rows int) []indexes.Hit {
	t.Helper()
	before := slices.Clone(q)
	hits, err := x.Search(indexes.Query{Vector: q}, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, q) {
		t.Fatal("searching changed the query")
	}
	checkHits(t, hits, k, rows)
	return hits
}

// reload checks that a folder loaded twice answers the same, and that it does when built twice if the case says so.
func reload(t *testing.T, c Case) {
	base, queries := Clustered(t, 1000, 16, 5), Clustered(t, 30, 16, 6)
	in := indexes.Input{Vectors: base, Metric: vector.L2, Seed: 11, Threads: 1}
	first, dir := c.build(t, in)
	others := map[string]indexes.Index{}
	if c.Deterministic {
		others["built again"] = c.Build(t, in)
		params, _ := param.Complete(c.Engine.Params, c.Params)
		effective, _ := param.Complete(c.Engine.Search, c.Search)
		in.Dir = dir
		others["loaded again"] = c.open(t, in, params, effective)
	}
	for how, other := range others {
		for i := range queries.Len() {
			a, b := search(t, first, queries.Row(i), 10, base.Len()), search(t, other, queries.Row(i), 10, base.Len())
			if !slices.Equal(a, b) {
				t.Fatalf("%s: query %d: %v, then %v", how, i, a, b)
			}
		}
	}
}

// small asks for more hits than there are rows.
func small(t *testing.T, c Case) {
	n := max(3, c.MinRows)
	base := Clustered(t, n, 16, 8)
	x := c.Build(t, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1})
	hits := search(t, x, base.Row(0), n+50, n)
	if len(hits) == 0 || (c.AllRows && len(hits) != n) {
		t.Errorf("%d of %d rows found", len(hits), n)
	}
	if c.ScoreError > 0 && c.AllRows && hits[0].ID != 0 {
		t.Errorf("row 0 is not its own nearest neighbour: %v", hits[0])
	}
	room := make([]indexes.Hit, 2, 64)
	if got, err := x.Search(indexes.Query{Vector: base.Row(1)}, 1, room); err != nil || len(got) != 1 || &got[0] != &room[0] {
		t.Errorf("with room for it, the answer is not in the caller's slice: %v, %v", got, err)
	}
}

// permuted checks that the order of the rows does not matter for how good the answers are.
func permuted(t *testing.T, c Case) {
	const n, dim = 1500, 16
	base, queries := Clustered(t, n, dim, 9), Clustered(t, 40, dim, 10)
	values := make([]float32, 0, n*dim)
	for _, i := range rand.New(rand.NewPCG(3, 3)).Perm(n) {
		values = append(values, base.Row(i)...)
	}
	shuffled := Matrix(t, values, dim)
	x := c.Build(t, indexes.Input{Vectors: shuffled, Metric: vector.L2, Seed: 2})
	if recall := Recall(t, x, shuffled, queries, vector.L2, 10); recall < c.Clustered {
		t.Errorf("recall@10 of shuffled rows is %.4f, expected at least %.4f", recall, c.Clustered)
	}
}

func concurrent(t *testing.T, c Case) {
	base, queries := Clustered(t, 800, 16, 12), Clustered(t, 40, 16, 13)
	x := c.Build(t, indexes.Input{Vectors: base, Metric: c.Engine.Metrics[len(c.Engine.Metrics)-1], Seed: 3})
	alone := make([][]indexes.Hit, queries.Len())
	for i := range alone {
		alone[i] = search(t, x, queries.Row(i), 10, base.Len())
	}
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			var hits []indexes.Hit
			for j := range 3 * len(alone) {
				i := (j + 7*g) % len(alone)
				var err error
				if hits, err = x.Search(indexes.Query{Vector: queries.Row(i)}, 10, hits); err != nil {
					t.Error(err)
					return
				}
				if c.Deterministic && !slices.Equal(hits, alone[i]) {
					t.Errorf("query %d: %v beside others, %v alone", i, hits, alone[i])
					return
				}
			}
		})
	}
	wait.Wait()
}

func refusals(t *testing.T, c Case) {
	base := Clustered(t, max(300, c.MinRows), 16, 14)
	params, err := param.Complete(c.Engine.Params, c.Params)
	if err != nil {
		t.Fatal(err)
	}
	in := indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1, Threads: 1}
	x, dir := c.build(t, in)
	for what, q := range map[string][]float32{"too short": make([]float32, 15), "too long": make([]float32, 17), "missing": nil} {
		if _, err := x.Search(indexes.Query{Vector: q}, 10, nil); err == nil {
			t.Errorf("a query that is %s is not refused", what)
		}
	}
	for _, k := range []int{0, -1} {
		if _, err := x.Search(indexes.Query{Vector: base.Row(0)}, k, nil); err == nil {
			t.Errorf("k = %d is not refused", k)
		}
	}
	var wrong *param.Error
	if _, _, err := x.Set(param.Values{"no_such_parameter": int64(1)}, 10); !errors.As(err, &wrong) {
		t.Errorf("an unknown search parameter gives %v", err)
	}
	if err := c.Engine.Check(params, param.Values{}, -1, 0); !errors.As(err, &wrong) {
		t.Errorf("dimension 0 gives %v", err)
	}
	refuseBuilds(t, c, in, params)
	refuseLoads(t, c, in, params, dir)
}

func refuseBuilds(t *testing.T, c Case, in indexes.Input, params param.Values) {
	in.Dir = t.TempDir()
	build := func(what string, in indexes.Input) {
		if _, err := c.Engine.Build(context.Background(), in, params); err == nil {
			t.Errorf("building with %s is not refused", what)
		}
	}
	none, other, idle, nowhere := in, in, in, in
	none.Vectors = nil
	build("no vectors", none)
	other.Metric = "hamming"
	build("a foreign metric", other)
	idle.Threads = 0
	build("no threads", idle)
	nowhere.Dir = in.Dir + "/absent"
	build("no folder", nowhere)
}

func refuseLoads(t *testing.T, c Case, in indexes.Input, params param.Values, dir string) {
	load := func(what, dir string, in indexes.Input) {
		x, err := c.Engine.Load(context.Background(), dir, in, params)
		if err == nil {
			t.Errorf("loading %s is not refused", what)
			_ = x.Close()
		}
	}
	load("an empty folder", t.TempDir(), in)
	wrongDim, wrongRows, wrongMetric := in, in, in
	wrongDim.Vectors = Clustered(t, in.Vectors.Len(), 8, 1)
	load("an index of another dimension", dir, wrongDim)
	wrongRows.Vectors = Clustered(t, in.Vectors.Len()+1, 16, 1)
	load("an index of other rows", dir, wrongRows)
	wrongMetric.Metric = vector.Cosine
	load("an index of another metric", dir, wrongMetric)
}
