package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/vector"
)

// hybrid is the name of the engine that fuses two others. It is built by the sweep, not by an engine's code.
const hybrid = "hybrid"

func kindsOfEngines(reg Registry, withHybrid bool) catalog {
	c := catalog{what: "engine", planned: []string{"pgvector", "qdrant", "weaviate", "milvus", "opensearch", "elasticsearch", "chroma", "redis"}}
	for i := range reg.Engines {
		if e := &reg.Engines[i]; e.Name != hybrid {
			c.known = append(c.known, component{e.Name, e.Params, variables{n: true, dim: true}})
		}
	}
	if withHybrid {
		c.known = append(c.known, component{name: hybrid})
	}
	return c
}

func (d *decoder) indexes(s *section) {
	e := s.get("indexes")
	if e == nil || emptyList(e.val) {
		pos := Pos{1, 1}
		if e != nil {
			pos = e.pos
		}
		d.add(pos, "indexes", "has no entry", "name at least one engine, for example indexes: [{engine: flat}]")
		return
	}
	for i, n := range elements(e.val) {
		name := fmt.Sprintf("indexes[%d]", i)
		if n.kind != mapping {
			hint := ""
			if n.kind == scalar {
				hint = "write {engine: " + n.text() + "}"
			}
			d.add(placeOf(n, e.pos), name, "must be a mapping, not "+n.describe(), hint)
			continue
		}
		kinds := kindsOfEngines(d.reg, true)
		kind := d.choose(n, name, "engine", &kinds)
		switch {
		case kind == nil:
			continue
		case kind.name == hybrid:
			d.file.Indexes = append(d.file.Indexes, d.hybrid(n, name))
		default:
			d.file.Indexes = append(d.file.Indexes, d.index(n, name, kind))
		}
	}
}

// index reads an entry of one engine.
func (d *decoder) index(n *node, name string, kind *component) Index {
	engine := indexes.Find(d.reg.Engines, kind.name)
	ix := Index{Engine: engine.Name, Pos: n.pos}
	before := len(d.list)
	texts := templateTexts(n, engine.Params)
	ix.Build = d.axes(n, name, engine.Params, kind.allowed, []string{"engine", "search"}, func(e entry) bool {
		return d.templateKey(e, name, engine, texts, &ix)
	})
	d.checkTemplate(n, name, texts)
	ix.Search = d.search(n, name, engine, kind.allowed)
	d.fits(engine, n.pos, name)
	if len(d.list) == before {
		d.checkIndex(engine, &ix, name)
	}
	return ix
}

// templateKey deals with a key that is not a parameter of building: it fills a placeholder, or is misplaced.
func (d *decoder) templateKey(e entry, name string, engine *indexes.Engine, texts []templateText, ix *Index) bool {
	switch {
	case slices.ContainsFunc(texts, func(t templateText) bool { return slices.Contains(t.names, e.key) }):
		if a, ok := d.axis(e, join(name, e.key), TemplateSpec(e.key), variables{n: true, dim: true}); ok {
			ix.Template = append(ix.Template, a)
		}
		return true
	case param.Find(engine.Search, e.key) != nil:
		d.add(e.pos, join(name, e.key), "is a parameter of searching", fmt.Sprintf("write search: {%s: ...}", e.key))
		return true
	case e.key == "of" || e.key == "fusion":
		d.add(e.pos, join(name, e.key), "is for engine: hybrid", "")
		return true
	case len(texts) > 0:
		if near := param.Nearest(e.key, slices.Concat(specNames(engine.Params), []string{"search"})); near != "" {
			return false // the general message says what was meant
		}
		d.add(e.pos, join(name, e.key), fmt.Sprintf("is not a parameter of %s, and {%s} is not in its %s", engine.Name, e.key, texts[0].param),
			"known keys are "+strings.Join(slices.Concat([]string{"engine"}, specNames(engine.Params), []string{"search"}), ", "))
		return true
	}
	return false
}

func specNames(specs []param.Spec) []string {
	var out []string
	for _, s := range specs {
		out = append(out, s.Name)
	}
	return out
}

