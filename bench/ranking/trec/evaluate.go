// Package trec measures a whole run against relevance judgements, as trec_eval does.
package trec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"frontier/bench/ranking"
	"frontier/datasets"
)

// Options say what is measured, and over which queries.
type Options struct {
	Measures     []ranking.Measure
	RelevanceMin int // smallest grade that is relevant, at least 1: trec_eval -l
	// RunQueriesOnly leaves judged queries that the run lacks out of all figures, as trec_eval does without -c. Otherwise
	// they score zero and are counted.
	RunQueriesOnly bool
	Workers        int // goroutines, at least 1
}

// Report is what a run scores.
type Report struct {
	Tag     string // of the run's first line
	Options Options
	Queries []Query   // those that the totals are over, by id
	Totals  []float64 // one for each measure; NaN where there is none
	Judged  int       // queries that have judgements
	Missing int       // judged queries that the run lacks
	Ignored int       // queries of the run that have no judgements, and have no part in any figure
	// Warnings say what may be other than the user thinks, each with its remedy.
	Warnings []string
}

// Query is what one query scores.
type Query struct {
	ID      string
	Missing bool      // from the run
	Figures []float64 // one for each measure; NaN where there is none
	line    int       // of the run
	judged  int       // results that were judged
}

// Evaluate measures a run, which is read from r once, or, if the lines of its queries are scattered, twice. r must be an
// io.Seeker then; that of a pipe is an error. name is used in errors. Faults of the data are a *datasets.Error.
func Evaluate(ctx context.Context, qrels *datasets.Qrels, name string, r io.Reader, o Options) (*Report, error) {
	if len(o.Measures) == 0 {
		return nil, errors.New("there is no measure to evaluate")
	}
	o.Workers = max(o.Workers, 1)
	start, seekable := position(r)
	read := datasets.RunOptions{Workers: o.Workers}
	e, err := evaluate(ctx, qrels, name, r, o, read)
	if errors.Is(err, datasets.ErrScattered) && seekable {
		if _, seekErr := r.(io.Seeker).Seek(start, io.SeekStart); seekErr != nil {
			return nil, errors.Join(err, seekErr)
		}
		read.Scattered = true
		e, err = evaluate(ctx, qrels, name, r, o, read)
	}
	if err != nil {
		return nil, err
	}
	return e.report()
}

// position is where r stands, and whether it can go back there.
func position(r io.Reader) (int64, bool) {
	s, ok := r.(io.Seeker)
	if !ok {
		return 0, false
	}
	at, err := s.Seek(0, io.SeekCurrent)
	return at, err == nil
}

// evaluation is one reading of a run.
type evaluation struct {
	qrels   *datasets.Qrels
	run     string
	options Options
	workers []worker

	mu      sync.Mutex
	queries []Query
	ignored []Query // without figures
	tag     string
	tagLine int
}

// worker is what one goroutine needs for itself.
type worker struct {
	grader *grader
	scorer *ranking.Scorer
	judged []int32
}

func evaluate(ctx context.Context, qrels *datasets.Qrels, name string, r io.Reader, o Options, read datasets.RunOptions) (*evaluation, error) {
	e := &evaluation{qrels: qrels, run: name, options: o, tagLine: math.MaxInt}
	for range o.Workers {
		scorer, err := ranking.NewScorer(o.Measures, o.RelevanceMin)
		if err != nil {
			return nil, err
		}
		e.workers = append(e.workers, worker{grader: newGrader(), scorer: scorer})
	}
	return e, datasets.ReadRun(ctx, name, r, read, func(w int, ranking *datasets.Ranking) error {
		return e.score(&e.workers[w], ranking)
	})
}

