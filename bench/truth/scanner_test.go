package truth

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"frontier/internal/vector"

	"pgregory.net/rapid"
)

// tied is rows of few different values, so that distances tie within blocks and over their borders.
func tied(rng *rand.Rand, rows, dim int) []float32 {
	data := make([]float32, rows*dim)
	for i := range data {
		data[i] = float32(rng.IntN(4)) - 1
	}
	return data
}

func TestScannerFindsTheSameHoweverTheBaseIsCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dim := rapid.IntRange(1, 20).Draw(rt, "dim")
		rows := rapid.IntRange(1, 300).Draw(rt, "rows")
		count := rapid.IntRange(1, 30).Draw(rt, "queries")
		k := rapid.IntRange(1, 2*rows).Draw(rt, "k")
		m := rapid.SampledFrom(metrics).Draw(rt, "metric")
		workers := rapid.IntRange(1, 4).Draw(rt, "workers")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		data := tied(rng, rows, dim)
		base, queries := matrix(t, data, dim), matrix(t, tied(rng, count, dim), dim)
		var cuts []span
		for from := 0; from < rows; {
			to := rapid.IntRange(from+1, rows).Draw(rt, "cut")
			cuts = append(cuts, span{from, to})
			from = to
		}
		rng.Shuffle(len(cuts), func(i, j int) { cuts[i], cuts[j] = cuts[j], cuts[i] })
		s, err := NewScanner(queries, m, k, workers)
		if err != nil {
			rt.Fatal(err)
		}
		for _, cut := range cuts {
			if err := s.Add(t.Context(), matrix(t, base.Rows(cut.from, cut.to), dim), int64(cut.from)); err != nil {
				rt.Fatal(err)
			}
			if got := s.Neighbors(); got.K != s.K() || got.Len() != count { // asking must not disturb what follows
				rt.Fatalf("K=%d and %d rows in between, want %d and %d", got.K, got.Len(), s.K(), count)
			}
		}
		if s.Rows() != int64(rows) || s.K() != min(k, rows) {
			rt.Fatalf("%d rows and K=%d, want %d and %d", s.Rows(), s.K(), rows, min(k, rows))
		}
		equal(t, s.Neighbors(), bruteForce(base, queries, m, k))
	})
}

func TestScannerRefuses(t *testing.T) {
	good := matrix(t, []float32{1, 2, 3, 4}, 2)
	s, err := NewScanner(good, vector.IP, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	var bad *NotFiniteError
	err = s.Add(t.Context(), matrix(t, []float32{1, 2, 3, float32(math.NaN())}, 2), 1<<40)
	if !errors.As(err, &bad) || bad.Row != 1<<40+1 || bad.Dim != 1 {
		t.Errorf("NaN in the last row: %v", err)
	}
	if err := s.Add(t.Context(), matrix(t, []float32{1, 2, 3}, 3), 0); err == nil || !strings.Contains(err.Error(), "3 dimensions and queries 2") {
		t.Errorf("another dimension: %v", err)
	}
	if _, err := NewScanner(good, vector.L2, math.MaxInt/4, 1); err == nil || !strings.Contains(err.Error(), "more than any memory") {
		t.Errorf("a huge k: %v", err)
	}
}

// What a Scanner allocates, over several blocks, stays within what ScannerBytes says.
func TestScannerStaysWithinItsBytes(t *testing.T) {
	const dim, rows, blocks = 24, 1000, 3
	rng := rand.New(rand.NewPCG(1, 2))
	block := matrix(t, tied(rng, rows, dim), dim)
	for _, m := range metrics {
		for _, c := range []struct{ queries, k, workers int }{{1, 1, 1}, {7, 1000, 3}, {1000, 100, 2}, {2000, 1, 2}} {
			t.Run(fmt.Sprintf("%s/%+v", m, c), func(t *testing.T) {
				queries := matrix(t, tied(rng, c.queries, dim), dim)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				s, err := NewScanner(queries, m, c.k, c.workers)
				if err != nil {
					t.Fatal(err)
				}
				for i := range blocks {
					if err := s.Add(t.Context(), block, int64(i*rows)); err != nil {
						t.Fatal(err)
					}
				}
				runtime.ReadMemStats(&after)
				got, limit := after.TotalAlloc-before.TotalAlloc, ScannerBytes(c.queries, dim, c.k, c.workers)
				if got > uint64(limit) {
					t.Errorf("%d bytes were allocated, the bound is %d", got, limit)
				}
			})
		}
	}
}
