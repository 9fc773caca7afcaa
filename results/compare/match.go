package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontier/results"
	"frontier/results/ab"
)

// Pair is a point as both sides have it. Base or New is nil where only the other side has it.
type Pair struct {
	// Label tells the point from the others: the columns in which points differ, such as "engine=hnswlib ef_search=64".
	Label string
	// Key are the columns that make it the same point on both sides; null ones are absent.
	Key       results.Row
	Base, New *Point

	measured   *ab.Point // by frontier ab; nil if it did not
	confidence float64   // of its intervals
}

// Matching is how the points of two sides belong together.
type Matching struct {
	Base, New *Side
	Columns   []string // that points were matched by
	Default   bool     // these are all parameters, as nothing else was asked for
	Pairs     []Pair   // those of Base in its order, then those that only New has
}

// DefaultMatch are the columns that points are matched by if nothing else is said: the parameters of chunking,
// embedding, index, search and load, and the data by name. A point with another value of any of them is another point.
// Settings of the measurement, versions and the machine are not among them: they are reported where they differ.
func DefaultMatch() []string {
	columns := []string{
		"dataset", "chunker", "chunk_size", "chunk_overlap", "chunk_unit", "embedder", "embedder_model", "dim",
		"engine", "index_kind", "index_spec", "m", "ef_construction", "nlist", "pq_m", "sq_bits", "ef_search", "nprobe", "fusion", "fusion_param", "fusion_norm", "analyzer", "bm25_k1", "bm25_b",
		"filter", "filter_mode", "filter_boost", "reranker", "rerank_model", "rerank_depth", "context_tokens",
		"load_mode", "concurrency", "in_flight", "arrivals", "target_qps", "slo",
	}
	return slices.DeleteFunc(columns, func(name string) bool { _, known := results.Lookup(name); return !known })
}

// exactParameters hold all parameters as JSON, also those that have no column of their own.
var exactParameters = []string{"params", "embed_params"}

// AmbiguousError says that two points of one side are the same by the columns that points are matched by.
type AmbiguousError struct {
	Side   string
	Match  []string
	Label  string   // of the points
	Points int      // that are the same
	Apart  []string // columns that would tell them apart, each with its values, best first
}

// Error says which column to add.
func (e *AmbiguousError) Error() string {
	text := fmt.Sprintf("%s has %d points that are the same by %s (%s)", e.Side, e.Points, strings.Join(e.Match, ", "), e.Label)
	if len(e.Apart) == 0 {
		return text + ", and no column tells them apart; name one run"
	}
	apart, what := e.Apart[:min(len(e.Apart), 3)], "it"
	if len(apart) > 1 {
		what = "one of these"
	}
	return text + "; what tells them apart: " + strings.Join(apart, "; ") + ". Add " + what + " to match"
}

// Match pairs the points of two sides by the columns, or by DefaultMatch if there are none; then, where that leaves
// points of one side that are the same, by all parameters too. Points that are still the same are an *AmbiguousError.
func Match(base, next *Side, columns []string) (*Matching, error) {
	if len(base.Points)+len(next.Points) == 0 {
		return nil, fmt.Errorf("%s and %s have no point left to compare; loosen the condition", base.Name, next.Name)
	}
	if len(columns) > 0 {
		if err := results.CheckColumns(columns); err != nil {
			return nil, fmt.Errorf("match: %w", err)
		}
		return match(base, next, columns)
	}
	if m, err := match(base, next, DefaultMatch()); err == nil {
		m.Default = true
		return m, nil
	}
	m, err := match(base, next, append(DefaultMatch(), exactParameters...))
	if err == nil {
		m.Default = true
	}
	var same *AmbiguousError
	if errors.As(err, &same) {
		same.Match = []string{"all parameters"}
	}
	return m, err
}

func match(base, next *Side, columns []string) (*Matching, error) {
	m := &Matching{Base: base, New: next, Columns: columns}
	at := map[string]int{}
	for number, side := range []*Side{base, next} {
		byKey := map[string][]*Point{}
		var order []string
		for i := range side.Points {
			key := keyOf(side.Points[i].Row, columns)
			if byKey[key] == nil {
				order = append(order, key)
			}
			byKey[key] = append(byKey[key], &side.Points[i])
		}
		for _, key := range order {
			points := byKey[key]
			if len(points) > 1 {
				return nil, ambiguous(side, points, columns)
			}
			i, known := at[key]
			if !known {
				i = len(m.Pairs)
				at[key] = i
				m.Pairs = append(m.Pairs, Pair{Key: keyRow(points[0].Row, columns)})
			}
			if number == 0 {
				m.Pairs[i].Base = points[0]
			} else {
				m.Pairs[i].New = points[0]
			}
		}
	}
	m.label()
	return m, nil
}

