package gate

import (
	"errors"
	"fmt"
	"math"

	"frontier/results/compare"
)

// change decides a rule about the change from BASE to NEW.
func (j *judge) change(d *Decision, pair compare.Pair) error {
	r := d.Rule
	diff, err := j.result.Matching.Difference(pair, r.Metric, r.Slice, j.options(r))
	if errors.Is(err, compare.ErrNull) {
		d.Outcome, d.Why = Null, err.Error()
		return nil
	}
	if err != nil {
		return j.at(r, err)
	}
	d.Method, d.Base, d.New, d.Change, d.Relative = diff.Method, diff.Base, diff.New, diff.Change, diff.Relative
	d.Low, d.High, d.Cases, d.Won, d.Lost, d.Unpaired = diff.Low, diff.High, diff.Cases, diff.Won, diff.Lost, diff.Unpaired
	bound := r.Bound
	switch { // ab has times as ratios and shares as differences, whatever the rule says
	case diff.Relative && !r.Share:
		bound /= diff.Base
	case !diff.Relative && r.Share:
		bound *= diff.Base
	}
	if diff.Method == compare.ByBlock && diff.Confidence < j.policy.Confidence {
		return j.at(r, fmt.Errorf("ab was run at a confidence of %g, and the policy asks for %g; run ab with --confidence %g", diff.Confidence, j.policy.Confidence, j.policy.Confidence))
	}
	if math.IsNaN(d.Change) || math.IsInf(d.Change, 0) {
		d.Outcome, d.Why = Inconclusive, "BASE is 0, of which nothing is a percentage; write the bound as a number"
		return nil
	}
	if d.Unpaired > 0 {
		j.warn(fmt.Sprintf("%s: %d questions have a value on one side only and do not count", r, d.Unpaired))
	}
	if diff.Method != compare.ByBlock && r.Metric.MachineBound() && pair.OtherMachine() && !j.policy.AllowOtherMachine {
		d.Outcome, d.Why = Inconclusive, "BASE was measured on another machine; compare on one with frontier ab, or set allow_other_machine: true"
		return nil
	}
	v := view(diff, r.Metric.Higher())
	if r.Kind.required() {
		v.require(d, diff, bound)
	} else {
		v.allow(d, diff, bound)
	}
	j.limitChange(d, diff)
	return nil
}

// harm is a difference seen as how much worse NEW is: below 0 it is better.
type harm struct {
	value, low, high float64
	sign             float64 // of a change that is worse
}

func view(diff *compare.Difference, higher bool) harm {
	if higher {
		return harm{-diff.Change, -diff.High, -diff.Low, -1}
	}
	return harm{diff.Change, diff.Low, diff.High, 1}
}

// certain says that the values are what they are, without an interval.
func certain(m compare.Method) bool { return m == compare.Exactly }

// allow decides whether NEW is worse by more than the bound.
func (h harm) allow(d *Decision, diff *compare.Difference, bound float64) {
	switch {
	case certain(diff.Method) && h.value > bound:
		d.Outcome, d.Why = Regression, "worse than the rule allows"
	case certain(diff.Method) && h.value < 0:
		d.Outcome, d.Why = Improvement, "better"
	case certain(diff.Method):
		d.Outcome, d.Why = Unchanged, "within what the rule allows"
	case diff.Method == compare.ByValue && h.value > bound:
		d.Outcome, d.Why = Inconclusive, "worse than the rule allows, but each run has one value, and how much it varies from run to run is not known; on_inconclusive: fail lets the values decide"
	case diff.Method == compare.ByValue:
		d.Outcome, d.Why = Unchanged, "within what the rule allows"
	case math.IsNaN(h.low):
		d.Outcome, d.Why = Inconclusive, tooFew(diff)
	case h.low > bound:
		d.candidate, d.P = Regression, pBeyond(diff, h.sign*bound)
		d.Why = "worse than the rule allows, wherever in the interval the change is"
		d.unresolved = "the interval is beyond what the rule allows, but of all decisions of this gate together this one is not sure enough (Holm's correction)"
	case h.high <= bound:
		d.Outcome, d.Why, d.P = Unchanged, "within what the rule allows, wherever in the interval the change is", pBeyond(diff, h.sign*bound)
		if h.high < 0 && diff.P <= 1-diff.Confidence {
			d.Outcome, d.Why = Improvement, "better, wherever in the interval the change is"
		}
		if len(diff.Won)+len(diff.Lost) == 0 && diff.Method == compare.ByCase {
			d.Why, d.P = "no question changed", math.NaN()
		}
	default:
		d.Outcome, d.P = Inconclusive, pBeyond(diff, h.sign*bound)
		d.Why = "the interval straddles what the rule allows: " + more(diff)
	}
}

// require decides whether NEW is better by at least the bound.
func (h harm) require(d *Decision, diff *compare.Difference, bound float64) {
	switch {
	case certain(diff.Method) && -h.value >= bound:
		d.Outcome, d.Why = Improvement, "better by as much as the rule demands"
	case certain(diff.Method):
		d.Outcome, d.Why = notBetter(h), "not better by as much as the rule demands"
	case diff.Method == compare.ByValue && -h.value >= bound:
		d.Outcome, d.Why = Inconclusive, "better by as much as the rule demands, but each run has one value, and how much it varies from run to run is not known"
	case diff.Method == compare.ByValue:
		d.Outcome, d.Why = notBetter(h), "not better by as much as the rule demands"
	case math.IsNaN(h.low):
		d.Outcome, d.Why = Inconclusive, tooFew(diff)
	case -h.high >= bound:
		d.candidate, d.P = Improvement, pBeyond(diff, -h.sign*bound)
		d.Why = "better by as much as the rule demands, wherever in the interval the change is"
		d.unresolved = "the interval is beyond what the rule demands, but of all decisions of this gate together this one is not sure enough (Holm's correction)"
	case -h.low < bound:
		d.Outcome, d.Why, d.P = notBetter(h), "not better by as much as the rule demands, wherever in the interval the change is", pBeyond(diff, -h.sign*bound)
	default:
		d.Outcome, d.P = Inconclusive, pBeyond(diff, -h.sign*bound)
		d.Why = "the rise that the rule demands is possible and not shown"
	}
}

// notBetter is the outcome of a change that is not the one that was required.
func notBetter(h harm) Outcome {
	if h.value > 0 && !(h.low <= 0) {
		return Regression
	}
	return Unchanged
}

// pBeyond is the p-value of the bound; ab's is that of no change at all, corrected for its own decisions.
func pBeyond(diff *compare.Difference, bound float64) float64 {
	if diff.Method == compare.ByBlock {
		return diff.P
	}
	return diff.PBeyond(bound)
}

// more is what would make the interval narrower.
func more(diff *compare.Difference) string {
	switch diff.Method {
	case compare.ByCase:
		return "more questions would tell"
	case compare.ByBlock:
		return "more pairs, longer blocks or a quieter machine would tell"
	}
	return "more rounds, more time or a quieter machine would tell, and so would frontier ab"
}

func tooFew(diff *compare.Difference) string {
	if diff.Method == compare.ByBlock {
		return fmt.Sprintf("%d pairs of blocks decide nothing; measure more", diff.Cases)
	}
	return fmt.Sprintf("%d questions decide nothing", diff.Cases)
}