func (d *decoder) search(n *node, name string, engine *indexes.Engine, allowed variables) []Axis {
	name = join(name, "search")
	e := n.get("search")
	if e == nil {
		e = &entry{pos: n.pos, val: &node{kind: mapping, pos: n.pos}}
	}
	if e.val.kind != mapping {
		d.add(placeOf(e.val, e.pos), name, "must be a mapping of parameters, not "+e.val.describe(), "for example search: {ef_search: [32, 64]}")
		return nil
	}
	return d.axes(e.val, name, engine.Search, allowed, nil, func(e entry) bool {
		if param.Find(engine.Params, e.key) == nil {
			return false
		}
		d.add(e.pos, join(name, e.key), "is a parameter of building", "write it beside engine, outside of search")
		return true
	})
}

// fits checks an engine against what the file measures on.
func (d *decoder) fits(engine *indexes.Engine, pos Pos, name string) {
	f := d.file
	name = join(name, "engine")
	switch {
	case f.Vectors != nil && engine.Lexical:
		d.add(pos, name, fmt.Sprintf("%s searches text, and this file measures on vectors", engine.Name), "remove it, or give a dataset in place of vectors")
	case f.Dataset != nil && !engine.Lexical && !d.hasEmbedders:
		d.add(pos, name, fmt.Sprintf("%s searches vectors, and there are no embedders", engine.Name), "add embedders, for example embedders: [{kind: hash}]")
	case !engine.Lexical && !slices.Contains(engine.Metrics, f.metric()) && len(engine.Metrics) > 0:
		d.add(pos, name, fmt.Sprintf("%s cannot compare by %s", engine.Name, f.metric()), fmt.Sprintf("it can by %s", joinMetrics(engine.Metrics)))
	}
}

func joinMetrics(all []vector.Metric) string {
	var out []string
	for _, m := range all {
		out = append(out, string(m))
	}
	return strings.Join(out, ", ")
}

// metric is how vectors are compared: embeddings of text by cosine.
func (f *File) metric() vector.Metric {
	if f.Vectors != nil && f.Vectors.Metric != "" {
		return vector.Metric(f.Vectors.Metric)
	}
	return vector.Cosine
}

// checkIndex tries the combinations of an entry's values.
func (d *decoder) checkIndex(engine *indexes.Engine, ix *Index, name string) {
	if engine.Check == nil {
		return
	}
	axes := slices.Concat(ix.Build, ix.Template, ix.Search)
	specs := specsOf(ix.Build, engine.Params)
	for _, a := range ix.Template {
		specs = append(specs, TemplateSpec(a.Name))
	}
	specs = append(specs, specsOf(ix.Search, engine.Search)...)
	built, filled := len(ix.Build), len(ix.Build)+len(ix.Template)
	label := func(i int, p string) string {
		if i >= filled || i < 0 && param.Find(engine.Params, p) == nil && param.Find(engine.Search, p) != nil {
			return join(name+".search", p)
		}
		return join(name, p)
	}
	d.combinations(axes, specs, ix.Pos, label, func(point []Value) error {
		values, err := FillAll(literals(ix.Build, point[:built]), literals(ix.Template, point[built:filled]))
		if err != nil {
			return err
		}
		build, err := param.Complete(engine.Params, values)
		if err != nil {
			return err
		}
		search, err := param.Complete(engine.Search, literals(ix.Search, point[filled:]))
		if err != nil {
			return err
		}
		return engine.Check(build, search, d.n, d.dim)
	})
}

// FillAll is build with the {placeholders} of its strings filled from template, whose values are int64.
func FillAll(build, template param.Values) (param.Values, error) {
	if len(template) == 0 {
		return build, nil
	}
	values := make(map[string]int64, len(template))
	for name, v := range template {
		whole, ok := v.(int64)
		if !ok {
			return nil, &param.Error{Param: name, Msg: fmt.Sprintf("must be a whole number, not %v", v)}
		}
		values[name] = whole
	}
	out := maps.Clone(build)
	for name, v := range build {
		text, ok := v.(string)
		if !ok || !placeholder.MatchString(text) {
			continue
		}
		full, err := Fill(text, values)
		if err != nil {
			return nil, &param.Error{Param: name, Msg: err.Error()}
		}
		out[name] = full
	}
	return out, nil
}
