package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm is the p-values corrected for there being several, in the order given: if those at most alpha are taken as
// differences, the chance that any of them is none is at most alpha, however the tests depend on one another (Holm,
// Scandinavian Journal of Statistics 1979). A p that is NaN stands for a test that could not be made: it stays NaN and
// does not count as one of the family.
func Holm(p []float64) []float64 {
	adjusted := slices.Clone(p)
	order := make([]int, 0, len(p))
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	largest := 0.0
	for rank, i := range order {
		largest = max(largest, min(1, float64(len(order)-rank)*p[i]))
		adjusted[i] = largest
	}
	return adjusted
}
