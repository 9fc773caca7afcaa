package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"frontier/bench/stats"
	"frontier/results"
	"frontier/results/compare"
)

// seed of the resampling; the same for all decisions, so that a gate repeats.
const seed = 42

// Judge holds NEW against BASE by the policy. The points are those of a matching: of compare.Match by the policy's match,
// or of compare.MatchAB. Errors are about what was given: slices without questions, quality on other data, a split that
// must not be judged on, a result of frontier ab that is less sure than the policy asks for.
func Judge(p *Policy, matching *compare.Matching) (*Result, error) {
	j := &judge{policy: p, asked: map[limitKey]string{}, limits: map[*Rule][]limit{}, judged: map[*Rule]int{}, result: &Result{Policy: p, Matching: matching, Residue: matching.Residue(), limits: map[*Rule][]string{}}}
	for i := range p.Rules {
		if err := j.check(&p.Rules[i]); err != nil {
			return nil, err
		}
	}
	for i := range p.Rules {
		if err := j.rule(&p.Rules[i]); err != nil {
			return nil, err
		}
	}
	j.correct()
	j.verdicts()
	j.warnings()
	return j.result, nil
}

type judge struct {
	policy *Policy
	result *Result
	asked  map[limitKey]string
	limits map[*Rule][]limit
	judged map[*Rule]int // points at which limits were looked for
}

// options are those of a rule's differences.
func (j *judge) options(r *Rule) compare.Options {
	return compare.Options{Confidence: j.policy.Confidence, Relative: &r.Share, Seed: seed}
}

// at puts the place of a rule in front of an error about it.
func (j *judge) at(r *Rule, err error) error {
	return &Error{File: j.policy.Path, Line: r.Line, Column: r.Column, Msg: fmt.Sprintf("%s: %v", r, err)}
}

// check refuses rules that the two sides cannot answer.
func (j *judge) check(r *Rule) error {
	m := j.result.Matching
	if r.Kind.change() && !m.Base.Recorded(r.Metric.Name) {
		return j.at(r, fmt.Errorf("the baseline %s was recorded without this metric; record it again with this policy", m.Base.Name))
	}
	if !m.New.Recorded(r.Metric.Name) {
		return j.at(r, fmt.Errorf("%s was recorded without this metric", m.New.Name))
	}
	sides := []*compare.Side{m.New}
	if r.Kind.change() {
		sides = append(sides, m.Base)
	}
	for _, s := range sides {
		if err := s.CheckSlice(r.Slice); err != nil {
			return j.at(r, err)
		}
		if r.Metric.PerQuery() && s.Has(append(slices.Clone(r.Slice), compare.Condition{Field: "split", Value: "dev"})) {
			return j.at(r, fmt.Errorf("%s has questions of the split dev, which are for tuning, and a gate must not judge on what was tuned on; add slice: {split: release}", s.Name))
		}
	}
	return nil
}

// rule decides one rule at all points that it is for.
func (j *judge) rule(r *Rule) error {
	applied := false
	for _, pair := range j.result.Matching.Pairs {
		if r.Kind.change() && pair.Base == nil {
			continue
		}
		row := rowOf(pair)
		if r.where != nil {
			ok, err := r.where(row)
			if err != nil {
				return j.at(r, err)
			}
			if !ok {
				continue
			}
		}
		d, skip, err := j.decide(r, pair)
		if err != nil {
			return err
		}
		applied = true
		if !skip {
			j.result.Decisions = append(j.result.Decisions, d)
		}
	}
	if !applied {
		j.result.Decisions = append(j.result.Decisions, Decision{
			Rule: r, Outcome: Missing, Why: "no point is one that the rule is for", Base: math.NaN(), New: math.NaN(), Change: math.NaN(), Low: math.NaN(), High: math.NaN(), P: math.NaN(), PHolm: math.NaN(),
		})
	}
	return nil
}

// rowOf is the row that conditions are asked of.
func rowOf(p compare.Pair) results.Row {
	if p.New != nil && p.New.Row.Text("status") == "ok" || p.Base == nil {
		return p.New.Row
	}
	return p.Base.Row
}

