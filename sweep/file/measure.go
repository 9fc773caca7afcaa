package file

import (
	"fmt"
	"slices"
)

// textDepth is how many answers are asked for on text, where several chunks may be of one document.
const textDepth = 100

func (d *decoder) measure(root *section) {
	s, _ := d.open(root.get("measure"), "measure", measureFields())
	m := &d.file.Measure
	onText := d.file.Vectors == nil
	before := len(d.list)
	m.K = d.ks(s)
	kGood := len(d.list) == before
	largest := slices.Max(m.K)
	m.Depth = largest
	if onText {
		m.Depth = max(largest, textDepth)
	}
	if e := s.get("depth"); e != nil {
		m.Depth = s.integer("depth")
		if kGood && m.Depth > 0 && m.Depth < largest {
			s.wrong(e, fmt.Sprintf("%d is less than the largest k, %d", m.Depth, largest), fmt.Sprintf("raise depth to %d, or lower k", largest))
		}
	}
	if d.n >= 0 && m.Depth > d.n {
		place, name := d.placeOfDepth(s)
		d.add(place, name, fmt.Sprintf("%d answers are asked for, and there are %d vectors", m.Depth, d.n), "")
	}
	if onText {
		m.Unit, _ = s.text("unit")
		m.Evidence, _ = s.text("evidence")
		m.RelevanceMin = s.integer("relevance_min")
		m.Leaks, _ = s.text("leaks")
		m.ContextTokens = d.contextTokens(s)
		m.WithheldMax = s.number("withheld_max")
	} else {
		for _, key := range []string{"unit", "evidence", "relevance_min", "context_tokens", "withheld_max", "leaks"} {
			if e := s.get(key); e != nil {
				d.add(e.pos, join(s.name, key), "is for text, and this file measures on vectors", "remove it")
			}
		}
	}
	m.Load = d.load(s)
	m.Rounds = s.integer("rounds")
	m.MinTime, m.Warmup, m.MaxTime = s.duration("min_time"), s.duration("warmup"), s.duration("max_time")
	m.Until = d.until(s)
	m.Noisy, _ = s.text("noisy")
	m.AnnBenchmarks = s.flag("ann_benchmarks")
	if e := s.get("ann_benchmarks"); e != nil && onText && m.AnnBenchmarks && len(d.file.Embedders) == 0 {
		s.wrong(e, "is about recall against exact search, and nothing here is searched by vectors", "remove it")
	}
	if e := s.get("max_time"); e != nil && m.MaxTime > 0 && m.MaxTime < m.MinTime {
		s.wrong(e, fmt.Sprintf("%v is less than min_time, %v", m.MaxTime, m.MinTime), "raise max_time, or lower min_time")
	}
}

func (d *decoder) placeOfDepth(s *section) (Pos, string) {
	for _, key := range []string{"depth", "k"} {
		if e := s.get(key); e != nil {
			return placeOf(e.val, e.pos), join(s.name, key)
		}
	}
	return s.pos, join(s.name, "depth")
}

// maxContext is the largest context that makes sense to ask for: far more than any model reads.
const maxContext = 1_000_000_000

// contextTokens reads the budget of the context. A list is allowed for one number: a row has one score of it.
func (d *decoder) contextTokens(s *section) int {
	e := s.get("context_tokens")
	if e == nil {
		return 0
	}
	all := elements(e.val)
	if len(all) != 1 {
		s.wrong(e, fmt.Sprintf("must be one number, not a list of %d", len(all)), "make a sweep file for each budget")
		return 0
	}
	v, wrong := s.numberIn(all[0], &field{kind: fieldInt, min: 1, max: maxContext})
	if !wrong.ok() {
		s.wrong(e, wrong.msg, "")
	}
	return int(v)
}

// maxCutOffs bounds the columns of the results: each cut-off has several.
const maxCutOffs = 100

// ks reads the cut-offs and sorts them. It never returns an empty list.
func (d *decoder) ks(s *section) []int {
	e := s.get("k")
	if e == nil {
		return []int{1, 5, 10}
	}
	if emptyList(e.val) {
		s.wrong(e, "is an empty list", "for example [1, 5, 10]")
	}
	f := &field{kind: fieldInt, min: 1, max: 100_000}
	all := elements(e.val)
	if len(all) > maxCutOffs {
		s.wrong(e, fmt.Sprintf("has %d values, and %d are allowed", len(all), maxCutOffs), "")
		all = all[:maxCutOffs]
	}
	var out []int
	for _, n := range all {
		v, wrong := s.numberIn(n, f)
		switch k := int(v); {
		case !wrong.ok():
			d.add(placeOf(n, e.pos), join(s.name, "k"), wrong.msg, "")
		case slices.Contains(out, k):
			d.add(n.pos, join(s.name, "k"), fmt.Sprintf("has the value %d twice", k), "remove one")
		default:
			out = append(out, k)
		}
	}
	if len(out) == 0 {
		return []int{1}
	}
	slices.Sort(out)
	return out
}

func (d *decoder) cost(root *section) {
	e := root.get("cost")
	if e == nil {
		return
	}
	s, _ := d.open(e, "cost", costFields())
	c := &Cost{QPS: s.number("qps"), Replicas: s.integer("replicas")}
	c.Catalog, c.CatalogPos = s.text("catalog")
	d.exists(c.Catalog, c.CatalogPos, "cost.catalog")
	d.file.Cost = c
}
