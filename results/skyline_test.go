package results

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Dropping what a few strong points dominate leaves the frontier as it is, for points that trade off, that do not, and
// that are all alike.
func TestSurvivorsKeepTheFrontier(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 4))
	for name, point := range map[string]func() [3]float64{
		"independent": func() [3]float64 { return [3]float64{rng.Float64(), rng.Float64(), rng.Float64()} },
		"ties":        func() [3]float64 { return [3]float64{float64(rng.IntN(9)), float64(rng.IntN(9)), float64(rng.IntN(9))} },
		"trade-off":   func() [3]float64 { x, y := rng.Float64(), rng.Float64(); return [3]float64{x, y, 2 - x - y} },
		"alike":       func() [3]float64 { return [3]float64{1, 1, 1} },
	} {
		const n = 3 * fewPoints
		costs := [][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
		for i := range n {
			for j, v := range point() {
				costs[j][i] = v
			}
		}
		all := indicesUpTo(n)
		left := survivors(costs, all)
		got, want := frontAmong(costs, slices.Clone(left)), frontAmong(costs, all)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d points on the frontier, want %d", name, len(got), len(want))
		}
		if name == "independent" && len(left) > n/4 {
			t.Errorf("%s: %d of %d points survive: the filter does not filter", name, len(left), n)
		}
	}
}
