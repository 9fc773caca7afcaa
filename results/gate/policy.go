// Package gate decides whether a run may replace another: it holds each metric that a policy names against what the
// policy allows, and says fail only where that is shown, and pass only where it is. What is neither is inconclusive,
// and the policy says what follows from it.
package gate

import (
	"fmt"
	"strconv"

	"frontier/results"
	"frontier/results/compare"
)

// Action is what follows from an outcome that is neither good nor bad.
type Action string

// The actions.
const (
	Fail Action = "fail"
	Warn Action = "warn"
	Pass Action = "pass"
)

// Kind is what a rule asks.
type Kind string

// The kinds of rules. The first four are about the change from BASE to NEW, the others about NEW alone.
const (
	MaxDrop     Kind = "max_drop"     // of a metric that is better high
	MaxRise     Kind = "max_rise"     // of a metric that is better low
	RequireRise Kind = "require_rise" // NEW must be shown to be better by as much
	RequireDrop Kind = "require_drop"
	Min         Kind = "min"
	Max         Kind = "max"
	MaxCount    Kind = "max_count" // questions that may go wrong
)

// kinds are all of them, with the direction of the metrics that they fit.
func kinds() []struct {
	kind   Kind
	better results.Direction // None fits both
	doc    string
} {
	return []struct {
		kind   Kind
		better results.Direction
		doc    string
	}{
		{MaxDrop, results.Higher, "How much the metric may fall from BASE to NEW: 0.01, or 2% of BASE."},
		{MaxRise, results.Lower, "How much the metric may rise from BASE to NEW: 10% of BASE, or 2ms, 8MiB."},
		{Min, results.Higher, "The least that NEW must reach."},
		{Max, results.Lower, "The most that NEW may have."},
		{MaxCount, results.None, "How many questions may go wrong in NEW: have a value of 0 where more is better, above 0 where less is. Of a metric that counts, its value."},
		{RequireRise, results.Higher, "How much better NEW must be shown to be."},
		{RequireDrop, results.Lower, "How much lower NEW must be shown to be."},
	}
}

// change says that the rule is about the change from BASE to NEW.
func (k Kind) change() bool {
	return k == MaxDrop || k == MaxRise || k == RequireRise || k == RequireDrop
}

// required says that the rule demands a change.
func (k Kind) required() bool { return k == RequireRise || k == RequireDrop }

// Policy is what a gate decides by. Parse makes it.
type Policy struct {
	Path              string
	Match             []string // columns that make points the same; empty for compare.DefaultMatch
	Rules             []Rule
	Confidence        float64
	OnMissing         Action // a point of BASE that NEW has not
	OnInconclusive    Action
	OnNull            Action // a metric without a value
	AllowOtherMachine bool   // decide on times, rates and memory of different machines
	AllowOtherData    bool   // decide on quality though data or judgements differ
}

// Rule is one line of a policy.
type Rule struct {
	Metric compare.Metric
	Kind   Kind
	Bound  float64 // in the metric's unit, or a share of BASE
	Share  bool
	Slice  compare.Slice
	Where  string // which points the rule is for, "" for all

	OnMissing, OnInconclusive, OnNull Action

	Line, Column int // in the policy's file

	text  string // of Bound, as written
	where func(results.Row) (bool, error)
}

// String is the rule in one line: "recall_at_10 (scenario=typo): max_drop 0.01".
func (r *Rule) String() string {
	text := r.Metric.Name
	if len(r.Slice) > 0 {
		text += " (" + r.Slice.String() + ")"
	}
	text = fmt.Sprintf("%s: %s %s", text, r.Kind, r.boundText())
	if r.Where != "" {
		text += " where " + r.Where
	}
	return text
}

func (r *Rule) boundText() string {
	if r.text != "" {
		return r.text
	}
	if r.Share {
		return strconv.FormatFloat(r.Bound*100, 'g', -1, 64) + "%"
	}
	return strconv.FormatFloat(r.Bound, 'g', -1, 64)
}

// Metrics are the metrics of the rules, each once.
func (p *Policy) Metrics() []compare.Metric {
	var out []compare.Metric
	seen := map[string]bool{}
	for i := range p.Rules {
		if m := p.Rules[i].Metric; !seen[m.Name] {
			seen[m.Name] = true
			out = append(out, m)
		}
	}
	return out
}

// MetricNames are the names of Metrics.
func (p *Policy) MetricNames() []string {
	var names []string
	for _, m := range p.Metrics() {
		names = append(names, m.Name)
	}
	return names
}
