package file

import (
	"fmt"
	"slices"

	"frontier/internal/param"
)

// Filter is a relevance predicate: a guess that the answer is among documents that have the same values as the question
// in some fields.
type Filter struct {
	Fields []string // of documents, and of the cases that give the values
	Modes  []string // FilterNone and so on, distinct
	Boosts []float64
	Hard   FilterLimits
	Pos    Pos
}

// FilterLimits are what a predicate has to keep to be advised as a hard filter, as shares in [0,1].
type FilterLimits struct{ MinGain, MaxFalseExclusion, MaxRecallLost float64 }

// The modes of a filter.
const (
	FilterNone  = "none"
	FilterPre   = "pre"
	FilterPost  = "post"
	FilterBoost = "boost"
)

const defaultBoost = 0.2

func filterFields() []field {
	return []field{
		{name: "field", kind: fieldOther, required: true, schema: "names", doc: "Field of the documents, or a list of fields that must all agree."},
		{name: "from", kind: fieldText, enum: []string{"query"}, def: "query", doc: "Where the value comes from: the field of the same name of the question's case. A question without it is not filtered."},
		{name: "mode", kind: fieldOther, def: "[none, pre]", schema: "modes", doc: "none: without the predicate; pre: the engine looks among the rows that it keeps; post: its answers are filtered; boost: answers that it keeps gain a share of the range of scores."},
		{name: "boost", kind: fieldOther, def: defaultBoost, schema: "boosts", doc: "What mode boost adds, as a share of the range from the lowest to the highest score of the answers."},
		{name: "hard", kind: fieldOther, schema: "hard", doc: "What the predicate has to keep to be advised as a hard filter."},
	}
}

func filterLimitFields() []field {
	return []field{
		{name: "min_gain", kind: fieldNumber, min: 0, max: 1, def: 0.01, doc: "Precision that it must gain: the lower end of the 95% interval, paired by question, must be at least this."},
		{name: "max_false_exclusion", kind: fieldNumber, min: 0, max: 1, def: 0.02, doc: "Share of questions of which it may exclude all eligible gold."},
		{name: "max_recall_lost", kind: fieldNumber, min: 0, max: 1, def: 0.01, doc: "Recall that it may lose."},
	}
}

func filterModeSpec() *param.Spec {
	return &param.Spec{Name: "mode", Type: param.String, Enum: []string{FilterNone, FilterPre, FilterPost, FilterBoost}, Doc: "How a predicate is used."}
}

func boostSpec() *param.Spec {
	return &param.Spec{Name: "boost", Type: param.Float, Min: 0.001, Max: 10, Doc: "Share of the range of scores."}
}

// filters reads the predicates to try.
func (d *decoder) filters(root *section) {
	const example = "for example filters: [{field: locale, from: query, mode: [none, pre]}]"
	e := root.get("filters")
	if e == nil || emptyList(e.val) {
		return
	}
	if d.file.Vectors != nil {
		d.add(e.pos, "filters", "are for text, and this file measures on vectors", "remove them, or give a dataset in place of vectors")
		return
	}
	if e.val.kind == scalar {
		d.add(placeOf(e.val, e.pos), "filters", "must be a list of mappings, not "+e.val.describe(), example)
		return
	}
	seen := map[string]bool{}
	for i, n := range elements(e.val) {
		name := fmt.Sprintf("filters[%d]", i)
		before := len(d.list)
		s, ok := d.open(&entry{pos: placeOf(n, e.pos), val: n}, name, filterFields())
		if !ok {
			continue
		}
		f := Filter{Pos: s.pos, Modes: []string{FilterNone, FilterPre}, Boosts: []float64{defaultBoost}}
		f.Fields = d.texts(s, "field", &param.Spec{Name: "field", Type: param.String})
		s.text("from")
		if s.get("mode") != nil {
			f.Modes = d.texts(s, "mode", filterModeSpec())
		}
		if b := s.get("boost"); b != nil {
			f.Boosts = d.numbers(s, *b, boostSpec())
			if !slices.Contains(f.Modes, FilterBoost) {
				s.wrong(b, "is for mode boost, which is not among the modes", "add boost to mode, or remove it")
			}
		}
		limits, _ := d.open(s.get("hard"), join(name, "hard"), filterLimitFields())
		f.Hard = FilterLimits{limits.number("min_gain"), limits.number("max_false_exclusion"), limits.number("max_recall_lost")}
		if len(d.list) > before {
			continue
		}
		if key := fmt.Sprint(f.Fields); seen[key] {
			d.add(f.Pos, name, fmt.Sprintf("has the fields %v as another entry has", f.Fields), "write one entry with all modes")
		} else {
			seen[key] = true
		}
		d.file.Filters = append(d.file.Filters, f)
	}
}

// texts are the strings of a key that may hold one or a list.
func (d *decoder) texts(s *section, key string, spec *param.Spec) []string {
	e := s.get(key)
	if e == nil {
		return nil
	}
	axis, _ := d.axis(*e, join(s.name, key), spec, variables{})
	var out []string
	for _, v := range axis.Values {
		if text, ok := v.Literal.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

func (d *decoder) numbers(s *section, e entry, spec *param.Spec) []float64 {
	axis, _ := d.axis(e, join(s.name, e.key), spec, variables{})
	var out []float64
	for _, v := range axis.Values {
		if number, ok := v.Literal.(float64); ok {
			out = append(out, number)
		}
	}
	return out
}

// FilterSettings are the ways of filtering that the file tries, each once, without a filter first if any entry asks for it or
// there are none.
func (f *File) FilterSettings() []FilterSetting {
	if len(f.Filters) == 0 {
		return []FilterSetting{{Filter: -1}}
	}
	var out []FilterSetting
	for i, one := range f.Filters {
		for _, mode := range one.Modes {
			switch mode {
			case FilterNone:
				if !slices.Contains(out, FilterSetting{Filter: -1}) {
					out = slices.Insert(out, 0, FilterSetting{Filter: -1})
				}
			case FilterBoost:
				for _, b := range one.Boosts {
					out = append(out, FilterSetting{Filter: i, Mode: mode, Boost: b})
				}
			default:
				out = append(out, FilterSetting{Filter: i, Mode: mode})
			}
		}
	}
	return out
}

// FilterSetting is one of the ways of filtering that a file tries. Predicates are tried one at a time.
type FilterSetting struct {
	Filter int    // place in File.Filters; -1 without a predicate
	Mode   string // FilterPre, FilterPost or FilterBoost; "" without a predicate
	Boost  float64
}
