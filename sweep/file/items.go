package file

import (
	"fmt"
	"slices"
	"strings"

	"frontier/chunkers"
	"frontier/internal/param"
)

// component is what chunkers, embedders and engines have in common here: a name and parameters.
type component struct {
	name    string
	params  []param.Spec
	allowed variables // in expressions
}

// catalog is the components that one list of the file may name.
type catalog struct {
	what    string // "chunker"
	known   []component
	planned []string // of the format, for later versions
}

func (c *catalog) names() []string {
	var out []string
	for _, one := range c.known {
		out = append(out, one.name)
	}
	return out
}

// nearest is the name that was probably meant, or "".
func (c *catalog) nearest(text string) string {
	if near := param.Nearest(text, c.names()); near != "" {
		return near
	}
	for _, name := range c.names() {
		if len(text) > 2 && strings.HasPrefix(name, text) {
			return name
		}
	}
	return ""
}

func (c *catalog) find(name string) *component {
	for i := range c.known {
		if c.known[i].name == name {
			return &c.known[i]
		}
	}
	return nil
}

// The number of chunks is not known before chunking, nor the dimension before embedding.
func kindsOfChunkers(reg Registry) catalog {
	c := catalog{what: "chunker", planned: []string{"sentence", "sentences", "markdown", "semantic", "html", "code"}}
	for _, k := range reg.Chunkers {
		c.known = append(c.known, component{k.Name, k.Params, variables{}})
	}
	return c
}

func kindsOfEmbedders(reg Registry) catalog {
	c := catalog{what: "embedder", planned: []string{"openai", "http", "cohere", "voyage", "ollama", "tei", "onnx"}}
	for _, k := range reg.Embedders {
		c.known = append(c.known, component{k.Name, k.Params, variables{n: true}})
	}
	return c
}

// choose finds the component that a key such as kind or engine names.
func (d *decoder) choose(n *node, name, key string, c *catalog) *component {
	e := n.get(key)
	if e == nil {
		d.add(n.pos, join(name, key), fmt.Sprintf("is required: the %s to use", c.what), "known ones are "+strings.Join(c.names(), ", "))
		return nil
	}
	text, ok := e.val.value.(string)
	if !ok {
		hint := ""
		if e.val.kind == list {
			hint = fmt.Sprintf("write one entry for each %s", c.what)
		}
		d.add(placeOf(e.val, e.pos), join(name, key), fmt.Sprintf("must be the name of one %s, not %s", c.what, e.val.describe()), hint)
		return nil
	}
	return d.chooseName(text, placeOf(e.val, e.pos), join(name, key), c)
}

func (d *decoder) chooseName(text string, pos Pos, name string, c *catalog) *component {
	if known := c.find(text); known != nil {
		return known
	}
	all := strings.Join(c.names(), ", ")
	switch near := c.nearest(text); {
	case slices.Contains(c.planned, text):
		d.notBuilt(pos, name, text, "use one of "+all)
	case near != "":
		d.add(pos, name, fmt.Sprintf("%s is not a known %s", quote(text), c.what), fmt.Sprintf("did you mean %q? known ones are %s", near, all))
	default:
		d.add(pos, name, fmt.Sprintf("%s is not a known %s", quote(text), c.what), "known ones are "+all)
	}
	return nil
}

// items reads a list of chunkers or embedders. check, if there is one, looks at an item whose axes are all good.
func (d *decoder) items(s *section, key string, c catalog, check func(*Item, string)) []Item {
	e := s.get(key)
	if e == nil {
		return nil
	}
	if e.val.kind == scalar {
		d.add(placeOf(e.val, e.pos), key, "must be a list, not "+e.val.describe(), "write [{kind: "+e.val.text()+"}]")
		return nil
	}
	var out []Item
	for i, n := range elements(e.val) {
		name := fmt.Sprintf("%s[%d]", key, i)
		if n.kind != mapping {
			hint := ""
			if n.kind == scalar {
				hint = "write {kind: " + n.text() + "}"
			}
			d.add(placeOf(n, e.pos), name, "must be a mapping, not "+n.describe(), hint)
			continue
		}
		kind := d.choose(n, name, "kind", &c)
		if kind == nil {
			continue
		}
		item := Item{Kind: kind.name, Pos: n.pos}
		before := len(d.list)
		item.Axes = d.axes(n, name, kind.params, kind.allowed, []string{"kind"}, nil)
		if check != nil && len(d.list) == before {
			check(&item, name)
		}
		out = append(out, item)
	}
	return out
}

// text is a scalar as text, for hints.
func (n *node) text() string { return fmt.Sprint(n.value) }

// axes reads the keys of a mapping that are parameters, in the order of the file. Keys in reserved are not parameters;
// other, if given, is asked about keys that are not parameters and says whether it has dealt with one.
func (d *decoder) axes(n *node, name string, specs []param.Spec, allowed variables, reserved []string, other func(entry) bool) []Axis {
	var out []Axis
	known := slices.Clone(reserved)
	for _, spec := range specs {
		known = append(known, spec.Name)
	}
	for _, e := range n.entries {
		if slices.Contains(reserved, e.key) {
			continue
		}
		spec := param.Find(specs, e.key)
		if spec == nil {
			if other == nil || !other(e) {
				d.unknownKey(e, name, known)
			}
			continue
		}
		if a, ok := d.axis(e, join(name, e.key), spec, allowed); ok {
			out = append(out, a)
		}
	}
	for i := range specs {
		if spec := &specs[i]; spec.Default == nil && n.get(spec.Name) == nil {
			d.add(n.pos, join(name, spec.Name), "is required: "+spec.Doc, "")
		}
	}
	return out
}

// checkChunker tries the combinations of an item's values.
func (d *decoder) checkChunker(item *Item, name string) {
	i := slices.IndexFunc(d.reg.Chunkers, func(k chunkers.Kind) bool { return k.Name == item.Kind })
	kind := d.reg.Chunkers[i]
	if kind.New == nil {
		return
	}
	label := func(_ int, param string) string { return join(name, param) }
	d.combinations(item.Axes, specsOf(item.Axes, kind.Params), item.Pos, label, func(point []Value) error {
		values, err := param.Complete(kind.Params, literals(item.Axes, point))
		if err != nil {
			return err
		}
		_, err = kind.New(values)
		return err
	})
}

// literals are the values of a point that are literals, by name.
func literals(axes []Axis, point []Value) param.Values {
	out := make(param.Values, len(axes))
	for i, v := range point {
		if v.Expr == "" {
			out[axes[i].Name] = v.Literal
		}
	}
	return out
}
