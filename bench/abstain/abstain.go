// Package abstain measures what withholding an answer below a score does: questions that cannot be answered are rightly
// withheld, others wrongly. The two kinds are never counted together in one denominator, except by how many of all
// abstentions were right.
package abstain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"frontier/bench/rate"
)

// Outcome is what withholding answers below Threshold does.
type Outcome struct {
	Threshold float64 // a question is answered if its best score is at least this
	Right     int     // unanswerable questions that are withheld
	Wrong     int     // answerable questions that are withheld

	Unanswerable, Answerable int // questions of each kind
}

// Precision is the abstentions that are right, over all abstentions.
func (o Outcome) Precision() rate.Rate { return rate.Rate{Hits: o.Right, Of: o.Right + o.Wrong} }

// Recall is the unanswerable questions that are withheld, over all that are unanswerable.
func (o Outcome) Recall() rate.Rate { return rate.Rate{Hits: o.Right, Of: o.Unanswerable} }

// Withheld is the answerable questions that are withheld, over all that are answerable.
func (o Outcome) Withheld() rate.Rate { return rate.Rate{Hits: o.Wrong, Of: o.Answerable} }

// At is the outcome of one threshold. The scores are the best of each question, the larger the better; NaN and negative
// infinity stand for a question that got no result, which is withheld whatever the threshold. A threshold that is NaN, and
// a score of positive infinity, are errors.
func At(answerable, unanswerable []float64, threshold float64) (Outcome, error) {
	if math.IsNaN(threshold) {
		return Outcome{}, fmt.Errorf("abstention: the threshold is not a number")
	}
	a, u, err := prepare(answerable, unanswerable)
	if err != nil {
		return Outcome{}, err
	}
	return outcome(a, u, threshold), nil
}

// Curve is every outcome that a threshold can have, by rising threshold: first each score, at which only questions below it
// are withheld, and at the end positive infinity, at which all are. For the scores see At.
func Curve(answerable, unanswerable []float64) ([]Outcome, error) {
	a, u, err := prepare(answerable, unanswerable)
	if err != nil {
		return nil, err
	}
	thresholds := slices.Concat(a, u)
	slices.Sort(thresholds)
	thresholds = slices.DeleteFunc(slices.Compact(thresholds), func(s float64) bool { return math.IsInf(s, -1) })
	thresholds = append(thresholds, math.Inf(1))
	curve := make([]Outcome, len(thresholds))
	for i, threshold := range thresholds {
		curve[i] = outcome(a, u, threshold)
	}
	return curve, nil
}

// Under is the outcome of a curve that withholds most unanswerable questions while it withholds at most the given share of
// the answerable ones; of equals the one that withholds fewest of these. Without any such outcome, or without both kinds
// of question, it is an error.
func Under(curve []Outcome, mostWithheld float64) (Outcome, error) {
	if len(curve) == 0 || curve[0].Answerable == 0 || curve[0].Unanswerable == 0 {
		return Outcome{}, fmt.Errorf("abstention: a threshold needs both answerable and unanswerable questions: %w", rate.ErrEmpty)
	}
	fits := slices.DeleteFunc(slices.Clone(curve), func(o Outcome) bool {
		return !(float64(o.Wrong)/float64(o.Answerable) <= mostWithheld) // 29/100 is 0.29, but 0.29*100 is less than 29
	})
	if len(fits) == 0 {
		return Outcome{}, fmt.Errorf("abstention: at best %v answerable questions are withheld, and at most %v of them may be", curve[0].Withheld(), mostWithheld)
	}
	return slices.MaxFunc(fits, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(a.Right, b.Right), cmp.Compare(b.Wrong, a.Wrong))
	}), nil
}

// prepare sorts copies, with negative infinity where there was no result.
func prepare(answerable, unanswerable []float64) (a, u []float64, err error) {
	a, u = slices.Clone(answerable), slices.Clone(unanswerable)
	for _, scores := range [][]float64{a, u} {
		for i, s := range scores {
			switch {
			case math.IsNaN(s):
				scores[i] = math.Inf(-1)
			case math.IsInf(s, 1):
				return nil, nil, fmt.Errorf("abstention: question %d has an infinite score", i)
			}
		}
		slices.Sort(scores)
	}
	return a, u, nil
}

// outcome counts in sorted scores.
func outcome(a, u []float64, threshold float64) Outcome {
	below := func(sorted []float64) int {
		return sort.Search(len(sorted), func(i int) bool { return sorted[i] >= threshold && !math.IsInf(sorted[i], -1) })
	}
	return Outcome{Threshold: threshold, Right: below(u), Wrong: below(a), Answerable: len(a), Unanswerable: len(u)}
}