// score measures one query.
func (e *evaluation) score(w *worker, r *datasets.Ranking) error {
	judgements := e.qrels.Judgements(r.Query)
	grades, err := w.grader.grade(e.run, judgements, r)
	if err != nil {
		return err
	}
	q := Query{ID: r.Query, line: r.Line}
	if len(judgements) > 0 {
		q.Figures = w.figures(grades, judgements)
		for _, grade := range grades {
			if grade >= 0 {
				q.judged++
			}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.Line < e.tagLine {
		e.tag, e.tagLine = r.Tag, r.Line
	}
	if q.Figures == nil {
		e.ignored = append(e.ignored, q)
	} else {
		e.queries = append(e.queries, q)
	}
	return nil
}

func (w *worker) figures(grades []int32, judgements []datasets.Judgement) []float64 {
	w.judged = w.judged[:0]
	for _, j := range judgements {
		w.judged = append(w.judged, int32(max(j.Grade, ranking.Unjudged)))
	}
	figures := make([]float64, len(w.scorer.Measures()))
	w.scorer.Score(grades, w.judged, figures)
	return figures
}

// report adds the judged queries that the run lacks, and sums up.
func (e *evaluation) report() (*Report, error) {
	byLine := func(a, b Query) int { return a.line - b.line }
	slices.SortFunc(e.ignored, byLine)
	answered := make(map[string]bool, len(e.queries))
	for _, q := range e.queries {
		answered[q.ID] = true
	}
	var missing []Query
	for _, id := range e.qrels.Queries() {
		if !answered[id] {
			missing = append(missing, Query{ID: id, Missing: true})
		}
	}
	if err := e.checkIDs(missing); err != nil {
		return nil, err
	}
	all := e.queries
	if !e.options.RunQueriesOnly {
		for i := range missing {
			missing[i].Figures = e.workers[0].figures(nil, e.qrels.Judgements(missing[i].ID))
		}
		all = append(all, missing...)
	}
	slices.SortFunc(all, func(a, b Query) int { return strings.Compare(a.ID, b.ID) })
	figures := make([][]float64, len(all))
	for i, q := range all {
		figures[i] = q.Figures
	}
	return &Report{
		Tag: e.tag, Options: e.options, Queries: all, Totals: ranking.Totals(e.options.Measures, figures),
		Judged: len(e.qrels.Queries()), Missing: len(missing), Ignored: len(e.ignored), Warnings: e.warnings(missing, all),
	}, nil
}

// checkIDs refuses a run and judgements whose ids do not fit, where every figure would silently be too low.
func (e *evaluation) checkIDs(missing []Query) error {
	bare := make(map[string]string, len(missing))
	for _, q := range missing {
		bare[strings.TrimLeft(q.ID, "0")] = q.ID
	}
	for _, q := range e.ignored {
		if twin, ok := bare[strings.TrimLeft(q.ID, "0")]; ok {
			return &datasets.Error{
				File: e.run, Line: q.line, Msg: fmt.Sprintf("query %q is %q in %s: leading zeros on one side only", q.ID, twin, e.qrels.File),
				Hint: "write the ids alike in both files",
			}
		}
	}
	if len(e.queries) == 0 {
		return &datasets.Error{
			File: e.run, Line: e.ignored[0].line,
			Msg:  fmt.Sprintf("none of the %d queries of the run is judged in %s: the first is %q, there it is %q", len(e.ignored), e.qrels.File, e.ignored[0].ID, missing[0].ID),
			Hint: "give the judgements that belong to this run",
		}
	}
	return nil
}

func (e *evaluation) warnings(missing, all []Query) []string {
	var warnings []string
	if len(missing) > 0 {
		effect := "they score zero in every measure (trec_eval leaves them out unless it is given -c; so does --run-queries-only)"
		if e.options.RunQueriesOnly {
			effect = "they are left out of every figure (without --run-queries-only they score zero)"
		}
		warnings = append(warnings, fmt.Sprintf("%d of %d judged queries are missing from the run (the first is %q): %s", len(missing), len(e.qrels.Queries()), missing[0].ID, effect))
	}
	if len(e.ignored) > 0 {
		warnings = append(warnings, fmt.Sprintf("%d queries of the run have no judgements (the first is %q, line %d): they are left out; use the judgements of the same query set to count them", len(e.ignored), e.ignored[0].ID, e.ignored[0].line))
	}
	if n, first := e.withoutRelevant(all); n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d judged queries have no document of grade %d or more (the first is %q): they score zero and count in every mean, as in trec_eval; take them out of the judgements if they have no answer", n, e.options.RelevanceMin, first))
	}
	if !slices.ContainsFunc(e.queries, func(q Query) bool { return q.judged > 0 }) {
		warnings = append(warnings, fmt.Sprintf("none of the documents retrieved was judged in %s: are the document ids of both files of the same kind?", e.qrels.File))
	}
	return warnings
}

func (e *evaluation) withoutRelevant(all []Query) (n int, first string) {
	for _, q := range all {
		if !slices.ContainsFunc(e.qrels.Judgements(q.ID), func(j datasets.Judgement) bool { return j.Grade >= e.options.RelevanceMin }) {
			if n++; n == 1 {
				first = q.ID
			}
		}
	}
	return n, first
}
