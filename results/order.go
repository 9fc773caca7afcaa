package results

import "slices"

// sortByObjectives sorts row indices, best first: by the first objective, then the next. Rows that are null in an
// objective come after all others. The order is stable.
func sortByObjectives(rows []Row, objs []Objective, indices []int) {
	slices.SortStableFunc(indices, func(a, b int) int {
		for _, o := range objs {
			x, okX := o.cost(rows[a])
			y, okY := o.cost(rows[b])
			switch {
			case okX && !okY:
				return -1
			case !okX && okY:
				return 1
			case x < y:
				return -1
			case x > y:
				return 1
			}
		}
		return 0
	})
}

// ByObjectives are the indices of rows, best first in the first objective, ties settled by the next ones. Rows that are
// null in an objective come last. Where intervals overlap the order is not a ranking: see Row.Interval.
func ByObjectives(rows []Row, objs []Objective) []int {
	indices := make([]int, len(rows))
	for i := range indices {
		indices[i] = i
	}
	sortByObjectives(rows, objs, indices)
	return indices
}
