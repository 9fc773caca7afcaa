package faiss

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"frontier/indexes"
	"frontier/indexes/internal/enginetest"
	"frontier/internal/param"
	"frontier/internal/vector"
)

func skipAbsent(t testing.TB) {
	if absent != "" {
		t.Skip(absent)
	}
}

func suite(factory string, recall float64, search param.Values) enginetest.Case {
	return enginetest.Case{
		Engine: Engine(), Params: param.Values{"factory": factory}, Search: search,
		Recall: recall, AllRows: true, Deterministic: true,
	}
}

func TestSuite(t *testing.T) {
	skipAbsent(t)
	exact := suite("Flat", 1, nil)
	exact.ScoreError = 1e-5
	graph := suite("HNSW16", 0.95, param.Values{"ef_search": int64(128)})
	graph.ScoreError = 1e-5
	ivf := suite("IVF16,Flat", 0.95, param.Values{"nprobe": int64(8)})
	ivf.ScoreError, ivf.AllRows, ivf.MinRows = 1e-5, false, 40
	ivfPQ := suite("PCAR8,IVF4,PQ8x4np,RFlat", 0.8, param.Values{"nprobe": int64(4), "k_factor": 20.0})
	ivfPQ.AllRows, ivfPQ.MinRows = false, 40
	for name, c := range map[string]enginetest.Case{
		"flat": exact, "hnsw": graph, "ivf": ivf, "pca_ivf_pq_refine": ivfPQ,
	} {
		t.Run(name, func(t *testing.T) { enginetest.Run(t, c) })
	}
}

func TestAbsentSaysHowToGetIt(t *testing.T) {
	if absent == "" {
		t.Skip("this binary has FAISS")
	}
	_, errBuild := Engine().Build(context.Background(), indexes.Input{}, nil)
	_, errLoad := Engine().Load(context.Background(), "", indexes.Input{}, nil)
	for _, err := range []error{errBuild, errLoad} {
		if err == nil || !strings.Contains(err.Error(), "-tags faiss") {
			t.Errorf("error is %v", err)
		}
	}
}

func TestFlatIDsAreExact(t *testing.T) {
	skipAbsent(t)
	base, queries := enginetest.SIFT(t)
	x := suite("Flat", 1, nil).Build(t, indexes.Input{Vectors: base, Metric: vector.L2})
	for i := range queries.Len() {
		hits, err := x.Search(indexes.Query{Vector: queries.Row(i)}, 10, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, h := range hits {
			got = append(got, h.ID)
		}
		if want := enginetest.Exact(base, vector.L2, queries.Row(i), 10); !slices.Equal(got, want) {
			t.Fatalf("query %d: %v, expected %v", i, got, want)
		}
	}
}

// A search parameter reaches the index through whatever is wrapped around it, and a point does not inherit from the
// point before it.
func TestSearchParametersTakeEffect(t *testing.T) {
	skipAbsent(t)
	base, queries := enginetest.SIFT(t)
	for _, c := range []struct {
		factory string
		high    param.Values
		gain    float64
	}{
		{"IVF64,Flat", param.Values{"nprobe": int64(64)}, 0.1},
		{"PCA64,IVF64,SQ8", param.Values{"nprobe": int64(64)}, 0.1},
		{"HNSW4", param.Values{"ef_search": int64(400)}, 0.02},
		{"PQ8x5np,RFlat", param.Values{"k_factor": 30.0}, 0.1},
	} {
		x := suite(c.factory, 0, nil).Build(t, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1, Threads: 2})
		measure := func(search param.Values) float64 {
			effective, _, err := x.Set(search, 10)
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range search {
				if effective[name] != want {
					t.Errorf("%s: set %v, effective %v", c.factory, search, effective)
				}
			}
			return enginetest.Recall(t, x, base, queries, vector.L2, 10)
		}
		low := measure(param.Values{})
		high := measure(c.high)
		again := measure(nil)
		t.Logf("%s: recall@10 %.3f, with %v %.3f", c.factory, low, c.high, high)
		if high < low+c.gain || again != low {
			t.Errorf("%s: recall@10 is %.3f by default, %.3f with %v, then %.3f by default", c.factory, low, high, c.high, again)
		}
	}
}

