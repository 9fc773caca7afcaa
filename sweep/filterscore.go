package sweep

import (
	"fmt"
	"slices"

	"frontier/bench/filters"
	rates "frontier/bench/rate"
	"frontier/bench/spans"
	"frontier/bench/truth"
	"frontier/datasets"
	"frontier/results"
	"frontier/results/arrowfile"
	"frontier/sweep/file"
)

// sieve is what stands between the chunks and the questions of one point. The nil sieve lets everything through.
type sieve struct {
	access    *access
	docs      []int32     // of each chunk
	predicate *selections // that the point tries; nil without one
	boost     bool        // it only lifts what it keeps
}

func newSieve(c *corpus, j *judge, p pointPlan) *sieve {
	if c == nil || c.access == nil {
		return nil
	}
	s := &sieve{access: c.access, docs: j.docs}
	if p.filter != nil {
		s.predicate, s.boost = &c.access.predicates[p.filter.Filter], p.filter.Mode == file.FilterBoost
	}
	return s
}

// passes says whether the answer to question q may hold a chunk.
func (s *sieve) passes(q int, chunk int64) bool {
	if s == nil {
		return true
	}
	doc := int(s.docs[chunk])
	return s.access.eligible.has(q, doc) && (s.predicate == nil || s.boost || s.predicate.has(q, doc))
}

// among leaves of a list of chunks those that pass.
func (s *sieve) among(q int, chunks []int64) []int64 {
	if s == nil {
		return chunks
	}
	return slices.DeleteFunc(slices.Clone(chunks), func(id int64) bool { return !s.passes(q, id) })
}

// excludes says that the predicate keeps no document of the evidence.
func (s *sieve) excludes(q int, docs []int) bool {
	return s != nil && s.predicate != nil && !slices.ContainsFunc(docs, func(doc int) bool { return s.predicate.has(q, doc) })
}

// exactly are the k nearest of the chunks that pass, for all questions. A boost has none: its lists are not in the order
// of nearness.
func (s *sieve) exactly(e *embedding, queries, k int) (func(q int) ([]int64, []float64), error) {
	if s == nil {
		return e.truth.Row, nil
	}
	x, err := openExactLists(e)
	if err != nil {
		return nil, err
	}
	defer x.close()
	ids, distances := make([][]int64, queries), make([][]float64, queries)
	for q := range queries {
		list, err := x.list(q, func(ids []int64) (bool, error) { return len(s.among(q, ids)) >= k, nil })
		if err != nil {
			return nil, err
		}
		ids[q] = s.among(q, list)
		for _, id := range ids[q] {
			distances[q] = append(distances[q], truth.Distance(e.metric, x.queries.Row(q), x.base.Row(int(id))))
		}
	}
	return func(q int) ([]int64, []float64) { return ids[q], distances[q] }, nil
}

// columns judge the filters of a point: what came through that must not, and what the predicate keeps and takes away.
// A leak fails the point unless the sweep counts leaks and no more.
func (s *sieve) columns(row results.Row, c *corpus, m file.Measure, answers []arrowfile.Answer) error {
	if s == nil {
		return nil
	}
	leaks, results, first := 0, 0, ""
	for q, a := range answers {
		results += len(a.IDs)
		for _, id := range a.IDs {
			if doc := int(s.docs[id]); !s.access.eligible.has(q, doc) {
				if leaks++; leaks == 1 {
					first = fmt.Sprintf("question %s got document %s", c.golden.Cases[q].ID, c.ids[doc])
				}
			}
		}
	}
	row["filter_leaks"] = int64(leaks)
	if leaks > 0 && m.Leaks != leaksAllow {
		row["status"] = statusFailed
		row["error"] = fmt.Sprintf("filter: %d of %d results are of documents that their caller may not see (%s): do not deploy this engine as it is; \"measure: {leaks: allow}\" counts leaks and no more", leaks, results, first)
	}
	tally, eligible, err := s.tally(c, m.RelevanceMin)
	if err != nil {
		return err
	}
	row["filter_eligible_queries"] = int64(eligible)
	if s.predicate == nil {
		return nil
	}
	for name, r := range map[string]rates.Rate{
		"filter_false_exclusion_rate": tally.FalseExclusion(), "filter_predicate_precision": tally.PredicatePrecision(),
		"filter_predicate_recall": tally.PredicateRecall(), "filter_selectivity": tally.Selectivity(),
	} {
		if v, err := r.Value(); err == nil { // no question has eligible gold: there is no rate
			row[name] = v
		}
	}
	return nil
}

// leaksAllow is the value of measure.leaks that only counts.
const leaksAllow = "allow"

// tally counts over the questions that have evidence which their caller may see.
func (s *sieve) tally(c *corpus, relevanceMin int) (*filters.Tally, int, error) {
	all := everything(s.access.documents)
	of := func(sel *selections, q int) filters.Selection {
		if sel == nil || sel.of[q] < 0 {
			return all
		}
		return sel.sets[sel.of[q]]
	}
	t, eligible := &filters.Tally{}, 0
	for q, units := range c.units {
		gold := goldDocuments(units, relevanceMin)
		if len(gold) == 0 {
			continue
		}
		eligible++
		counts, err := filters.Judge(gold, of(&s.access.eligible, q), of(s.predicate, q))
		if err == nil {
			err = t.Add(counts)
		}
		if err != nil {
			return nil, 0, fmt.Errorf("question %s: %w", c.golden.Cases[q].ID, err)
		}
	}
	return t, eligible, nil
}

func goldDocuments(units []datasets.Unit, relevanceMin int) []int {
	var docs []int
	for _, u := range units {
		if u.Grade >= relevanceMin {
			for _, s := range u.Spans {
				docs = append(docs, s.Doc)
			}
		}
	}
	return docs
}

// unitDocuments are the documents that a unit of evidence is in.
func unitDocuments(u spans.Unit) []int {
	var docs []int
	for _, s := range u.Spans {
		docs = append(docs, s.Doc)
	}
	return docs
}
