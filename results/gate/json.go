package gate

import (
	"bufio"
	"encoding/json"
	"math"

	"frontier/results"
	"frontier/results/compare"
)

// resultVersion is the form that json writes.
const resultVersion = 1

type (
	resultJSON struct {
		Version    int            `json:"version"`
		Verdict    Action         `json:"verdict"`
		Policy     string         `json:"policy"`
		Base       string         `json:"base"`
		New        string         `json:"new"`
		Confidence float64        `json:"confidence"`
		MatchedBy  []string       `json:"matched_by"`
		Points     int            `json:"points"`
		OnlyNew    []string       `json:"only_new"`
		Rules      []ruleJSON     `json:"rules"`
		Decisions  []decisionJSON `json:"decisions"`
		Residue    []residueJSON  `json:"residue"`
		Warnings   []string       `json:"warnings"`
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
	residueJSON struct {
		compare.Residue
		Base string `json:"base"`
		New  string `json:"new"`
	}
)

func (r *Result) json(w *bufio.Writer) error {
	out := resultJSON{
		Version: resultVersion, Verdict: r.Verdict, Policy: r.Policy.Path, Base: r.Matching.Base.Name, New: r.Matching.New.Name, Confidence: r.Policy.Confidence,
		MatchedBy: r.Matching.Columns, Points: r.Matched(), OnlyNew: list(r.OnlyNew()), Rules: []ruleJSON{}, Decisions: []decisionJSON{}, Residue: []residueJSON{}, Warnings: list(r.Warnings),
	}
	number := map[*Rule]int{}
	for i := range r.Policy.Rules {
		rule := &r.Policy.Rules[i]
		number[rule] = i
		out.Rules = append(out.Rules, ruleJSON{rule.String(), rule.Metric.Name, rule.Kind, rule.Line, list(r.limits[rule])})
	}
	for i := range r.Decisions {
		d := &r.Decisions[i]
		out.Decisions = append(out.Decisions, decisionJSON{
			Rule: number[d.Rule], Point: d.Point, Key: d.Key, Outcome: d.Outcome, Verdict: d.Verdict, Why: d.Why, Method: d.Method,
			Base: known(d.Base), New: known(d.New), Change: known(d.Change), Relative: d.Relative, Low: known(d.Low), High: known(d.High),
			P: known(d.P), PHolm: known(d.PHolm), Cases: d.Cases, Won: list(d.Won), Lost: list(d.Lost),
		})
	}
	for _, one := range r.Residue {
		out.Residue = append(out.Residue, residueJSON{one, one.Base, one.New})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

// list is never null in JSON.
func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

// known is null for what JSON has no number for.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
