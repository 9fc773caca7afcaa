package sweep

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"frontier/bench/filters"
	"frontier/datasets"
	"frontier/indexes"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// access is which documents each question may get: by eligibility, which is what its caller may see, and by the predicates
// that the sweep tries.
type access struct {
	documents  int
	eligible   selections
	predicates []selections // of each entry of filters
}

// selections are sets of documents, and the one of each question; -1 stands for all documents.
type selections struct {
	sets []filters.Selection
	of   []int
}

// everything is all of n documents.
func everything(n int) filters.Selection { return filters.Select(n, func(int) bool { return true }) }

// has says whether question q may get document doc.
func (s *selections) has(q, doc int) bool { return s.of[q] < 0 || s.sets[s.of[q]].Has(doc) }

// fieldValues is one field of all documents: of each the number of its value, -1 if it has none.
type fieldValues struct {
	numbers map[string]int32
	of      []int32
}

func (v *fieldValues) add(value string, has bool) {
	if !has {
		v.of = append(v.of, -1)
		return
	}
	n, ok := v.numbers[value]
	if !ok {
		n = int32(len(v.numbers))
		v.numbers[strings.Clone(value)] = n
	}
	v.of = append(v.of, n)
}

// docFields keeps the fields of documents that questions are filtered by.
type docFields map[string]*fieldValues

// fieldsToKeep are those that cases and predicates name.
func fieldsToKeep(f *file.File, golden *datasets.Golden) docFields {
	fields := docFields{}
	keep := func(name string) {
		if fields[name] == nil {
			fields[name] = &fieldValues{numbers: map[string]int32{}}
		}
	}
	for _, c := range golden.Cases {
		for name := range c.Filter {
			keep(name)
		}
	}
	for _, one := range f.Filters {
		for _, name := range one.Fields {
			keep(name)
		}
	}
	return fields
}

func (f docFields) add(d datasets.Document) {
	for name, values := range f {
		v, has := d.Fields[name]
		values.add(v, has)
	}
}

// absent says that no document has the field.
func (f docFields) absent(name string) bool { return len(f[name].numbers) == 0 }

// selecting is the documents that have all the values.
func (f docFields) selecting(want map[string]string, documents int) filters.Selection {
	type condition struct {
		of []int32
		n  int32
	}
	var all []condition
	for name, value := range want {
		n, ok := f[name].numbers[value]
		if !ok {
			return filters.Select(documents, func(int) bool { return false })
		}
		all = append(all, condition{f[name].of, n})
	}
	return filters.Select(documents, func(doc int) bool {
		return !slices.ContainsFunc(all, func(c condition) bool { return c.of[doc] != c.n })
	})
}

// selectAll makes the sets of all questions, each distinct one once. A question that wants nothing may get everything.
func (f docFields) selectAll(wants []map[string]string, documents int) selections {
	s := selections{of: make([]int, len(wants))}
	known := map[string]int{}
	for q, want := range wants {
		if s.of[q] = -1; len(want) == 0 {
			continue
		}
		key := wantText(want)
		i, ok := known[key]
		if !ok {
			i = len(s.sets)
			known[key] = i
			s.sets = append(s.sets, f.selecting(want, documents))
		}
		s.of[q] = i
	}
	return s
}

func wantText(want map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		parts = append(parts, strconv.Quote(name)+"="+strconv.Quote(want[name]))
	}
	return strings.Join(parts, " ")
}

// newAccess finds out what each question may get; nil if that is everything and no predicate is tried. A field that no
// document has is an error: all that it can do is to hide everything.
func newAccess(f *file.File, c *corpus, fields docFields) (*access, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	a := &access{documents: len(c.ids)}
	callers := make([]map[string]string, len(c.golden.Cases))
	for q, k := range c.golden.Cases {
		callers[q] = k.Filter
		for name := range k.Filter {
			if fields.absent(name) {
				return nil, &datasets.Error{
					File: k.File, Line: k.Line, Msg: fmt.Sprintf("case %q may see documents by %q, and no document of %s has a field of that name", k.ID, name, c.name),
					Hint: "write it into the documents, as a string, number or boolean beside their text or in \"metadata\"",
				}
			}
		}
	}
	a.eligible = fields.selectAll(callers, len(c.ids))
	for i := range f.Filters {
		wants, err := predicateOf(f, &f.Filters[i], c, fields)
		if err != nil {
			return nil, err
		}
		a.predicates = append(a.predicates, fields.selectAll(wants, len(c.ids)))
	}
	return a, nil
}

