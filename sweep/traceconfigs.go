package sweep

import (
	"fmt"
	"math"

	"frontier/datasets"
	"frontier/results/arrowfile"
)

// config is the answers of one configuration, one a case.
type config struct {
	id, index string
	answers   []arrowfile.Answer
	missing   int
	depth     int
	seconds   []float64
}

// byConfig gathers the answers of each configuration in the order of the golden set. Configurations come as they first
// appear.
func (t *traceScorer) byConfig(traces []datasets.Trace) ([]*config, error) {
	cases := t.runner.corpus.golden.Cases
	at := map[string]int{}
	for i := range cases {
		at[cases[i].ID] = i
	}
	var all []*config
	byID := map[string]*config{}
	unknown := 0
	for _, trace := range traces {
		i, ok := at[trace.Case]
		if !ok {
			unknown++
			continue
		}
		c := byID[trace.Config]
		if c == nil {
			c = &config{id: trace.Config, index: trace.Index, answers: make([]arrowfile.Answer, len(cases)), missing: len(cases)}
			for q := range c.answers {
				c.answers[q] = arrowfile.Answer{Error: "there is no trace of this case", Nanoseconds: -1}
			}
			byID[trace.Config], all = c, append(all, c)
		}
		if trace.Index != c.index {
			return nil, &datasets.Error{
				File: t.options.Traces, Line: trace.Line, Msg: fmt.Sprintf("configuration %q has answers of the index versions %q and %q", c.id, c.index, trace.Index),
				Hint: "answers of two indexes are two configurations: give each a config_id of its own",
			}
		}
		c.missing--
		c.answers[i] = t.answer(trace)
		c.depth = max(c.depth, len(trace.Retrieved))
		if !math.IsNaN(trace.Seconds) {
			c.seconds = append(c.seconds, trace.Seconds)
		}
	}
	if len(all) == 0 {
		return nil, &datasets.Error{File: t.options.Traces, Msg: "no trace is of a case that the golden set has", Hint: "case_id is the id of a case"}
	}
	if unknown > 0 {
		t.warn("%d traces are of cases that the golden set does not have, and were left out", unknown)
	}
	return all, nil
}

func (t *traceScorer) answer(trace datasets.Trace) arrowfile.Answer {
	a := arrowfile.Answer{Depth: int32(len(trace.Retrieved)), Error: trace.Failed, Nanoseconds: -1}
	if !math.IsNaN(trace.Seconds) {
		a.Nanoseconds = int64(trace.Seconds * 1e9)
	}
	if trace.Failed != "" {
		return a
	}
	for _, r := range trace.Retrieved {
		a.IDs = append(a.IDs, t.places[t.place(t.runner.corpus, r)])
		a.Scores = append(a.Scores, r.Score)
	}
	return a
}
