package sweep

import (
	"slices"
	"time"
)

// like keeps the points with the parameters and the load of Options.Like. On which questions that row was measured does
// not matter: that is what differs when a choice is confirmed.
func (r *runner) like(cells []*cellPlan) []*cellPlan {
	var columns []string
	for _, name := range identityColumns() {
		if !slices.Contains([]string{"subset", "split", "queries_answerable"}, name) {
			columns = append(columns, name)
		}
	}
	columns = append(columns, "params") // all of them, also those without a column
	want := keyOf(r.opt.Like, columns)
	var kept []*cellPlan
	for _, c := range cells {
		c.points = slices.DeleteFunc(c.points, func(p pointPlan) bool {
			return keyOf(r.parameterRow(c, p, time.Time{}), columns) != want
		})
		if len(c.points) > 0 {
			kept = append(kept, c)
		}
	}
	return kept
}
