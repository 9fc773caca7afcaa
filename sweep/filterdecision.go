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

// decideFilters says of every point with a hard predicate whether that is worth it, by comparison with the point of the same
// cell that has none. points are those of the rows; queries are the rows of their questions, one after the other.
func decideFilters(f *file.File, points []pointPlan, rows []results.Row, queries [][]results.QueryRow) error {
	for i, p := range points {
		if p.filter == nil || p.filter.Mode == cell.FilterBoost || rows[i]["status"] != statusOK {
			continue
		}
		without := slices.IndexFunc(points, func(o pointPlan) bool {
			return o.filter == nil && o.fusion == p.fusion && o.load == p.load && slices.EqualFunc(o.searches, p.searches, func(a, b param.Values) bool { return a.Canonical() == b.Canonical() })
		})
		if without < 0 {
			continue // mode none is not tried: there is nothing to compare with
		}
		if err := decideFilter(f, f.Filters[p.filter.Filter], rows[i], queries[without], queries[i]); err != nil {
			return fmt.Errorf("point %s: %w", p.id, err)
		}
	}
	return nil
}

// decideFilter compares the questions of a point without a predicate with those of one with it.
func decideFilter(f *file.File, one file.Filter, row results.Row, without, with []results.QueryRow) error {
	k := f.Measure.K[len(f.Measure.K)-1]
	precision, recall := fmt.Sprintf("precision_at_%d", k), fmt.Sprintf("recall_at_%d", k)
	var before, after []float64
	lost := 0.0
	for q := range without {
		a, ok := without[q].Metrics[precision]
		if !ok {
			continue // no gold that the caller may see
		}
		before, after = append(before, a), append(after, with[q].Metrics[precision])
		lost += without[q].Metrics[recall] - with[q].Metrics[recall]
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
