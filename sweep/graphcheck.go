package sweep

import (
	"math"

	"frontier/bench/recall"
	"frontier/internal/param"
	"frontier/results"
	"frontier/results/arrowfile"
	"frontier/sweep/cell"
)

// hnswlib's guide checks how well a graph was built by searching for the M nearest neighbours with ef at efConstruction.
const (
	// checkQueries is how many queries are asked for it.
	checkQueries = 1000
	// deepTruth is how many exact neighbours are found at least, so that they suffice for the usual M.
	deepTruth = 64
)

// graphCheck is what a cell is to be asked to check its graph, or nil if it has none, or one with more links than exact
// neighbours are known.
func (r *runner) graphCheck(c *cellPlan) *cell.Check {
	if len(c.parts) != 1 || c.input.embedding == nil || len(c.points) == 0 {
		return nil
	}
	row := results.Row{}
	indexColumns(row, map[string]any{}, c, c.points[0])
	links, _ := row["m"].(int64)
	ef, _ := row["ef_construction"].(int64)
	if links < 1 || ef < 1 || min(int(links), c.input.embedding.stats.N) > c.input.embedding.truth.K {
		return nil
	}
	for _, s := range c.parts[0].engine.Search {
		if s.Column == "ef_search" {
			return &cell.Check{Search: param.Values{s.Name: max(ef, links)}, Depth: int(links), Queries: checkQueries}
		}
	}
	return nil
}

// buildCheck is the recall of a graph's check, or nil if there was none.
func (r *runner) buildCheck(run *cellRun) (*float64, error) {
	check := r.graphCheck(run.plan)
	if check == nil || run.loaded.Check == "" {
		return nil, nil
	}
	answers, err := arrowfile.ReadAnswers(run.loaded.Check)
	if err != nil {
		return nil, err
	}
	ann, err := annScores(run.plan.input.embedding, run.plan.input.embedding.truth.Row, []int{check.Depth}, answers, nil)
	if err != nil {
		return nil, err
	}
	e := run.plan.input.embedding
	value, err := recall.BuildCheck(ann[0], check.Depth, e.truth.K, e.stats.N)
	if err != nil || math.IsNaN(value) {
		return nil, err
	}
	return &value, nil
}