// decide decides one rule at one point. skip says that there is nothing to decide.
func (j *judge) decide(r *Rule, pair compare.Pair) (d Decision, skip bool, err error) {
	nan := math.NaN()
	d = Decision{Rule: r, Point: pair.Label, Key: pair.Key, Base: nan, New: nan, Change: nan, Low: nan, High: nan, P: nan, PHolm: nan}
	switch {
	case pair.New == nil:
		d.Outcome, d.Why = Missing, "the point is in BASE and not in NEW"
		return d, false, nil
	case pair.New.Row.Text("status") != "ok":
		d.Outcome, d.Why = Missing, fmt.Sprintf("the point failed in NEW (%s): %s", pair.New.Row.Text("status"), pair.New.Row.Text("error"))
		return d, false, nil
	case r.Kind.change() && pair.Base.Row.Text("status") != "ok":
		j.warn(fmt.Sprintf("%s failed in BASE, so there is nothing to compare it with", pair.Label))
		return d, true, nil
	case !r.Kind.change():
		return d, false, j.bound(&d, pair)
	}
	if other := pair.OtherData(); other != "" && r.Metric.Quality() && !j.policy.AllowOtherData {
		return d, false, j.at(r, fmt.Errorf("%s: the two were not judged alike: %s; measure BASE again on this data, or set allow_other_data: true", pair.Label, other))
	}
	return d, false, j.change(&d, pair)
}

func (j *judge) warn(text string) {
	if !slices.Contains(j.result.Warnings, text) {
		j.result.Warnings = append(j.result.Warnings, text)
	}
}

// correct applies Holm's correction to all decisions that rest on a test, so that all of them together are wrong no more
// often than the confidence says. What does not stand it is inconclusive.
func (j *judge) correct() {
	all := j.result.Decisions
	p := make([]float64, len(all))
	for i := range all {
		p[i] = all[i].P
		if all[i].Method == compare.ByBlock {
			p[i] = math.NaN() // ab corrected it
		}
	}
	limit := (1 - j.policy.Confidence) * (1 + 1e-9)
	for i, adjusted := range stats.Holm(p) {
		d := &all[i]
		if d.Method == compare.ByBlock {
			adjusted = d.P
		}
		d.PHolm = adjusted
		if d.candidate == "" {
			continue
		}
		if adjusted <= limit {
			d.Outcome = d.candidate
			continue
		}
		d.Outcome, d.Why = Inconclusive, d.unresolved
	}
}

func (j *judge) verdicts() {
	j.result.Verdict = Pass
	for i := range j.result.Decisions {
		d := &j.result.Decisions[i]
		switch d.Outcome {
		case Regression, Broken:
			d.Verdict = Fail
		case Inconclusive:
			d.Verdict = d.Rule.OnInconclusive
		case Missing:
			d.Verdict = d.Rule.OnMissing
		case Null:
			d.Verdict = d.Rule.OnNull
		case Unchanged:
			d.Verdict = Pass
			if d.Rule.Kind.required() {
				d.Verdict = Fail
			}
		default:
			d.Verdict = Pass
		}
		switch {
		case d.Verdict == Fail:
			j.result.Verdict = Fail
		case d.Verdict == Warn && j.result.Verdict == Pass:
			j.result.Verdict = Warn
		}
	}
}

// warnings says what the verdict does not cover.
func (j *judge) warnings() {
	m := j.result.Matching
	if j.result.Matched() == 0 {
		text := "no point of BASE is in NEW by " + m.By()
		if apart := m.Disjoint(); len(apart) > 0 {
			text += "; leave out of match what was changed on purpose: " + strings.Join(apart, "; ")
		}
		j.warn(text)
	}
	if only := j.result.OnlyNew(); len(only) > 0 {
		j.warn(fmt.Sprintf("%d points are only in NEW, such as %s; rules about changes skip them until the baseline is recorded again", len(only), only[0]))
	}
	for _, s := range []*compare.Side{m.Base, m.New} {
		for _, w := range s.Warnings {
			j.warn(s.Name + ": " + w)
		}
	}
	for i := range j.policy.Rules {
		r := &j.policy.Rules[i]
		j.result.limits[r] = j.texts(r)
		for _, text := range j.result.limits[r] {
			j.warn(fmt.Sprintf("%s:%d: %s: %s", j.policy.Path, r.Line, r, text))
		}
	}
}
