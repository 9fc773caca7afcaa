package truth

import (
	"fmt"
	"math"
	"slices"

	"frontier/internal/kernels"
	"frontier/internal/vector"
)

// orderTolerance is how far, relative to the scale of the distances, neighbours from elsewhere may be out of order:
// what float32 arithmetic explains.
const orderTolerance = 1e-5

// FromIDs makes Neighbors of ids that came from elsewhere, such as the ground truth of a published data set: queries x
// k, row-major, nearest first. The distances are computed anew, and rows sorted by them. It refuses ids outside the
// base, ids given twice, and rows that are out of order by more than float32 explains, for those were made with
// another metric or for other vectors. It cannot tell whether a nearer row was left out.
func FromIDs(base, queries *vector.Matrix, m vector.Metric, ids []int64, k int) (*Neighbors, error) {
	if k < 1 || len(ids) != k*queries.Len() {
		return nil, fmt.Errorf("given neighbours: %d ids are not %d for each of %d queries", len(ids), k, queries.Len())
	}
	if base.Dim() != queries.Dim() {
		return nil, fmt.Errorf("given neighbours: base rows have %d dimensions and queries %d", base.Dim(), queries.Dim())
	}
	n := &Neighbors{K: k, IDs: make([]int64, len(ids)), Distances: make([]float64, len(ids))}
	row := make([]neighbor, k)
	seen := make(map[int64]int, k)
	for q := range queries.Len() {
		clear(seen)
		furthest, furthestScale := math.Inf(-1), 0.0
		for i, id := range ids[q*k : (q+1)*k] {
			if id < 0 || id >= int64(base.Len()) {
				return nil, fmt.Errorf("given neighbours: query %d, rank %d: id %d is not one of the %d base rows", q, i+1, id, base.Len())
			}
			if rank, twice := seen[id]; twice {
				return nil, fmt.Errorf("given neighbours: query %d: id %d is at ranks %d and %d", q, id, rank, i+1)
			}
			seen[id] = i + 1
			d := Distance(m, queries.Row(q), base.Row(int(id)))
			if math.IsNaN(d) {
				return nil, fmt.Errorf("given neighbours: query %d, rank %d: the %s distance to row %d is not a number", q, i+1, m, id)
			}
			size := scale(m, queries.Row(q), base.Row(int(id)))
			if furthest-d > orderTolerance*max(size, furthestScale) {
				return nil, fmt.Errorf("given neighbours: query %d, rank %d: row %d has %s distance %g, less than %g before it; the neighbours are of another metric or of other vectors",
					q, i+1, id, m, d, furthest)
			}
			if d > furthest {
				furthest, furthestScale = d, size
			}
			row[i] = neighbor{d, id}
		}
		slices.SortFunc(row, compareNeighbors)
		outIDs, outDistances := n.Row(q)
		for i, each := range row {
			outIDs[i], outDistances[i] = each.id, each.distance
		}
	}
	return n, nil
}

// scale is the magnitude of what is added up, or cancels, in the distance of a and b.
func scale(m vector.Metric, a, b []float32) float64 {
	switch m {
	case vector.L2:
		return kernels.Dot64(a, a) + kernels.Dot64(b, b)
	case vector.IP:
		return math.Sqrt(kernels.Dot64(a, a)) * math.Sqrt(kernels.Dot64(b, b))
	default:
		return 1
	}
}
