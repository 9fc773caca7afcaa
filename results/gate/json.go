package gate

import (
	"bufio"
	"encoding/json"

	"frontier/results"
	"frontier/results/ab"
	"frontier/results/compare"
)

// resultVersion is the form that json writes.
const resultVersion = 1

type (
	resultJSON struct {
		Version    int               `json:"version"`
		Verdict    Action            `json:"verdict"`
		Policy     string            `json:"policy"`
		Base       string            `json:"base"`
		New        string            `json:"new"`
		Confidence float64           `json:"confidence"`
		MatchedBy  []string          `json:"matched_by"`
		Points     int               `json:"points"`
		OnlyNew    []string          `json:"only_new"`
		Rules      []ruleJSON        `json:"rules"`
		Decisions  []decisionJSON    `json:"decisions"`
		Residue    []compare.Residue `json:"residue"`
		Warnings   []string          `json:"warnings"`
	}
	ruleJSON struct {
		Text   string   `json:"text"`
		Metric string   `json:"metric"`
		Kind   Kind     `json:"kind"`
		Line   int      `json:"line"`
		Limits []string `json:"limits"`
	}
	decisionJSON struct {
		Rule     int            `json:"rule"`
		Point    string         `json:"point"`
		Key      results.Row    `json:"key,omitempty"`
		Outcome  Outcome        `json:"outcome"`
		Verdict  Action         `json:"verdict"`
		Why      string         `json:"why"`
		Method   compare.Method `json:"method"`
		Base     *float64       `json:"base"`
		New      *float64       `json:"new"`
		Change   *float64       `json:"change"`
		Relative bool           `json:"relative"`
		Low      *float64       `json:"low"`
		High     *float64       `json:"high"`
		P        *float64       `json:"p"`
		PHolm    *float64       `json:"p_holm"`
		Cases    int            `json:"cases"`
		Won      []string       `json:"won"`
		Lost     []string       `json:"lost"`
	}
)

func (r *Result) json(w *bufio.Writer) error {
	out := resultJSON{
		Version: resultVersion, Verdict: r.Verdict, Policy: r.Policy.Path, Base: r.Matching.Base.Name, New: r.Matching.New.Name, Confidence: r.Policy.Confidence,
		MatchedBy: r.Matching.Columns, Points: r.Matched(), OnlyNew: compare.List(r.OnlyNew()), Rules: []ruleJSON{}, Decisions: []decisionJSON{}, Residue: compare.List(r.Residue), Warnings: compare.List(r.Warnings),
	}
	number := map[*Rule]int{}
	for i := range r.Policy.Rules {
		rule := &r.Policy.Rules[i]
		number[rule] = i
		out.Rules = append(out.Rules, ruleJSON{rule.String(), rule.Metric.Name, rule.Kind, rule.Line, compare.List(r.limits[rule])})
	}
	for i := range r.Decisions {
		d := &r.Decisions[i]
		out.Decisions = append(out.Decisions, decisionJSON{
			Rule: number[d.Rule], Point: d.Point, Key: d.Key, Outcome: d.Outcome, Verdict: d.Verdict, Why: d.Why, Method: d.Method,
			Base: ab.Finite(d.Base), New: ab.Finite(d.New), Change: ab.Finite(d.Change), Relative: d.Relative, Low: ab.Finite(d.Low), High: ab.Finite(d.High),
			P: ab.Finite(d.P), PHolm: ab.Finite(d.PHolm), Cases: d.Cases, Won: compare.List(d.Won), Lost: compare.List(d.Lost),
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}
