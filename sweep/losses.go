package sweep

import (
	"context"
	"errors"
	"fmt"

	"frontier/bench/loss"
	"frontier/bench/truth"
	"frontier/internal/vector"
	"frontier/results"
	"frontier/results/arrowfile"
)

// losses says of every question which stage lost the evidence that did not come through.
type losses struct {
	judge *judge
	sieve *sieve
	parts []bool // of each part of the cell: it is searched by vectors, so that there is an exact list
	exact *exactLists
	mean  loss.Mean
}

func newLosses(c *cellPlan, j *judge, s *sieve) (*losses, error) {
	l := &losses{judge: j, sieve: s}
	for _, p := range c.parts {
		l.parts = append(l.parts, p.input.embedding != nil)
	}
	if e := c.input.embedding; e != nil {
		var err error
		l.exact, err = openExactLists(e)
		return l, err
	}
	return l, nil
}

func (l *losses) close() error {
	if l.exact == nil {
		return nil
	}
	return l.exact.close()
}

// add attributes the evidence of one question. c is the context that fits, nil without a budget.
func (l *losses) add(q int, g *gold, a arrowfile.Answer, c *readContext, values map[string]float64) ([]string, error) {
	j := l.judge
	k := j.measure.K[len(j.measure.K)-1]
	query := loss.Query{K: k, Failed: a.Error != "", Units: make([]loss.Unit, len(g.counted))}
	for i := range query.Units {
		query.Units[i].Holders, query.Units[i].Missing = g.holders[i], g.missing[i]
	}
	if a.Error == "" {
		if err := l.ranks(query.Units, q, g, a, k); err != nil {
			return nil, err
		}
	} else {
		for i := range query.Units { // a failure explains only what could have been found
			query.Units[i].Filtered = l.sieve.excludes(q, unitDocuments(g.counted[i])) && !l.sieve.boost
		}
	}
	if c != nil {
		for i := range query.Units {
			query.Units[i].CutOff = !c.held[i]
		}
	}
	classes, err := loss.Attribute(query)
	if err != nil {
		return nil, err
	}
	counts, err := loss.Count(classes)
	if err != nil {
		return nil, err
	}
	l.mean.Add(counts)
	shares, err := counts.Shares(counts.Recall())
	if err != nil {
		return nil, err
	}
	lossValues(shares, func(name string, v float64) { values[name] = v })
	stages := make([]string, len(classes))
	for i, class := range classes {
		stages[i] = class.String()
	}
	return stages, nil
}

func lossValues(shares loss.Shares, set func(name string, v float64)) {
	set("evidence_recall", shares.Of(loss.Found))
	for _, class := range loss.Losses() {
		set("loss_"+class.String(), shares.Of(class))
	}
}

// ranks fills in where the evidence stands in the lists of the parts, in the exact ones and in the fused one.
func (l *losses) ranks(units []loss.Unit, q int, g *gold, a arrowfile.Answer, k int) error {
	fused, err := l.rank(g, a.IDs)
	if err != nil {
		return err
	}
	var exact []int
	if l.exact != nil {
		ids, err := l.exact.list(q, func(ids []int64) (bool, error) { return l.reaches(l.sieve.among(q, ids), k) })
		if err != nil {
			return err
		}
		if exact, err = l.rank(g, l.sieve.among(q, ids)); err != nil {
			return err
		}
	}
	for p, dense := range l.parts {
		listed := fused
		if len(l.parts) > 1 {
			if len(a.Lists) != len(l.parts) {
				return fmt.Errorf("the answer has the lists of %d parts, and the cell has %d", len(a.Lists), len(l.parts))
			}
			if listed, err = l.rank(g, a.Lists[p]); err != nil {
				return err
			}
		}
		for i := range units {
			part := loss.Part{Exact: listed[i], Listed: listed[i]}
			if dense {
				part.Exact = exact[i]
			}
			units[i].Parts = append(units[i].Parts, part)
		}
	}
	for i := range units {
		units[i].Fused = fused[i]
		// What a boost takes the place of would have been found without it.
		units[i].Filtered = l.sieve.excludes(q, unitDocuments(g.counted[i])) && (!l.sieve.boost || exact != nil && exact[i] > 0 && exact[i] <= k)
	}
	return nil
}

// rank is where each unit stands in a list of chunks, counting what k counts.
func (l *losses) rank(g *gold, ids []int64) ([]int, error) {
	ranked, err := l.judge.ranked(ids)
	if err != nil {
		return nil, err
	}
	return l.judge.rule.Ranks(l.judge.counting(ranked), g.counted), nil
}

// reaches says whether a list of chunks is long enough to tell the first k.
func (l *losses) reaches(ids []int64, k int) (bool, error) {
	ranked, err := l.judge.ranked(ids)
	return len(l.judge.counting(ranked)) >= k, err
}

// columns are the mean losses, which add up to 1 - evidence_recall exactly.
func (l *losses) columns(row results.Row, recall float64) error {
	shares, err := l.mean.Shares(recall)
	if err != nil {
		return err
	}
	lossValues(shares, func(name string, v float64) { row[name] = v })
	return nil
}

// exactLists are the lists of exact search.
type exactLists struct {
	embedding     *embedding
	base, queries *vector.Matrix
}

func openExactLists(e *embedding) (*exactLists, error) {
	queries, err := vector.OpenFbin(e.queries)
	if err != nil {
		return nil, err
	}
	base, err := vector.OpenFbin(e.base)
	if err != nil {
		return nil, errors.Join(err, queries.Close())
	}
	return &exactLists{embedding: e, base: base, queries: queries}, nil
}

func (x *exactLists) close() error { return errors.Join(x.base.Close(), x.queries.Close()) }

// list is the nearest rows of a query, nearest first: as many as were kept, or all where these are not enough, which only
// happens when documents are counted and a few of them take all the first places. A query of no known word has none.
func (x *exactLists) list(q int, enough func([]int64) (bool, error)) ([]int64, error) {
	if isZero(x.queries.Row(q)) {
		return nil, nil
	}
	ids, _ := x.embedding.truth.Row(q)
	if ok, err := enough(ids); ok || err != nil || len(ids) >= x.base.Len() {
		return ids, err
	}
	if all, ok := x.embedding.deeper[q]; ok {
		if ok, err := enough(all); ok || err != nil || len(all) >= x.base.Len() {
			return all, err
		}
	}
	all, err := x.search(q, enough)
	if err != nil {
		return nil, err
	}
	if x.embedding.deeper == nil {
		x.embedding.deeper = map[int][]int64{}
	}
	x.embedding.deeper[q] = all
	return all, nil
}

// search finds more neighbours of one query until they are enough.
func (x *exactLists) search(q int, enough func([]int64) (bool, error)) ([]int64, error) {
	one, err := vector.NewMatrix(x.queries.Row(q), x.queries.Dim())
	if err != nil {
		return nil, err
	}
	for k := 4 * x.embedding.truth.K; ; k *= 4 {
		found, err := truth.Exact(context.Background(), x.base, one, x.embedding.metric, min(k, x.base.Len()), 1)
		if err != nil {
			return nil, fmt.Errorf("exact neighbours of query %d: %w", q, err)
		}
		ids, _ := found.Row(0)
		if ok, err := enough(ids); ok || err != nil || len(ids) >= x.base.Len() {
			return ids, err
		}
	}
}