// By says in words what points were matched by.
func (m *Matching) By() string {
	if m.Default {
		return "all parameters"
	}
	return strings.Join(m.Columns, ", ")
}

// keyOf is the values of columns as text that is equal for equal values.
func keyOf(r results.Row, columns []string) string {
	values := make([]any, len(columns))
	for i, c := range columns {
		values[i] = r.Setting(c)
	}
	raw, err := json.Marshal(values)
	if err != nil { // no value of a row is one that JSON lacks
		return fmt.Sprint(values)
	}
	return string(raw)
}

func keyRow(r results.Row, columns []string) results.Row {
	key := results.Row{}
	for _, c := range columns {
		if v := r.Setting(c); v != nil {
			key[c] = v
		}
	}
	return key
}

func ambiguous(side *Side, points []*Point, columns []string) error {
	e := &AmbiguousError{Side: side.Name, Match: columns, Points: len(points), Label: describe(keyRow(points[0].Row, columns), columns)}
	var tells []string // those with a value of its own for each point come first
	for _, name := range apartCandidates(points) {
		values := map[string]bool{}
		var shown []string
		for _, p := range points {
			text := show(p.Row.Setting(name))
			if !values[text] {
				values[text] = true
				shown = append(shown, text)
			}
		}
		switch {
		case len(shown) == len(points):
			e.Apart = append(e.Apart, fmt.Sprintf("%s (%s)", name, abridged(shown)))
		case len(shown) > 1:
			tells = append(tells, fmt.Sprintf("%s (%s)", name, abridged(shown)))
		}
	}
	e.Apart = append(e.Apart, tells...)
	return e
}

// apartCandidates are the columns that may tell points apart: parameters first, what is measured never.
func apartCandidates(points []*Point) []string {
	names := append(DefaultMatch(), exactParameters...)
	seen := map[string]bool{}
	for _, p := range points {
		for name := range p.Row {
			seen[name] = true
		}
	}
	for _, name := range sortedKeys(seen) {
		if kind := kindOf(name); (kind != "" || name == "run_id") && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func abridged(values []string) string {
	if len(values) > 5 {
		return strings.Join(values[:5], ", ") + ", ..."
	}
	return strings.Join(values, ", ")
}

// label names each pair by the key columns in which pairs differ.
func (m *Matching) label() {
	var varying []string
	for _, c := range m.Columns {
		if slices.Contains(exactParameters, c) {
			continue
		}
		first := show(m.Pairs[0].Key[c])
		if slices.ContainsFunc(m.Pairs, func(p Pair) bool { return show(p.Key[c]) != first }) {
			varying = append(varying, c)
		}
	}
	if !slices.Contains(varying, "engine") && slices.Contains(m.Columns, "engine") {
		varying = append([]string{"engine"}, varying...)
	}
	if len(varying) == 0 {
		varying = m.Columns
	}
	count := map[string]int{}
	for i := range m.Pairs {
		m.Pairs[i].Label = describe(m.Pairs[i].Key, varying)
		count[m.Pairs[i].Label]++
	}
	for i := range m.Pairs { // parameters without a column of their own
		if p := &m.Pairs[i]; count[p.Label] > 1 {
			p.Label += " " + describe(p.Key, exactParameters)
		}
	}
}

// describe is name=value of the columns that are not null, "" of none.
func describe(r results.Row, columns []string) string {
	var parts []string
	for _, c := range columns {
		if v := r[c]; v != nil {
			parts = append(parts, c+"="+show(v))
		}
	}
	return strings.Join(parts, " ")
}

// show is a value for people; null is "none".
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return v
	case float64:
		return fmt.Sprintf("%g", v)
	}
	return fmt.Sprint(v)
}

// Disjoint are the columns, of those matched by, in which no point of one side has a value of the other: leaving them
// out of match may bring points together. Each comes with both sides' values.
func (m *Matching) Disjoint() []string {
	var out []string
	for _, c := range m.Columns {
		base, next := valuesOf(m.Base, c), valuesOf(m.New, c)
		if !slices.ContainsFunc(next, func(v string) bool { return slices.Contains(base, v) }) {
			out = append(out, fmt.Sprintf("%s (%s against %s)", c, abridged(base), abridged(next)))
		}
	}
	return out
}

func valuesOf(s *Side, column string) []string {
	seen := map[string]bool{}
	for i := range s.Points {
		seen[show(s.Points[i].Row.Setting(column))] = true
	}
	return sortedKeys(seen)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
