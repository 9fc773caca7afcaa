package compare

import (
	"encoding/json"
	"fmt"
	"maps"
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
	Kind    Kind   `json:"kind"`
	Column  string `json:"column"`
	Points  int    `json:"points"` // 0 if it is about the whole run
	Example string `json:"example,omitempty"`
	Base    string `json:"base"`
	New     string `json:"new"`
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
	case "dataset", "title_mode", "metric", "chunker", "chunk_size", "chunk_overlap", "chunk_unit", "embedder", "embedder_model", "embed_params", "dim",
		"engine", "index_kind", "index_spec", "m", "ef_construction", "nlist", "pq_m", "sq_bits", "ef_search", "nprobe", "fusion", "fusion_param", "fusion_norm", "analyzer", "bm25_k1", "bm25_b", "params",
		"filter", "filter_mode", "filter_boost", "reranker", "rerank_model", "rerank_depth", "context_tokens", "load_mode", "concurrency", "in_flight", "arrivals", "target_qps", "slo":
		return Parameter
	case "k", "depth", "build_threads", "engine_version", "go_version", "commit", "instruction_set", "cpu", "cores":
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
		if failed(p.Base.Row) || failed(p.New.Row) {
			continue
		}
		for _, r := range pairResidue(p, m.Columns) {
			r.Example = p.Label
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

// pairResidue is what differs between the two sides of one pair. params repeats the parameters that have a column of their
// own, which are told once.
func pairResidue(p Pair, matched []string) []Residue {
	var out []Residue
	add := func(name string) {
		base, next := p.Base.Row.Setting(name), p.New.Row.Setting(name)
		if show(base) == show(next) || slices.Contains(matched, name) {
			return
		}
		for _, r := range differing(name, base, next) {
			key := strings.ToLower(r.Column[strings.LastIndexByte(r.Column, '.')+1:])
			if key == r.Column || !slices.ContainsFunc(out, func(o Residue) bool {
				return o.Base == r.Base && o.New == r.New && strings.HasSuffix(o.Column, key)
			}) {
				out = append(out, r)
			}
		}
	}
	for _, c := range results.Columns() {
		if kindOf(c.Name) != "" && !slices.Contains(exactParameters, c.Name) {
			add(c.Name)
		}
	}
	for _, name := range exactParameters {
		add(name)
	}
	return out
}

// differing are the differences of one column: of parameters that are written as JSON, those of each.
func differing(name string, base, next any) []Residue {
	one := Residue{Kind: kindOf(name), Column: name, Base: show(base), New: show(next), Points: 1}
	if !slices.Contains(exactParameters, name) {
		return []Residue{one}
	}
	b, okBase := parameters(base)
	n, okNew := parameters(next)
	if !okBase || !okNew {
		return []Residue{one}
	}
	var out []Residue
	for _, key := range sortedKeys(union(b, n)) {
		if show(b[key]) != show(n[key]) {
			out = append(out, Residue{Kind: one.Kind, Column: name + "." + key, Base: orNone(b[key]), New: orNone(n[key]), Points: 1})
		}
	}
	return out
}

// parameters are the values of a JSON object by the keys that lead to them, joined by dots.
func parameters(v any) (map[string]string, bool) {
	text, _ := v.(string)
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var tree map[string]any
	if d.Decode(&tree) != nil {
		return nil, false
	}
	out := map[string]string{}
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		if object, ok := v.(map[string]any); ok {
			for key, one := range object {
				walk(strings.TrimPrefix(prefix+"."+key, "."), one)
			}
			return
		}
		out[prefix] = fmt.Sprint(v)
	}
	walk("", tree)
	return out, true
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
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
	maps.Copy(out, a)
	maps.Copy(out, b)
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
