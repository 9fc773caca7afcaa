package recall

import (
	"cmp"
	"math"
	"slices"
)

// Worst is the indices of the n queries with the lowest recall by id, the worst first; of equals the one that found less
// by distance, then the smaller index. Queries whose recall is NaN have no place among them, and of fewer than n there
// are as many as there are.
func Worst(queries []ANN, n int) []int {
	indices := make([]int, 0, len(queries))
	for i, q := range queries {
		if !math.IsNaN(q.ByID) {
			indices = append(indices, i)
		}
	}
	slices.SortStableFunc(indices, func(a, b int) int {
		return cmp.Or(cmp.Compare(queries[a].ByID, queries[b].ByID), cmp.Compare(queries[a].ByDistance, queries[b].ByDistance))
	})
	return indices[:min(max(n, 0), len(indices))]
}
