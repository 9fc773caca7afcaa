package gate

import (
	"frontier/results"
	"frontier/results/compare"
)

// Outcome is what a rule finds at a point.
type Outcome string

// The outcomes. Improvement, Unchanged and Regression are of rules about changes; Kept and Broken of rules about NEW alone.
const (
	Improvement  Outcome = "improvement"  // shown to be better, and by as much as was asked for
	Unchanged    Outcome = "unchanged"    // shown not to be worse by more than is allowed; where a rise is required, not shown to be one
	Regression   Outcome = "regression"   // shown to be worse by more than is allowed
	Kept         Outcome = "kept"         // shown to keep the bound
	Broken       Outcome = "broken"       // shown to break it
	Inconclusive Outcome = "inconclusive" // neither is shown
	Missing      Outcome = "missing"      // NEW has no such point, or it failed
	Null         Outcome = "null"         // the metric has no value
)

func outcomes() []string {
	return []string{
		string(Improvement), string(Unchanged), string(Regression), string(Kept), string(Broken),
		string(Inconclusive), string(Missing), string(Null),
	}
}

// Decision is what one rule comes to at one point.
type Decision struct {
	Rule    *Rule
	Point   string      // the pair's label; "" for a rule that fits no point
	Key     results.Row // columns that the point was matched by
	Outcome Outcome
	Verdict Action
	Why     string // in words

	Method     compare.Method
	Base, New  float64 // NaN where there is none
	Change     float64 // NaN for rules about NEW alone
	Relative   bool
	Low, High  float64 // of Change, or of New for rules about NEW alone
	P, PHolm   float64 // NaN without a test
	Cases      int
	Won, Lost  []string
	Unpaired   int
	candidate  Outcome
	unresolved string // what to say if Holm's correction takes the candidate back
}

// Result is what a gate comes to.
type Result struct {
	Policy    *Policy
	Matching  *compare.Matching
	Verdict   Action // Fail if any decision is; Warn if any warns
	Decisions []Decision
	Residue   []compare.Residue
	Warnings  []string
	limits    map[*Rule][]string
}

// Limits is what a rule can never do with the questions that there are, such as fail.
func (r *Result) Limits(rule *Rule) []string { return r.limits[rule] }

// OnlyNew are the labels of the points that BASE has not.
func (r *Result) OnlyNew() []string {
	var out []string
	for _, p := range r.Matching.Pairs {
		if p.Base == nil {
			out = append(out, p.Label)
		}
	}
	return out
}

// Matched is the number of points that both have.
func (r *Result) Matched() int {
	n := 0
	for _, p := range r.Matching.Pairs {
		if p.Base != nil && p.New != nil {
			n++
		}
	}
	return n
}

// Count is how many decisions have the verdict.
func (r *Result) Count(verdict Action) int {
	n := 0
	for i := range r.Decisions {
		if r.Decisions[i].Verdict == verdict {
			n++
		}
	}
	return n
}