// Kinds of index beyond those of the suite can be built, saved, loaded and searched.
func TestOtherFactories(t *testing.T) {
	skipAbsent(t)
	base, queries := enginetest.Clustered(t, 500, 8, 1), enginetest.Clustered(t, 20, 8, 2)
	for factory, recall := range map[string]float64{
		"IDMap,Flat": 1, "IDMap2,IVF4,Flat": 0.5, "SQ8": 0.9, "SQfp16": 0.95, "L2norm,Flat": 0.2, "LSH": 0.02, "NSG8,Flat": 0.5, "HNSW8,SQ8": 0.8,
		"IVF4_HNSW8,SQ4": 0.4, "IVF4,PQ4+4": 0.3, "IVF4,PQ4x4fs,Refine(SQ8)": 0.1, "OPQ2_4,PQ4x4np": 0.05, "RQ2x4": 0.05,
	} {
		x := suite(factory, 0, nil).Build(t, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1, Threads: 2})
		if got := enginetest.Recall(t, x, base, queries, vector.L2, 10); got < recall {
			t.Errorf("%s: recall@10 is %.3f, expected at least %.3f", factory, got, recall)
		}
	}
}

func TestEffectiveParameters(t *testing.T) {
	skipAbsent(t)
	base := enginetest.Clustered(t, 400, 16, 1)
	for factory, want := range map[string]string{
		"Flat":               `{}`,
		"HNSW8":              `{"ef_search":16}`,
		"IVF4,Flat":          `{"nprobe":1}`,
		"IVF4_HNSW8,Flat":    `{"nprobe":1,"quantizer_ef_search":16}`,
		"IVF4,PQ4x4np,RFlat": `{"k_factor":1,"nprobe":1}`,
		"IVF4,PQ4+4":         `{"k_factor":1,"nprobe":1}`,
		"IVF4(HNSW8),Flat":   `{"nprobe":1,"quantizer_ef_search":16}`,
		"IDMap,IVF4,Flat":    `{"nprobe":1}`,
		"IVF4,PQ4x4fs,RFlat": `{"k_factor":1,"nprobe":1}`,
	} {
		x := suite(factory, 0, nil).Build(t, indexes.Input{Vectors: base, Metric: vector.L2})
		effective, _, err := x.Set(nil, 10)
		if err != nil {
			t.Errorf("%s: %v", factory, err)
		} else if got := effective.Canonical(); got != want {
			t.Errorf("%s: effective %s, expected %s", factory, got, want)
		}
	}
}

// FAISS keeps an efSearch below k, as the warning says: the recall of such a search is lower than with efSearch = k.
func TestLowEfSearchIsKeptAndWarnedAbout(t *testing.T) {
	skipAbsent(t)
	base, queries := enginetest.SIFT(t)
	x := suite("HNSW8", 0, nil).Build(t, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1, Threads: 2})
	recall := func(ef int64, warns int) float64 {
		effective, warnings, err := x.Set(param.Values{"ef_search": ef}, 100)
		if err != nil || len(warnings) != warns || effective["ef_search"] != ef {
			t.Fatalf("ef_search %d: effective %v, warnings %q, error %v", ef, effective, warnings, err)
		}
		return enginetest.Recall(t, x, base, queries, vector.L2, 100)
	}
	low, equal := recall(4, 1), recall(100, 0)
	t.Logf("recall@100: %.3f with efSearch 4, %.3f with efSearch 100", low, equal)
	if low > equal-0.1 {
		t.Errorf("recall@100 is %.3f with efSearch 4 and %.3f with efSearch 100", low, equal)
	}
}

func TestUnknownFactoryIsRefusedBeforeBuilding(t *testing.T) {
	skipAbsent(t)
	for _, dim := range []int{-1, 128} {
		var wrong *param.Error
		err := check(param.Values{"factory": "IVF8,Flatt"}, nil, -1, dim)
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Msg, "Flatt") {
			t.Errorf("dimension %d: error is %v", dim, err)
		}
	}
}

