package file

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontier/internal/bytesize"
)

// Canonical is the file in effect as YAML: overrides applied, ranges expanded and defaults filled in, apart from
// parameters of components that were not given. Equal files give equal text, and Parse at the same path reads it back
// as an equal file, places aside.
func (f *File) Canonical() ([]byte, error) {
	w := &yamlWriter{}
	w.line("version: %d", f.Version)
	w.line("name: %s", yamlString(f.Name))
	if f.Hypothesis != "" {
		w.line("hypothesis: %s", yamlString(f.Hypothesis))
	}
	w.line("seed: %d", f.Seed)
	w.line("build_threads: %d", f.BuildThreads)
	switch {
	case f.Dataset != nil && f.Vectors == nil:
		w.dataset(f.Dataset)
	case f.Vectors != nil && f.Dataset == nil:
		w.vectors(f.Vectors)
	default:
		return nil, fmt.Errorf("write %s as YAML: it must have one of dataset and vectors", f.Path)
	}
	w.items("chunkers", f.Chunkers)
	w.items("embedders", f.Embedders)
	w.line("indexes:")
	for _, ix := range f.Indexes {
		w.line("  - %s", flowIndex(ix))
	}
	w.filters(f.Filters)
	w.measure(&f.Measure)
	if f.Limits != (Limits{}) {
		limits := flow{}
		limits.durationUnlessZero("cell_time", f.Limits.CellTime)
		if f.Limits.Memory != 0 {
			limits.raw("memory", bytesize.Format(f.Limits.Memory))
		}
		limits.durationUnlessZero("query_time", f.Limits.Query)
		w.line("limits: %s", limits)
	}
	var objectives []string
	for _, o := range f.Objectives {
		objectives = append(objectives, yamlString(o.Column+":"+map[bool]string{true: "max", false: "min"}[o.Max]))
	}
	w.line("objectives: [%s]", strings.Join(objectives, ", "))
	if c := f.Cost; c != nil {
		cost := flow{}
		cost.textUnlessEmpty("catalog", c.Catalog)
		cost.raw("qps", formatFloat(c.QPS))
		cost.raw("replicas", strconv.Itoa(c.Replicas))
		w.line("cost: %s", cost)
	}
	w.line("strategy: {kind: grid}")
	return []byte(w.text.String()), nil
}

// yamlWriter writes the lines of a file.
type yamlWriter struct{ text strings.Builder }

func (w *yamlWriter) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

func (w *yamlWriter) dataset(set *Dataset) {
	f := flow{}
	f.textUnlessEmpty("corpus", set.Corpus)
	f.textUnlessEmpty("queries", set.Queries)
	f.textUnlessEmpty("qrels", set.Qrels)
	f.textUnlessEmpty("title", set.Title)
	f.parts = append(f.parts, set.subset().parts...)
	w.line("dataset: %s", f)
}

// subset is what chooses cases.
func (d *Dataset) subset() flow {
	f := flow{}
	f.textUnlessEmpty("split", d.Split)
	if len(d.Tags) > 0 {
		var tags []string
		for _, tag := range d.Tags {
			tags = append(tags, yamlString(tag))
		}
		f.raw("tags", "["+strings.Join(tags, ", ")+"]")
	}
	if d.Sample > 0 {
		f.raw("sample", strconv.Itoa(d.Sample))
	}
	f.textUnlessEmpty("by", d.By)
	return f
}

func (w *yamlWriter) vectors(v *Vectors) {
	f := flow{}
	f.textUnlessEmpty("base", v.Base)
	f.textUnlessEmpty("queries", v.Queries)
	f.textUnlessEmpty("truth", v.Truth)
	if s := v.Synthetic; s != nil {
		inner := flow{}
		inner.raw("n", strconv.Itoa(s.N))
		inner.raw("dim", strconv.Itoa(s.Dim))
		inner.raw("clusters", strconv.Itoa(s.Clusters))
		inner.raw("spread", formatFloat(s.Spread))
		inner.raw("queries", strconv.Itoa(s.Queries))
		f.raw("synthetic", inner.String())
	}
	f.textUnlessEmpty("metric", v.Metric)
	w.line("vectors: %s", f)
}

func (w *yamlWriter) items(key string, items []Item) {
	if len(items) == 0 {
		return
	}
	w.line("%s:", key)
	for _, item := range items {
		f := flow{}
		f.raw("kind", yamlString(item.Kind))
		f.axes(item.Axes)
		w.line("  - %s", f)
	}
}

