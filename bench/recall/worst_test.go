package recall

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestWorst(t *testing.T) {
	nan := math.NaN()
	queries := []ANN{
		0: {ByID: 1, ByDistance: 1},
		1: {ByID: .5, ByDistance: .75},
		2: {ByID: nan, ByDistance: nan},
		3: {ByID: .5, ByDistance: .5},
		4: {}, // failed
		5: {ByID: .5, ByDistance: .5},
		6: {ByID: .25, ByDistance: 1},
	}
	for n, want := range map[int][]int{-1: {}, 0: {}, 1: {4}, 4: {4, 6, 3, 5}, 6: {4, 6, 3, 5, 1, 0}, 100: {4, 6, 3, 5, 1, 0}} {
		if got := Worst(queries, n); !slices.Equal(got, want) {
			t.Errorf("n=%d: got %v, want %v", n, got, want)
		}
	}
	if got := Worst(nil, 3); len(got) != 0 {
		t.Errorf("of nothing: got %v", got)
	}
}

// The 5th percentile is the best of the worst twentieth and one.
func TestWorstAgreesWithTheFifthPercentile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	for range 50 {
		queries := make([]ANN, 1+rng.IntN(200))
		for i := range queries {
			queries[i].ByID = float64(rng.IntN(11)) / 10
		}
		worst := Worst(queries, len(queries)/20+1)
		if got, want := queries[worst[len(worst)-1]].ByID, Summarize(queries).P05; got != want {
			t.Fatalf("%d queries: the last of the worst has %v, the 5th percentile is %v", len(queries), got, want)
		}
	}
}
