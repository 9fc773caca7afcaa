package sweep

import (
	"math"

	"frontier/bench/abstain"
	shares "frontier/bench/rate"
	"frontier/results"
	"frontier/results/arrowfile"
)

// The split on which a threshold is chosen, where a golden set has it, and what abstain_chosen_on says where it has not.
const (
	devSplit = "dev"
	allCases = "all"
)

// bestScores are the scores of the first result of questions, and which questions these are.
type bestScores struct {
	scores []float64
	cases  []int
}

func (b *bestScores) add(q int, score float64) {
	b.scores, b.cases = append(b.scores, score), append(b.cases, q)
}

// abstentionColumns says what withholding answers below a score would do: the threshold that withholds most unanswerable
// questions while it withholds no more than measure.withheld_max of the others. It is chosen on the dev split and reported
// for the rest, where there is such a split with both kinds of question; else it is chosen and reported on all.
func (r *runner) abstentionColumns(row results.Row, rows []results.QueryRow, answers []arrowfile.Answer) error {
	var all, dev, rest [2]bestScores // answerable, unanswerable
	for q, k := range r.corpus.golden.Cases {
		kind := 0
		switch {
		case k.Unanswerable:
			kind = 1
		case !rows[q].Answerable:
			continue // nobody knows
		}
		best := math.NaN() // withheld whatever the threshold
		if len(answers[q].Scores) > 0 {
			best = float64(answers[q].Scores[0])
		}
		all[kind].add(q, best)
		if k.Split == devSplit {
			dev[kind].add(q, best)
		} else {
			rest[kind].add(q, best)
		}
	}
	chosen, reported, on := all, all, allCases
	if both(dev) && both(rest) {
		chosen, reported, on = dev, rest, devSplit
	}
	if !both(chosen) {
		return nil
	}
	curve, err := abstain.Curve(chosen[0].scores, chosen[1].scores)
	if err != nil {
		return err
	}
	best, err := abstain.Under(curve, r.file.Measure.WithheldMax)
	if err != nil {
		return nil //nolint:nilerr // the failed questions alone are more than may be withheld: there is no such threshold
	}
	outcome, err := abstain.At(reported[0].scores, reported[1].scores, best.Threshold)
	if err != nil {
		return err
	}
	row["abstain_threshold"], row["abstain_chosen_on"] = best.Threshold, on
	for name, of := range map[string]shares.Rate{
		"abstention_precision": outcome.Precision(), "abstention_recall": outcome.Recall(), "withheld_rate": outcome.Withheld(),
	} {
		v, err := of.Value()
		if err != nil {
			continue // nothing was withheld, so that there is no precision
		}
		row[name] = v
		row[name+"_low"], row[name+"_high"] = of.Interval(confidence)
	}
	for kind, name := range []string{"withheld_rate", "abstention_recall"} {
		for i, q := range reported[kind].cases {
			rows[q].Metrics[name] = 1
			if reported[kind].scores[i] >= best.Threshold {
				rows[q].Metrics[name] = 0
			}
		}
	}
	return nil
}

// both says whether there are questions of both kinds.
func both(kinds [2]bestScores) bool { return len(kinds[0].cases) > 0 && len(kinds[1].cases) > 0 }