func (w *yamlWriter) filters(all []Filter) {
	if len(all) == 0 {
		return
	}
	w.line("filters:")
	for _, one := range all {
		f := flow{}
		f.raw("field", yamlStrings(one.Fields))
		f.raw("from", "query")
		f.raw("mode", yamlStrings(one.Modes))
		if slices.Contains(one.Modes, FilterBoost) {
			var boosts []string
			for _, b := range one.Boosts {
				boosts = append(boosts, formatFloat(b))
			}
			f.raw("boost", "["+strings.Join(boosts, ", ")+"]")
		}
		hard := flow{}
		hard.raw("min_gain", formatFloat(one.Hard.MinGain))
		hard.raw("max_false_exclusion", formatFloat(one.Hard.MaxFalseExclusion))
		hard.raw("max_recall_lost", formatFloat(one.Hard.MaxRecallLost))
		f.raw("hard", hard.String())
		w.line("  - %s", f)
	}
}

func yamlStrings(all []string) string {
	var out []string
	for _, s := range all {
		out = append(out, yamlString(s))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (w *yamlWriter) measure(m *Measure) {
	w.line("measure:")
	w.line("  k: %s", strings.ReplaceAll(fmt.Sprint(m.K), " ", ", "))
	w.line("  depth: %d", m.Depth)
	if m.Unit != "" {
		w.line("  unit: %s", m.Unit)
		w.line("  evidence: %s", m.Evidence)
		w.line("  relevance_min: %d", m.RelevanceMin)
		w.line("  withheld_max: %s", formatFloat(m.WithheldMax))
		if m.ContextTokens > 0 {
			w.line("  context_tokens: %d", m.ContextTokens)
		}
		w.line("  leaks: %s", m.Leaks)
	}
	var load []string
	for _, l := range m.Load {
		load = append(load, l.Canonical())
	}
	w.line("  load: [%s]", strings.Join(load, ", "))
	w.line("  rounds: %d", m.Rounds)
	w.line("  min_time: %s", m.MinTime)
	w.line("  warmup: %s", m.Warmup)
	if len(m.Until) > 0 {
		until := flow{}
		for _, u := range m.Until {
			until.raw(u.Stat, percent(u.Width))
		}
		w.line("  until: %s", until)
	}
	if m.MaxTime != 0 {
		w.line("  max_time: %s", m.MaxTime)
	}
	w.line("  noisy: %s", m.Noisy)
	if m.AnnBenchmarks {
		w.line("  ann_benchmarks: true")
	}
}

func flowIndex(ix Index) string {
	f := flow{}
	f.raw("engine", yamlString(ix.Engine))
	f.axes(ix.Build)
	f.axes(ix.Template)
	if len(ix.Search) > 0 {
		search := flow{}
		search.axes(ix.Search)
		f.raw("search", search.String())
	}
	if len(ix.Parts) > 0 {
		var parts []string
		for _, p := range ix.Parts {
			parts = append(parts, flowIndex(p))
		}
		f.raw("of", "["+strings.Join(parts, ", ")+"]")
	}
	if len(ix.Fusion) > 0 {
		var fusion []string
		for _, one := range ix.Fusion {
			f := flow{}
			f.raw(one.Kind, formatFloat(one.Param))
			if one.Norm != "" {
				f.raw("norm", one.Norm)
			}
			fusion = append(fusion, f.String())
		}
		f.raw("fusion", "["+strings.Join(fusion, ", ")+"]")
	}
	return f.String()
}

// flow is a mapping on one line.
type flow struct{ parts []string }

func (f flow) String() string { return "{" + strings.Join(f.parts, ", ") + "}" }

func (f *flow) raw(key, value string) { f.parts = append(f.parts, yamlString(key)+": "+value) }

func (f *flow) textUnlessEmpty(key, value string) {
	if value != "" {
		f.raw(key, yamlString(value))
	}
}

func (f *flow) durationUnlessZero(key string, d time.Duration) {
	if d != 0 {
		f.raw(key, d.String())
	}
}

func (f *flow) axes(axes []Axis) {
	for _, a := range axes {
		var values []string
		for _, v := range a.Values {
			values = append(values, yamlValue(v))
		}
		if len(values) == 1 {
			f.raw(a.Name, values[0])
			continue
		}
		f.raw(a.Name, "["+strings.Join(values, ", ")+"]")
	}
}

func yamlValue(v Value) string {
	if v.Expr != "" {
		return yamlString(v.Expr)
	}
	switch literal := v.Literal.(type) {
	case string:
		return yamlString(literal)
	case float64:
		return v.String()
	default:
		return fmt.Sprint(literal)
	}
}

var bareString = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// yamlString writes a string so that YAML reads it as the same string.
func yamlString(s string) string {
	special := []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
	if bareString.MatchString(s) && !slices.Contains(special, strings.ToLower(s)) {
		return s
	}
	return strconv.Quote(s)
}
