package spans

import (
	"math/rand/v2"
	"testing"
)

func TestFit(t *testing.T) {
	for _, c := range []struct {
		tokens               []int
		budget, chunks, used int
	}{
		{[]int{100, 100, 100}, 300, 3, 300},
		{[]int{100, 100, 100}, 299, 2, 200},
		{[]int{100, 500, 100}, 300, 1, 100}, // the third would fit, and the context has ended
		{[]int{500, 100}, 300, 0, 0},
		{nil, 300, 0, 0},
		{[]int{0, 300, 0, 1}, 300, 3, 300},
	} {
		if chunks, used := Fit(c.tokens, c.budget); chunks != c.chunks || used != c.used {
			t.Errorf("%v into %d: %d chunks of %d tokens, want %d of %d", c.tokens, c.budget, chunks, used, c.chunks, c.used)
		}
	}
}

func TestWithin(t *testing.T) {
	units := []Unit{one(0, 0, 10), one(1, 50, 60)}
	ranked := []Span{{0, 5, 25}, {2, 0, 20}, {1, 40, 80}}
	tokens := []int{5, 5, 10}
	for budget, want := range map[int]Context{
		4:  {Score: Score{Gold: 20}, Units: 2},
		19: {Score: Score{Found: 5, Gold: 20, Retrieved: 40}, Chunks: 2, Tokens: 10, Held: 1, Units: 2},
		20: {Score: Score{Found: 15, Gold: 20, Retrieved: 80}, Chunks: 3, Tokens: 20, Held: 2, Units: 2},
	} {
		got, err := prepared(t, units).Within(ranked, tokens, budget, Overlap)
		if err != nil || got != want {
			t.Errorf("budget %d: got %+v, %v; want %+v", budget, got, err, want)
		}
		if got.EvidenceRecall() != float64(want.Held)/2 {
			t.Errorf("budget %d: evidence recall %v", budget, got.EvidenceRecall())
		}
	}
	if got, err := prepared(t, units).Within(ranked, tokens, 20, Contain); err != nil || got.Held != 1 {
		t.Errorf("contained: %+v, %v", got, err)
	}
}

// A budget that everything fits into scores what all chunks score, and a larger one never finds less.
func TestWithinMetamorphic(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 40))
	for range 1000 {
		units := randomUnits(rng)
		ranked := randomSpans(rng, 1+rng.IntN(8))
		tokens, total := make([]int, len(ranked)), 0
		for i := range tokens {
			tokens[i] = 1 + rng.IntN(30)
			total += tokens[i]
		}
		g := prepared(t, units)
		before := Context{}
		for _, budget := range []int{1, 1 + total/2, total} {
			got, err := g.Within(ranked, tokens, budget, Overlap)
			if err != nil {
				t.Fatal(err)
			}
			if got.Tokens > budget || got.Chunks < before.Chunks || got.Held < before.Held || got.Retrieved < before.Retrieved {
				t.Fatalf("units %v, chunks %v, budget %d: %+v after %+v", units, ranked, budget, got, before)
			}
			if want := (naive{units}).score(ranked[:got.Chunks]); got.Score != want {
				t.Fatalf("units %v, chunks %v, budget %d: %+v, want %+v", units, ranked, budget, got.Score, want)
			}
			before = got
		}
		if before.Chunks != len(ranked) || before.Held != Overlap.Held(ranked, units) {
			t.Fatalf("units %v, chunks %v: all fit, and %+v", units, ranked, before)
		}
	}
}