// predicateOf is what an entry of filters asks for, for each question.
func predicateOf(f *file.File, one *file.Filter, c *corpus, fields docFields) ([]map[string]string, error) {
	wants := make([]map[string]string, len(c.golden.Cases))
	for _, name := range one.Fields {
		if fields.absent(name) {
			return nil, fault(f, one.Pos, "filters", fmt.Sprintf("no document of %s has the field %q", c.name, name), "write it into the documents beside their text or in \"metadata\", or leave the filter out")
		}
		asked := false
		for q, k := range c.golden.Cases {
			value, ok := k.Extra[name]
			if !ok {
				continue
			}
			asked = true
			if wants[q] == nil {
				wants[q] = map[string]string{}
			}
			wants[q][name] = value
		}
		if !asked {
			return nil, fault(f, one.Pos, "filters", fmt.Sprintf("no question of %s has the field %q", c.golden.Files[0], name), "write the value beside the question, or leave the filter out")
		}
	}
	return wants, nil
}

// eligibleUnits leaves out the evidence that the caller of each question may not see: it is no gold of that question. It
// also says of how many questions nothing is left.
func (a *access) eligibleUnits(all [][]datasets.Unit) (left [][]datasets.Unit, emptied int) {
	left = make([][]datasets.Unit, len(all))
	for q, units := range all {
		for _, u := range units {
			u.Spans = slices.DeleteFunc(slices.Clone(u.Spans), func(s datasets.Span) bool { return !a.eligible.has(q, s.Doc) })
			if len(u.Spans) > 0 {
				left[q] = append(left[q], u)
			}
		}
		if len(units) > 0 && len(left[q]) == 0 {
			emptied++
		}
	}
	return left, emptied
}

// limitAccess makes the corpus one of which each question may get only what its caller may see.
func (r *runner) limitAccess(c *corpus, fields docFields) error {
	a, err := newAccess(r.file, c, fields)
	if err != nil || a == nil {
		return err
	}
	c.access = a
	var emptied int
	if c.units, emptied = a.eligibleUnits(c.units); emptied > 0 {
		r.warn(fmt.Sprintf("of %d questions the caller may see none of the evidence, so they count as unanswerable: if that is not meant, look at \"filter\" in the cases", emptied))
	}
	return nil
}

// digest is what scoring depends on beside the evidence; nil without filters, so that other points keep their names.
func (a *access) digest(c *corpus, f *file.File) any {
	if a == nil || len(f.Filters) == 0 {
		return nil
	}
	var wants []map[string]string
	for _, k := range c.golden.Cases {
		want := map[string]string{}
		for _, one := range f.Filters {
			for _, name := range one.Fields {
				if v, ok := k.Extra[name]; ok {
					want[name] = v
				}
			}
		}
		wants = append(wants, want)
	}
	return wants
}

// rows are the sets of documents as sets of the rows of a chunking, docs being the document of each row.
func (a *access) rows(docs []int32) *cell.Filters {
	out := &cell.Filters{Rows: len(docs)}
	add := func(s *selections) []int {
		first := len(out.Sets)
		for i := range s.sets {
			set := indexes.NewIDSet(len(docs))
			for row, doc := range docs {
				if s.sets[i].Has(int(doc)) {
					set.Add(int64(row))
				}
			}
			out.Sets = append(out.Sets, set.Words())
		}
		of := slices.Clone(s.of)
		for q := range of {
			if of[q] >= 0 {
				of[q] += first
			}
		}
		return of
	}
	out.Eligible = add(&a.eligible)
	for i := range a.predicates {
		out.Predicates = append(out.Predicates, add(&a.predicates[i]))
	}
	return out
}

// filterText names a setting in the identity of a point.
func filterText(f *file.File, s file.FilterSetting) string {
	return fmt.Sprintf("filter %q %s %v", f.Filters[s.Filter].Fields, s.Mode, s.Boost)
}
