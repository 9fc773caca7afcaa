// Package truth finds exact nearest neighbours: what approximate answers are judged against.
package truth

// Neighbors are the K nearest base rows of each query, nearest first, ties to the smaller id. Both slices are
// queries x K, row-major. K is the k that was asked for, or the number of base rows if that is smaller.
type Neighbors struct {
	K         int
	IDs       []int64
	Distances []float64 // as vector.Metric defines them, in float64 arithmetic
}

// Len is the number of queries.
func (n *Neighbors) Len() int {
	if n.K == 0 {
		return 0
	}
	return len(n.IDs) / n.K
}

// Row is the neighbours of query q.
func (n *Neighbors) Row(q int) ([]int64, []float64) {
	return n.IDs[q*n.K : (q+1)*n.K], n.Distances[q*n.K : (q+1)*n.K]
}
