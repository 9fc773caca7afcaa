package gate

import (
	"errors"
	"fmt"
	"math"

	"frontier/results/compare"
)

// bound decides a rule about NEW alone.
func (j *judge) bound(d *Decision, pair compare.Pair) error {
	r := d.Rule
	level, err := j.result.Matching.New.Level(pair.New, r.Metric, r.Slice, j.options(r))
	if errors.Is(err, compare.ErrNull) {
		d.Outcome, d.Why = Null, err.Error()
		return nil
	}
	if err != nil {
		return j.at(r, err)
	}
	d.Method, d.New, d.Low, d.High, d.Cases = level.Method, level.Value, level.Low, level.High, level.Cases
	if pair.Base != nil {
		if e, ok := pair.Base.Estimate(r.Metric); ok && len(r.Slice) == 0 {
			d.Base = e.Value
		}
	}
	if r.Kind == MaxCount {
		return j.count(d, level)
	}
	hold(d, level, r)
	j.limitBound(d, level)
	return nil
}

// hold decides whether a level keeps the bound of a rule.
func hold(d *Decision, l *compare.Level, r *Rule) {
	// Seen so that the bound must not be exceeded.
	value, low, high, bound := l.Value, l.Low, l.High, r.Bound
	if r.Kind == Min {
		value, low, high, bound = -l.Value, -l.High, -l.Low, -r.Bound
	}
	switch {
	case certain(l.Method) && value > bound:
		d.Outcome, d.Why = Broken, "beyond the bound"
	case certain(l.Method), l.Method == compare.ByValue && value <= bound:
		d.Outcome, d.Why = Kept, "within the bound"
	case l.Method == compare.ByValue:
		d.Outcome, d.Why = Inconclusive, "beyond the bound, but the run has one value, and how much it varies from run to run is not known; on_inconclusive: fail lets the value decide"
	case math.IsNaN(low):
		d.Outcome, d.Why = Inconclusive, fmt.Sprintf("%d questions decide nothing", l.Cases)
	case low > bound:
		d.candidate, d.P = Broken, l.PBeyond(r.Bound)
		d.Why = "beyond the bound, wherever in the interval the value is"
		d.unresolved = "the interval is beyond the bound, but of all decisions of this gate together this one is not sure enough (Holm's correction)"
	case high <= bound:
		d.Outcome, d.Why, d.P = Kept, "within the bound, wherever in the interval the value is", l.PBeyond(r.Bound)
	default:
		d.Outcome, d.Why, d.P = Inconclusive, "the bound lies within the interval: more questions, or more rounds, would tell", l.PBeyond(r.Bound)
	}
	if l.Binary {
		d.Why += fmt.Sprintf(" (%d of %d)", l.Hits, l.Cases)
	}
}

// count decides by counting, which needs no interval: what it says, it says of these questions.
func (j *judge) count(d *Decision, l *compare.Level) error {
	r := d.Rule
	wrong, of := 0, fmt.Sprintf(" of %d questions", l.Cases)
	switch {
	case l.Cases == 0 && r.Metric.Counted():
		wrong, of = int(l.Value), ""
	case l.Cases == 0:
		return j.at(r, errors.New("the metrics of single questions are missing; give the results folder, which holds them in queries/"))
	case r.Metric.Higher():
		wrong = l.Zeros
	default:
		wrong = l.Above
	}
	d.Method, d.New, d.Base, d.Low, d.High = compare.Exactly, float64(wrong), math.NaN(), float64(wrong), float64(wrong)
	d.Outcome, d.Why = Kept, fmt.Sprintf("%d%s went wrong, and %g may", wrong, of, r.Bound)
	if float64(wrong) > r.Bound {
		d.Outcome = Broken
	}
	return nil
}
