package sweep

import (
	"slices"
	"time"

	"frontier/results"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// like keeps the points with the parameters and the load of Options.Like. On which questions that row was measured does
// not matter: that is what differs when a choice is confirmed.
func (r *runner) like(cells []*cellPlan) []*cellPlan {
	kept := r.likeIn(cells, "")
	if len(kept) == 0 && r.opt.Like.Text("filter_mode") == cell.FilterPost {
		kept = r.likeIn(cells, "filter_mode") // an engine that cannot filter while it searches makes post of pre
	}
	return kept
}

// likeIn is like, looking at all columns but one.
func (r *runner) likeIn(cells []*cellPlan, but string) []*cellPlan {
	var kept []*cellPlan
	for _, c := range cells {
		columns := slices.DeleteFunc(choiceColumns(), func(name string) bool {
			return name == but || measuredColumn(c, r.opt.Like, name)
		})
		want := keyOf(r.opt.Like, columns)
		one := *c
		one.points = slices.DeleteFunc(slices.Clone(c.points), func(p pointPlan) bool {
			return keyOf(r.parameterRow(c, p, time.Time{}), columns) != want
		})
		if len(one.points) > 0 {
			kept = append(kept, &one)
		}
	}
	return kept
}

// measuredColumn says whether a measured row has in a column what came into effect, where the plan has what was asked for,
// which params has in both: search parameters, which engines raise, and the rate that was found for an slo.
func measuredColumn(c *cellPlan, row results.Row, name string) bool {
	if name == "target_qps" {
		return row.Text("load_mode") == file.SLO
	}
	for _, part := range c.parts {
		for _, s := range part.engine.Search {
			if s.Column == name {
				return true
			}
		}
	}
	return false
}
