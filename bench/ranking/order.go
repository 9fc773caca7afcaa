package ranking

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Order is the order in which trec_eval ranks results, as indices into ids: higher scores first, ties by id, the
// larger one (by bytes) first. The rank that a run states plays no part. Scores are compared as they are; trec_eval
// before version 10 rounded them to float32, which ties scores that agree to 7 digits. A score that is NaN, or is
// missing because scores is shorter than ids, ranks last.
func Order(ids []string, scores []float64) []int {
	score := func(i int) float64 {
		if i >= len(scores) || math.IsNaN(scores[i]) {
			return math.Inf(-1)
		}
		return scores[i]
	}
	order := make([]int, len(ids))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), strings.Compare(ids[b], ids[a]))
	})
	return order
}
