package file

import (
	"fmt"

	"frontier/internal/param"
)

// rrfSpec describes the constant of reciprocal rank fusion (Cormack et al., SIGIR 2009).
func rrfSpec() *param.Spec {
	return &param.Spec{Name: "rrf", Type: param.Float, Min: 1, Max: 100_000, Doc: "Constant k of reciprocal rank fusion, the sum over lists of 1/(k + rank)."}
}

const defaultRRF = 60

// hybrid reads an entry that fuses two others.
func (d *decoder) hybrid(n *node, name string) Index {
	ix := Index{Engine: hybrid, Pos: n.pos}
	for _, e := range n.entries {
		switch e.key {
		case "engine":
		case "of":
			ix.Parts = d.parts(e, join(name, "of"))
		case "fusion":
			ix.Fusion = d.fusions(e, join(name, "fusion"))
		case "search":
			d.add(e.pos, join(name, "search"), "is not for hybrid itself", "write it in a part: of: [bleve, {engine: hnswlib, search: {...}}]")
		default:
			d.unknownKey(e, name, []string{"engine", "of", "fusion"})
		}
	}
	if n.get("of") == nil {
		d.add(n.pos, join(name, "of"), "is required: the two engines to fuse", "for example of: [bleve, hnswlib]")
	}
	if n.get("fusion") == nil {
		ix.Fusion = []Fusion{{Kind: "rrf", Param: defaultRRF}}
	}
	return ix
}

func (d *decoder) parts(e entry, name string) []Index {
	if e.val.kind != list || len(e.val.items) != 2 {
		d.add(placeOf(e.val, e.pos), name, "must be a list of two engines", "for example [bleve, hnswlib]")
		return nil
	}
	var out []Index
	for i, n := range e.val.items {
		part := fmt.Sprintf("%s[%d]", name, i)
		kinds := kindsOfEngines(d.reg, false)
		var kind *component
		engine, pos := n, n.pos
		if n.kind == mapping && n.get("engine") != nil {
			engine, pos = n.get("engine").val, n.get("engine").pos
		}
		switch {
		case engine.value == hybrid:
			d.add(pos, part, "is a hybrid itself", "a hybrid fuses two engines that are not hybrids")
			continue
		case n.kind == mapping:
			kind = d.choose(n, part, "engine", &kinds)
		default:
			text, ok := n.value.(string)
			if !ok {
				d.add(placeOf(n, e.pos), part, "must be the name of an engine, or a mapping, not "+n.describe(), "")
				continue
			}
			kind = d.chooseName(text, n.pos, part, &kinds)
			n = &node{kind: mapping, pos: n.pos} // all defaults
		}
		if kind != nil {
			out = append(out, d.index(n, part, kind))
		}
	}
	return out
}

func (d *decoder) fusions(e entry, name string) []Fusion {
	const example = "for example fusion: [{rrf: 60}]"
	if e.val.kind == scalar || emptyList(e.val) {
		d.add(placeOf(e.val, e.pos), name, "must be a list of mappings, not "+e.val.describe(), example)
		return nil
	}
	var out []Fusion
	seen := map[float64]bool{}
	for i, n := range elements(e.val) {
		one := fmt.Sprintf("%s[%d]", name, i)
		if n.kind != mapping || len(n.entries) != 1 {
			d.add(placeOf(n, e.pos), one, "must be a mapping with one key, not "+n.describe(), example)
			continue
		}
		switch kind := n.entries[0]; kind.key {
		case "rrf":
			axis, ok := d.axis(kind, join(one, "rrf"), rrfSpec(), variables{})
			if !ok {
				continue
			}
			for _, v := range axis.Values {
				k, isNumber := v.Literal.(float64)
				if !isNumber || seen[k] {
					d.add(v.Pos, join(one, "rrf"), fmt.Sprintf("has the value %s twice", v), "remove one")
					continue
				}
				seen[k] = true
				out = append(out, Fusion{Kind: "rrf", Param: k, Pos: v.Pos})
			}
		case "convex":
			d.notBuilt(kind.pos, join(one, "convex"), "", "use {rrf: 60}")
		default:
			d.unknownKey(kind, one, []string{"rrf"})
		}
	}
	return out
}
