package cell

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"frontier/indexes"
)

// The modes of a predicate. What a caller may see is enforced in all of them.
const (
	FilterPre   = "pre"   // the engine looks among the rows that the predicate keeps
	FilterPost  = "post"  // its answers are filtered, and it is asked for more until enough are left or it has no more
	FilterBoost = "boost" // answers that the predicate keeps gain a share of the range of scores
)

// Filters are the rows that each query may get. A set is bits over rows, row i being bit i%64 of word i/64.
type Filters struct {
	Rows       int
	Eligible   []int   // of each query, the set of what its caller may see; -1: everything
	Predicates [][]int // of each predicate, of each query, the set that it keeps; -1: everything
	Sets       [][]uint64
}

// PointFilter is the predicate that a point tries.
type PointFilter struct {
	Predicate int // place in Filters.Predicates
	Mode      string
	Boost     float64 `json:",omitempty"` // share of the range of scores
}

// filtersHead is what stands before the sets in a file.
type filtersHead struct {
	Rows, Sets int
	Eligible   []int
	Predicates [][]int
}

// WriteFilters writes f where a cell reads it.
func WriteFilters(path string, f *Filters) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := bufio.NewWriter(file)
	if err := WriteFrame(w, filtersHead{Rows: f.Rows, Sets: len(f.Sets), Eligible: f.Eligible, Predicates: f.Predicates}); err != nil {
		return err
	}
	for i, set := range f.Sets {
		if _, err := indexes.IDSetOf(f.Rows, set); err != nil {
			return fmt.Errorf("set %d: %w", i, err)
		}
		if err := binary.Write(w, binary.LittleEndian, set); err != nil {
			return err
		}
	}
	return w.Flush()
}

// rowFilters are Filters as a retriever uses them.
type rowFilters struct {
	eligible   []*indexes.IDSet // of each query; nil: everything
	predicates [][]*indexes.IDSet
	both       [][]*indexes.IDSet // of each predicate: what both allow; made when a point first needs it
}

func readFilters(path string, queries int) (*rowFilters, error) {
	raw, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	r := bufio.NewReader(raw)
	var head filtersHead
	if err := ReadFrame(r, &head); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sets := make([]*indexes.IDSet, head.Sets)
	for i := range sets {
		words := make([]uint64, (head.Rows+63)/64)
		if err := binary.Read(r, binary.LittleEndian, words); err != nil {
			return nil, fmt.Errorf("%s: set %d: %w", path, i, err)
		}
		if sets[i], err = indexes.IDSetOf(head.Rows, words); err != nil {
			return nil, fmt.Errorf("%s: set %d: %w", path, i, err)
		}
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: there is more than %d sets", path, head.Sets)
	}
	ofQueries := func(places []int) ([]*indexes.IDSet, error) {
		if len(places) != queries {
			return nil, fmt.Errorf("%s: has the rows of %d queries, and there are %d", path, len(places), queries)
		}
		out := make([]*indexes.IDSet, queries)
		for q, i := range places {
			if i >= len(sets) {
				return nil, fmt.Errorf("%s: query %d has set %d of %d", path, q, i, len(sets))
			}
			if i >= 0 {
				out[q] = sets[i]
			}
		}
		return out, nil
	}
	f := &rowFilters{both: make([][]*indexes.IDSet, len(head.Predicates))}
	if f.eligible, err = ofQueries(head.Eligible); err != nil {
		return nil, err
	}
	for _, places := range head.Predicates {
		predicate, err := ofQueries(places)
		if err != nil {
			return nil, err
		}
		f.predicates = append(f.predicates, predicate)
	}
	return f, nil
}

// bothOf is what eligibility and a predicate allow together, so that no query pays for making it.
func (f *rowFilters) bothOf(predicate int) ([]*indexes.IDSet, error) {
	if f.both[predicate] != nil {
		return f.both[predicate], nil
	}
	type pair struct{ a, b *indexes.IDSet }
	made := map[pair]*indexes.IDSet{}
	both := make([]*indexes.IDSet, len(f.eligible))
	for q, eligible := range f.eligible {
		p := pair{eligible, f.predicates[predicate][q]}
		switch {
		case p.a == nil:
			both[q] = p.b
		case p.b == nil:
			both[q] = p.a
		case made[p] != nil:
			both[q] = made[p]
		default:
			set, err := p.a.And(p.b)
			if err != nil {
				return nil, err
			}
			both[q], made[p] = set, set
		}
	}
	f.both[predicate] = both
	return both, nil
}

// pointFilters are the sets that act at the point that is being measured; each may be nil.
type pointFilters struct {
	hard  []*indexes.IDSet // of each query: what a row must be in, by searching among them where a part can
	after []*indexes.IDSet // what answers must be in
	gain  []*indexes.IDSet // what earns boost
	boost float64
	mode  string // in effect
}

