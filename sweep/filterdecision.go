package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"frontier/bench/filters"
	rates "frontier/bench/rate"
	"frontier/bench/stats"
	"frontier/internal/param"
	"frontier/results"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// The values of filter_decision.
const (
	decisionHard = "hard"
	decisionSoft = "soft"
)

// decideFilters says of every measured point of a cell with a hard predicate whether that is worth it, by comparison with the
// point that has none, which an earlier run may have measured.
func decideFilters(f *file.File, store *store, c *cellPlan, rows []results.Row, queries []results.QueryRow) error {
	if !slices.ContainsFunc(c.points, pointPlan.filtersHard) {
		return nil
	}
	row, asked := map[string]results.Row{}, map[string][]results.QueryRow{} // of points
	for _, r := range rows {
		row[r.Text("point_id")] = r
	}
	for _, q := range queries {
		asked[q.PointID] = append(asked[q.PointID], q)
	}
	for _, p := range c.points {
		if !p.filtersHard() || row[p.id]["status"] != statusOK {
			continue
		}
		var without []results.QueryRow
		var err error
		if j := slices.IndexFunc(c.points, p.isDecidedBy); j >= 0 {
			without = asked[c.points[j].id]
		} else if j := slices.IndexFunc(c.done, p.isDecidedBy); j >= 0 {
			without, err = store.queriesOf(c, c.done[j])
		}
		if err == nil && len(without) > 0 { // else mode none is not tried: there is nothing to compare with
			err = decideFilter(f, f.Filters[p.filter.Filter], row[p.id], without, asked[p.id])
		}
		if err != nil {
			return fmt.Errorf("point %s: %w", p.id, err)
		}
	}
	return nil
}

// filtersHard says that a point has a predicate that takes answers away.
func (p pointPlan) filtersHard() bool { return p.filter != nil && p.filter.Mode != cell.FilterBoost }

// isDecidedBy says that o is the point p without its predicate.
func (p pointPlan) isDecidedBy(o pointPlan) bool {
	return o.filter == nil && o.fusion == p.fusion && o.load == p.load && slices.EqualFunc(o.searches, p.searches, func(a, b param.Values) bool { return a.Canonical() == b.Canonical() })
}

// decideFilter compares the questions of a point without a predicate with those of one with it.
func decideFilter(f *file.File, one file.Filter, row results.Row, without, with []results.QueryRow) error {
	k := f.Measure.K[len(f.Measure.K)-1]
	precision, recall := fmt.Sprintf("precision_at_%d", k), fmt.Sprintf("recall_at_%d", k)
	filtered := map[string]map[string]float64{}
	for _, q := range with {
		filtered[q.QueryID] = q.Metrics
	}
	var before, after []float64
	lost := 0.0
	for _, q := range without {
		a, ok := q.Metrics[precision]
		if !ok {
			continue // no gold that the caller may see
		}
		before, after = append(before, a), append(after, filtered[q.QueryID][precision])
		lost += q.Metrics[recall] - filtered[q.QueryID][recall]
	}
	name := strings.Join(one.Fields, ",")
	if needed := stats.MinPairs(confidence); len(before) < needed {
		addWarnings(row, fmt.Sprintf("whether %s should be a hard filter cannot be said from %d questions with evidence that their callers may see: ask at least %d", name, len(before), needed))
		return nil
	}
	gain, err := stats.PairedBootstrap(before, after, confidence, resamples, f.Seed)
	if err != nil {
		return err
	}
	limits := filters.Limits{MinGain: one.Hard.MinGain, MaxFalseExclusion: one.Hard.MaxFalseExclusion, MaxRecallLost: one.Hard.MaxRecallLost}
	excluded, ok := row["filter_false_exclusion_rate"].(float64)
	if !ok {
		return fmt.Errorf("%d questions have evidence, and there is no false-exclusion rate", len(before))
	}
	d, err := limits.Decide(filters.Measured{
		GainLow: gain.Low, FalseExclusion: rates.Rate{Hits: int(math.Round(excluded * float64(len(before)))), Of: len(before)}, RecallLost: lost / float64(len(before)),
	})
	if err != nil {
		return err
	}
	row["filter_gain_at_least"] = gain.Low
	row["filter_decision"] = decisionHard
	if !d.Hard {
		row["filter_decision"] = decisionSoft
		addWarnings(row, fmt.Sprintf("%s should be a boost and no hard filter: %s", name, strings.Join(d.Reasons, "; ")))
	}
	return nil
}
