package hnswlib

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"frontier/indexes"
	"frontier/indexes/internal/enginetest"
	"frontier/internal/param"
	"frontier/internal/vector"
)

func suite(ef int64) enginetest.Case {
	return enginetest.Case{
		Engine: Engine(), Params: param.Values{"M": int64(16), "ef_construction": int64(100)}, Search: param.Values{"ef_search": ef},
		Recall: 0.95, ScoreError: 1e-5, AllRows: true, Deterministic: true,
	}
}

func skipAbsent(t testing.TB) {
	if absent != "" {
		t.Skip(absent)
	}
}

func TestSuite(t *testing.T) {
	skipAbsent(t)
	enginetest.Run(t, suite(128))
}

func TestAbsentSaysHowToGetIt(t *testing.T) {
	if absent == "" {
		t.Skip("this binary has hnswlib")
	}
	_, errBuild := Engine().Build(context.Background(), indexes.Input{}, nil)
	_, errLoad := Engine().Load(context.Background(), "", indexes.Input{}, nil)
	for _, err := range []error{errBuild, errLoad} {
		if err == nil || !strings.Contains(err.Error(), "-tags hnswlib") {
			t.Errorf("error is %v", err)
		}
	}
}

func TestEffectiveEf(t *testing.T) {
	skipAbsent(t)
	base := enginetest.Clustered(t, 300, 16, 1)
	x := suite(64).Build(t, indexes.Input{Vectors: base, Metric: vector.L2})
	for _, c := range []struct {
		ef, depth, want int64
		warns           int
	}{{64, 10, 64, 0}, {64, 64, 64, 0}, {16, 100, 100, 1}} {
		effective, warnings, err := x.Set(param.Values{"ef_search": c.ef}, int(c.depth))
		if err != nil {
			t.Fatal(err)
		}
		if effective["ef_search"] != c.want || len(warnings) != c.warns {
			t.Errorf("ef %d, depth %d: effective %v, warnings %q", c.ef, c.depth, effective, warnings)
		}
	}
	var wrong *param.Error
	if _, _, err := x.Set(param.Values{"ef_search": int64(0)}, 10); !errors.As(err, &wrong) || wrong.Param != "ef_search" {
		t.Errorf("ef_search 0 gives %v", err)
	}
}

// More candidates must not find less, and must matter: the parameter reaches the library.
func TestRecallGrowsWithEf(t *testing.T) {
	skipAbsent(t)
	base, queries := enginetest.SIFT(t)
	c := suite(10)
	c.Params = param.Values{"M": int64(4), "ef_construction": int64(20)}
	x := c.Build(t, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1})
	low := enginetest.Recall(t, x, base, queries, vector.L2, 10)
	if _, _, err := x.Set(param.Values{"ef_search": int64(400)}, 10); err != nil {
		t.Fatal(err)
	}
	high := enginetest.Recall(t, x, base, queries, vector.L2, 10)
	if high < low+0.05 {
		t.Errorf("recall@10 is %.3f at ef 10 and %.3f at ef 400", low, high)
	}
}

func TestDamagedFileIsRefused(t *testing.T) {
	skipAbsent(t)
	base := enginetest.Clustered(t, 300, 16, 1)
	dir := t.TempDir()
	in := indexes.Input{Vectors: base, Metric: vector.L2, Threads: 1, Dir: dir}
	params, err := param.Complete(Engine().Params, nil)
	if err != nil {
		t.Fatal(err)
	}
	built, err := Engine().Build(context.Background(), in, params)
	if err != nil {
		t.Fatal(err)
	}
	for _, damage := range []func(string) error{
		func(path string) error { return os.Truncate(path, built.Bytes-1) },
		func(path string) error { return os.WriteFile(path, make([]byte, built.Bytes), 0o644) },
		os.Remove,
	} {
		if err := damage(filepath.Join(dir, "hnswlib.bin")); err != nil {
			t.Fatal(err)
		}
		if _, err := Engine().Load(context.Background(), dir, in, params); err == nil {
			t.Error("a damaged file is loaded")
		}
	}
}

func TestCancelledBuildStops(t *testing.T) {
	skipAbsent(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	params, _ := param.Complete(Engine().Params, nil)
	in := indexes.Input{Vectors: enginetest.Clustered(t, 300, 16, 1), Metric: vector.L2, Threads: 1, Dir: t.TempDir()}
	if _, err := Engine().Build(ctx, in, params); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// Dimensions around the widths of the vector registers exercise the tails of the distance functions.
func TestDistancesAtAllTails(t *testing.T) {
	skipAbsent(t)
	for dim := 1; dim <= 70; dim++ {
		base := enginetest.Clustered(t, 12, dim, uint64(dim))
		for _, m := range metrics {
			x := suite(32).Build(t, indexes.Input{Vectors: base, Metric: m})
			hits, err := x.Search(indexes.Query{Vector: base.Row(3)}, 12, nil)
			if err != nil || len(hits) == 0 {
				t.Fatalf("dim %d, %s: %d hits, %v", dim, m, len(hits), err)
			}
			for _, h := range hits {
				want := enginetest.Score(m, base.Row(3), base.Row(int(h.ID)))
				if d := float64(h.Score) - want; d > 1e-4 || d < -1e-4 {
					t.Fatalf("dim %d, %s: row %d has score %v, expected %v", dim, m, h.ID, h.Score, want)
				}
			}
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	skipAbsent(b)
	enginetest.Benchmark(b, suite(64), 0.95)
}
