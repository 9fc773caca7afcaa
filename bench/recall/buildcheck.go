package recall

import (
	"fmt"
	"math"
)

// BuildCheck is how well a graph was built: the mean recall of the m nearest, where m is the M of the graph, searched with
// ef at efConstruction. That is the very search with which construction looked for the neighbours of each row. Below 0.9
// a larger efConstruction would improve the graph (hnswlib's guide to its parameters).
//
// queries are from Query at k = m, failed ones as zero; those that are NaN are left out, and with none left it is NaN.
// Recall is by distance, as a row that is as near as the m-th does a graph no harm. depth is how many true neighbours
// Query was given (truth.Neighbors.K) and rows is the size of the base. It is an error if the truth is too shallow to
// hold m neighbours that exist, since recall over fewer would be another figure.
func BuildCheck(queries []ANN, m, depth, rows int) (float64, error) {
	if m < 1 {
		return math.NaN(), fmt.Errorf("construction check: the recall of the %d nearest is not defined; give the graph's M, at least 1", m)
	}
	if need := min(m, rows); depth < need {
		return math.NaN(), fmt.Errorf("construction check: the truth holds %d neighbours of each query, and the recall of the %d nearest needs %d; compute it deeper", depth, m, need)
	}
	total, judged := 0.0, 0
	for _, q := range queries {
		if !math.IsNaN(q.ByDistance) {
			total += q.ByDistance
			judged++
		}
	}
	return total / float64(judged), nil
}