// usePoint makes the filters of a point act, and says in which mode and with which warnings.
func (r *retriever) usePoint(p *PointFilter) (warnings []string, err error) {
	r.acting = pointFilters{}
	if r.filters == nil {
		if p != nil {
			return nil, errors.New("a point has a filter, and the request has none")
		}
		return nil, nil
	}
	f := r.filters
	r.acting.hard = f.eligible
	if w := r.enforcedAfter(); w != "" {
		warnings = append(warnings, w)
	}
	if p == nil {
		return warnings, nil
	}
	if p.Predicate < 0 || p.Predicate >= len(f.predicates) {
		return nil, fmt.Errorf("predicate %d of %d", p.Predicate, len(f.predicates))
	}
	r.acting.mode = p.Mode
	switch p.Mode {
	case FilterPre:
		for i, can := range r.filtering {
			if can == nil {
				r.acting.mode = FilterPost
				warnings = append(warnings, fmt.Sprintf("%s cannot filter while it searches, so filter mode pre is post here", r.names[i]))
				break
			}
		}
	case FilterPost:
	case FilterBoost:
		r.acting.gain, r.acting.boost = f.predicates[p.Predicate], p.Boost
	default:
		return nil, fmt.Errorf("no filter mode is called %q", p.Mode)
	}
	switch r.acting.mode {
	case FilterPre:
		r.acting.hard, err = f.bothOf(p.Predicate)
	case FilterPost:
		r.acting.after = f.predicates[p.Predicate]
	}
	return warnings, err
}

// enforcedAfter says which part has to be asked for more than a caller may see.
func (r *retriever) enforcedAfter() string {
	limited := false
	for _, set := range r.filters.eligible {
		limited = limited || set != nil
	}
	if !limited {
		return ""
	}
	for i, can := range r.filtering {
		if can == nil {
			return fmt.Sprintf("%s cannot filter while it searches: what a caller may see is enforced on its answers, and it is asked for more until enough are left", r.names[i])
		}
	}
	return ""
}

// of is the set of a query, or nil.
func of(sets []*indexes.IDSet, query int) *indexes.IDSet {
	if sets == nil {
		return nil
	}
	return sets[query]
}

// probeParts finds out which parts can search among some rows, where rows are filtered.
func (r *retriever) probeParts() error {
	r.filtering = make([]indexes.Filtered, len(r.parts))
	switch {
	case r.filters == nil:
		return nil
	case r.vectors != nil:
		return r.probe(r.vectors.Dim())
	case r.embedder != nil:
		return r.probe(r.embedder.Dim())
	}
	return r.probe(0)
}

// probe asks each part for nothing. dim is that of the queries, 0 if they are text alone.
func (r *retriever) probe(dim int) error {
	for i, part := range r.parts {
		f, ok := part.(indexes.Filtered)
		if !ok {
			continue
		}
		_, err := f.SearchFiltered(indexes.Query{Vector: make([]float32, dim)}, 1, indexes.NewIDSet(part.Len()), nil)
		switch {
		case errors.Is(err, indexes.ErrNoFilter):
		case err != nil:
			return fmt.Errorf("search among no rows of %s: %w", r.names[i], err)
		default:
			r.filtering[i] = f
		}
	}
	return nil
}

// searchPart fills c.lists[i] with at most ask rows that the query may get, and says whether asking for more can find
// nothing more.
func (r *retriever) searchPart(c *client, i, query int, q indexes.Query, ask int) (exhausted bool, err error) {
	part, hard, after := r.parts[i], of(r.acting.hard, query), of(r.acting.after, query)
	if hard != nil && r.filtering[i] != nil {
		c.lists[i], err = r.filtering[i].SearchFiltered(q, ask, hard, c.lists[i])
		hard = nil
	} else {
		c.lists[i], err = part.Search(q, ask, c.lists[i])
	}
	if err != nil {
		return false, err
	}
	exhausted = len(c.lists[i]) < ask || ask >= part.Len()
	c.lists[i] = keep(c.lists[i], hard, after)
	return exhausted, nil
}

// keep drops the hits that are not in both sets, of which each may be nil.
func keep(hits []indexes.Hit, a, b *indexes.IDSet) []indexes.Hit {
	if a == nil && b == nil {
		return hits
	}
	kept := hits[:0]
	for _, h := range hits {
		if (a == nil || a.Has(h.ID)) && (b == nil || b.Has(h.ID)) {
			kept = append(kept, h)
		}
	}
	return kept
}

// lift adds to the hits in the set a share of the range from the lowest score to the highest, and sorts anew. Of hits that
// all score the same, those in the set come first. Scores are those of one list, so none is missing.
func lift(hits []indexes.Hit, set *indexes.IDSet, share float64) {
	if set == nil || len(hits) == 0 {
		return
	}
	low, high := hits[0].Score, hits[0].Score
	for _, h := range hits {
		low, high = min(low, h.Score), max(high, h.Score)
	}
	unit := float64(high) - float64(low)
	for i, h := range hits {
		scaled := 0.0
		if unit > 0 {
			scaled = (float64(h.Score) - float64(low)) / unit
		}
		if set.Has(h.ID) {
			scaled += share
		}
		hits[i].Score = float32(scaled)
	}
	indexes.SortHits(hits)
}
