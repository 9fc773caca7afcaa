package compare

import (
	"fmt"
	"slices"
	"strings"

	"frontier/results"
)

// Kind is what a difference outside of the metrics is about.
type Kind string

// The kinds.
const (
	Data        Kind = "data"        // what was searched and asked, and what answers are judged against: quality is not comparable
	Judgement   Kind = "judgement"   // how answers count: quality is not comparable
	Machine     Kind = "machine"     // what measured: times, rates and memory are not comparable
	Parameter   Kind = "parameter"   // what was tried, where match does not name it
	Environment Kind = "environment" // versions, and how long was measured
)

// Residue is something that differs between matched points and that match does not name.
type Residue struct {
	Kind      Kind   `json:"kind"`
	Column    string `json:"column"`
	Base, New string `json:"-"`
	Points    int    `json:"points"` // 0 if it is about the whole run
	Example   string `json:"example,omitempty"`
}

// String says what differs and in how many points.
func (r Residue) String() string {
	text := fmt.Sprintf("%s: %s -> %s", r.Column, r.Base, r.New)
	if r.Points > 1 {
		text += fmt.Sprintf(" (%d points)", r.Points)
	}
	return text
}

// kindOf sorts the columns whose difference is worth telling; "" are those that are measured, or follow from others.
func kindOf(name string) Kind {
	switch name {
	case "dataset_digest", "queries", "queries_answerable", "documents":
		return Data
	case "unit", "evidence_rule", "relevance_min":
		return Judgement
	case "machine_digest":
		return Machine
	case "dataset", "title_mode", "metric", "chunker", "chunk_size", "chunk_overlap", "chunk_unit", "embedder", "embedder_model", "embed_params",
		"engine", "index_kind", "index_spec", "m", "ef_construction", "nlist", "pq_m", "sq_bits", "ef_search", "nprobe", "fusion", "fusion_param", "params",
		"filter", "filter_mode", "reranker", "rerank_model", "rerank_depth", "context_tokens", "load_mode", "concurrency", "target_qps":
		return Parameter
	case "dim", "k", "depth", "build_threads", "engine_version", "go_version", "commit", "instruction_set", "cpu", "cores":
		return Environment
	}
	return ""
}

// Residue is what differs between the matched points, and between the two runs as a whole, the gravest kind first.
func (m *Matching) Residue() []Residue {
	var out []Residue
	for _, p := range m.Pairs {
		if p.Base == nil || p.New == nil {
			continue
		}
		for _, name := range residueColumns(p, m.Columns) {
			base, next := p.Base.Row[name], p.New.Row[name]
			if show(base) == show(next) || failed(p.Base.Row) || failed(p.New.Row) {
				continue
			}
			r := Residue{Kind: kindOf(name), Column: name, Base: show(base), New: show(next), Points: 1, Example: p.Label}
			i := slices.IndexFunc(out, func(o Residue) bool { return o.Column == r.Column && o.Base == r.Base && o.New == r.New })
			if i >= 0 {
				out[i].Points++
			} else {
				out = append(out, r)
			}
		}
	}
	out = append(out, m.runResidue()...)
	order := []Kind{Data, Judgement, Machine, Parameter, Environment}
	slices.SortStableFunc(out, func(a, b Residue) int { return slices.Index(order, a.Kind) - slices.Index(order, b.Kind) })
	return out
}

// residueColumns are the columns of a pair that may differ, in a fixed order. params repeats the typed columns, so it is
// told only where none of these differs; so are the details of a machine.
func residueColumns(p Pair, matched []string) []string {
	var names, last []string
	for _, c := range results.Columns() {
		kind := kindOf(c.Name)
		if kind == "" || slices.Contains(matched, c.Name) {
			continue
		}
		if c.Name == "params" || c.Name == "embed_params" {
			last = append(last, c.Name)
			continue
		}
		names = append(names, c.Name)
	}
	for _, name := range names {
		if kindOf(name) == Parameter && show(p.Base.Row[name]) != show(p.New.Row[name]) {
			return names
		}
	}
	return append(names, last...)
}

func failed(r results.Row) bool { return r.Text("status") != "ok" }

// runResidue compares the manifests, where each side is one run.
func (m *Matching) runResidue() []Residue {
	if len(m.Base.Sources) != 1 || len(m.New.Sources) != 1 {
		return nil
	}
	base, next := m.Base.Sources[0].Manifest, m.New.Sources[0].Manifest
	var out []Residue
	add := func(kind Kind, name string, b, n any) {
		if show(b) != show(n) {
			out = append(out, Residue{Kind: kind, Column: name, Base: show(b), New: show(n)})
		}
	}
	for _, name := range sortedKeys(union(base.Digests, next.Digests)) {
		add(Data, "digest of "+name, base.Digests[name], next.Digests[name])
	}
	add(Judgement, "aggregation rule", base.AggregationRule, next.AggregationRule)
	add(Judgement, "scorer version", base.ScorerVersion, next.ScorerVersion)
	add(Parameter, "seed", base.Seed, next.Seed)
	add(Environment, "protocol", base.Protocol, next.Protocol)
	add(Environment, "frontier version", base.Frontier, next.Frontier)
	return out
}

func union(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		out[k] = v
	}
	return out
}

// OtherData says why the qualities of two matched points cannot be compared, "" if they can: they were measured on other
// data, or judged in another way.
func (p Pair) OtherData() string {
	var parts []string
	for _, name := range []string{"dataset_digest", "unit", "evidence_rule", "relevance_min"} {
		if b, n := show(p.Base.Row[name]), show(p.New.Row[name]); b != n {
			parts = append(parts, fmt.Sprintf("%s is %s in BASE and %s in NEW", name, b, n))
		}
	}
	return strings.Join(parts, ", ")
}

// OtherMachine says whether two matched points were measured on different machines.
func (p Pair) OtherMachine() bool {
	return p.Base.Row.Text("machine_digest") != p.New.Row.Text("machine_digest")
}