func TestTraining(t *testing.T) {
	skipAbsent(t)
	in := indexes.Input{Vectors: enginetest.Clustered(t, 400, 16, 1), Metric: vector.L2, Threads: 1}
	for factory, want := range map[string]struct {
		trains bool
		warns  int
	}{"Flat": {false, 0}, "HNSW8": {false, 0}, "IVF8,Flat": {true, 0}, "IVF32,Flat": {true, 1}, "SQ8": {true, 0}, "PQ2x2": {true, 1}, "PQ2x2np": {true, 0}} {
		in.Dir = t.TempDir()
		built, err := Engine().Build(context.Background(), in, param.Values{"factory": factory})
		if err != nil {
			t.Fatal(err)
		}
		if trains := !math.IsNaN(built.TrainSeconds); trains != want.trains || len(built.Warnings) != want.warns {
			t.Errorf("%s: trained %v s, warnings %q", factory, built.TrainSeconds, built.Warnings)
		}
	}
}

// The seed must reach k-means and the graph: equal seeds agree (see the suite) and different ones differ.
func TestSeedMatters(t *testing.T) {
	skipAbsent(t)
	base := enginetest.Clustered(t, 1000, 16, 1)
	for _, factory := range []string{"IVF32,Flat", "HNSW4", "PQ4x4np", "PCA8,IVF4,PQ4x4np,RFlat"} {
		var saved [2][]byte
		for i := range saved {
			in := indexes.Input{Vectors: base, Metric: vector.L2, Threads: 1, Dir: t.TempDir(), Seed: uint64(i)}
			if _, err := Engine().Build(context.Background(), in, param.Values{"factory": factory}); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(filepath.Join(in.Dir, "faiss.index"))
			if err != nil {
				t.Fatal(err)
			}
			saved[i] = raw
		}
		if slices.Equal(saved[0], saved[1]) {
			t.Errorf("%s: two seeds give the same index", factory)
		}
	}
}

func TestDamagedFileIsRefused(t *testing.T) {
	skipAbsent(t)
	in := indexes.Input{Vectors: enginetest.Clustered(t, 300, 16, 1), Metric: vector.L2, Threads: 1, Dir: t.TempDir()}
	params := param.Values{"factory": "HNSW8"}
	built, err := Engine().Build(context.Background(), in, params)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func(string) error{
		func(path string) error { return os.Truncate(path, built.Bytes-1) },
		func(path string) error { return os.WriteFile(path, make([]byte, built.Bytes), 0o644) },
		os.Remove,
	} {
		if err := damage(filepath.Join(in.Dir, "faiss.index")); err != nil {
			t.Fatal(err)
		}
		if _, err := Engine().Load(context.Background(), in.Dir, in, params); err == nil {
			t.Error("a damaged file is loaded")
		}
	}
}

// What FAISS throws arrives as an error: LSH has no inner product.
func TestExceptionsAreErrors(t *testing.T) {
	skipAbsent(t)
	in := indexes.Input{Vectors: enginetest.Clustered(t, 300, 16, 1), Metric: vector.IP, Threads: 1, Dir: t.TempDir()}
	if _, err := Engine().Build(context.Background(), in, param.Values{"factory": "LSH"}); err == nil || !strings.Contains(err.Error(), "FAISS") {
		t.Errorf("error is %v", err)
	}
}

func TestCancelledBuildStops(t *testing.T) {
	skipAbsent(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in := indexes.Input{Vectors: enginetest.Clustered(t, 300, 16, 1), Metric: vector.L2, Threads: 1, Dir: t.TempDir()}
	if _, err := Engine().Build(ctx, in, param.Values{"factory": "Flat"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

func TestDetails(t *testing.T) {
	skipAbsent(t)
	t.Logf("FAISS %s, %v", version(), details())
	if version() == "" || details()["blas"] == "" || details()["compile_options"] == "" {
		t.Errorf("version %q, details %v", version(), details())
	}
}

func BenchmarkSearch(b *testing.B) {
	skipAbsent(b)
	for _, c := range []struct {
		factory string
		search  param.Values
		recall  float64
	}{
		{"Flat", nil, 1},
		{"HNSW16", param.Values{"ef_search": int64(64)}, 0.95},
		{"IVF64,Flat", param.Values{"nprobe": int64(8)}, 0.9},
		{"IVF64,PQ16np", param.Values{"nprobe": int64(8)}, 0.5},
	} {
		b.Run(c.factory, func(b *testing.B) { enginetest.Benchmark(b, suite(c.factory, c.recall, c.search), c.recall) })
	}
}
