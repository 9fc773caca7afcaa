package datasets

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontier/internal/param"
)

// Resolver finds out where in a corpus the evidence of a golden set stands, in one pass over the documents. It holds
// the evidence and a bounded number of document ids, never a text.
type Resolver struct {
	golden *Golden
	units  [][]Unit
	wanted map[string][]place // document id to the evidence that names it
	near   map[string]string  // folded wanted id to a document id that folds alike, "" if there was none, for suggestions
	sample []string           // the first document ids, for suggestions
	found  map[string]int     // wanted id to document index
	faults []fault
	more   int
	next   int
}

// place is one piece of evidence: of case c the e-th.
type place struct{ c, e int }

// fault is an error with its place, since documents come in another order than cases.
type fault struct {
	place
	err error
}

// Bounds on what a Resolver keeps for its messages.
const (
	sampledIDs = 4096
	keptFaults = 1000
)

// NewResolver prepares to look for the evidence of g.
func NewResolver(g *Golden) *Resolver {
	r := &Resolver{
		golden: g, units: make([][]Unit, len(g.Cases)), wanted: map[string][]place{},
		near: map[string]string{}, found: map[string]int{},
	}
	for c := range g.Cases {
		evidence := g.Cases[c].Evidence
		r.units[c] = make([]Unit, len(evidence))
		for e := range evidence {
			id := evidence[e].DocumentID
			if len(r.wanted[id]) == 0 {
				r.near[foldID(id)] = ""
			}
			r.wanted[id] = append(r.wanted[id], place{c, e})
		}
	}
	return r
}

// foldID is what ids have in common that differ by case, leading zeros, the folder or the extension.
func foldID(id string) string {
	base := path.Base(strings.ToLower(strings.TrimSpace(id)))
	return withoutZeros(strings.TrimSuffix(base, path.Ext(base)))
}

// Add looks for evidence in the next document of the corpus; index counts documents from 0. Evidence that is not there
// is reported by Finish, with all the other; the error here is of the calls themselves.
func (r *Resolver) Add(index int, d Document) error {
	if index != r.next {
		return fmt.Errorf("resolving evidence: document %q has index %d where %d is next", d.ID, index, r.next)
	}
	r.next++
	folded := foldID(d.ID)
	if near, ok := r.near[folded]; ok && near == "" {
		r.near[folded] = d.ID
	}
	if len(r.sample) < sampledIDs {
		r.sample = append(r.sample, d.ID)
	}
	places := r.wanted[d.ID]
	if len(places) == 0 {
		return nil
	}
	if before, ok := r.found[d.ID]; ok {
		return fmt.Errorf("resolving evidence: documents %d and %d have the same id %q", before, index, d.ID)
	}
	r.found[d.ID] = index
	text := resolvedText{Document: d, index: index, points: utf8.RuneCountInString(d.Text)}
	for _, p := range places {
		e := &r.golden.Cases[p.c].Evidence[p.e]
		spans, msg, hint := text.spans(e)
		if msg != "" {
			r.fault(p, msg, hint)
			continue
		}
		r.units[p.c][p.e] = Unit{Spans: spans, Grade: max(e.Relevance, 0), Whole: e.whole()}
	}
	return nil
}

// Finish gives the units of every case, in the order of Golden.Cases and within a case in that of its Evidence, the
// alternatives of a group as one. Grades below 0 become 0. Evidence that was not found is an error: up to 20 of them are
// joined, in file order, each an *Error.
func (r *Resolver) Finish() ([][]Unit, error) {
	units, all := r.FinishAll()
	if len(all) == 0 {
		for i := range units {
			units[i] = r.golden.Cases[i].Merge(units[i])
		}
		return units, nil
	}
	kept := problems{more: r.more}
	for _, f := range r.faults {
		kept.add(f.err)
	}
	return nil, kept.err()
}

// FinishAll is Finish for those who want to know all that is wrong, with a unit for every piece of evidence, alternatives
// too: up to 1000 faults in file order, then how many more there are, and the units beside them, those that were not found
// without spans.
func (r *Resolver) FinishAll() ([][]Unit, []error) {
	var absent []string
	for id := range r.wanted {
		if _, ok := r.found[id]; !ok {
			absent = append(absent, id)
		}
	}
	slices.SortFunc(absent, func(a, b string) int { return r.wanted[a][0].compare(r.wanted[b][0]) })
	for i, id := range absent {
		hint := "the evidence must be of a document of the corpus"
		if near := r.suggest(id); i < maxProblems && near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
			if withoutZeros(near) == withoutZeros(id) {
				hint = fmt.Sprintf("the corpus has %q: write leading zeros alike on both sides", near)
			}
		}
		for _, p := range r.wanted[id] {
			r.fault(p, fmt.Sprintf("document %q is not in the corpus (%d documents)", id, r.next), hint)
		}
	}
	slices.SortStableFunc(r.faults, func(a, b fault) int { return a.compare(b.place) })
	kept := problems{more: r.more, most: keptFaults}
	for _, f := range r.faults {
		kept.add(f.err)
	}
	return r.units, kept.list()
}

func (p place) compare(q place) int { return cmp.Or(cmp.Compare(p.c, q.c), cmp.Compare(p.e, q.e)) }

// suggest is a document id that may have been meant by id, or "".
func (r *Resolver) suggest(id string) string {
	if near := r.near[foldID(id)]; near != "" {
		return near
	}
	if !strings.ContainsFunc(id, unicode.IsLetter) {
		return "" // numbers are near to one another and mean nothing by it
	}
	return param.Nearest(id, r.sample)
}

func (r *Resolver) fault(p place, msg, hint string) {
	if len(r.faults) == keptFaults {
		r.more++
		return
	}
	c := &r.golden.Cases[p.c]
	file := c.File
	if r.golden.Judged && len(r.golden.Files) > 1 {
		file = r.golden.Files[1]
	}
	r.faults = append(r.faults, fault{p, &Error{File: file, Line: c.Evidence[p.e].Line, Msg: fmt.Sprintf("case %q: %s", c.ID, msg), Hint: hint}})
}
