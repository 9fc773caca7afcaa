package file

import (
	"fmt"

	hybridindex "frontier/indexes/hybrid"
	"frontier/internal/param"
)

// rrfSpec describes the constant of reciprocal rank fusion (Cormack et al., SIGIR 2009).
func rrfSpec() *param.Spec {
	return &param.Spec{Name: hybridindex.KindRRF, Type: param.Float, Min: 1, Max: 100_000, Doc: "Constant k of reciprocal rank fusion, the sum over lists of 1/(k + rank)."}
}

// convexSpec describes the weight of a weighted sum of scores.
func convexSpec() *param.Spec {
	return &param.Spec{Name: hybridindex.KindConvex, Type: param.Float, Min: 0, Max: 1, Doc: "Weight of the first of the two lists in a sum of scaled scores; the second has the rest of 1."}
}

// normSpec describes how scores are scaled before they are summed.
func normSpec() *param.Spec {
	return &param.Spec{Name: "norm", Type: param.String, Default: hybridindex.NormMinMax, Enum: hybridindex.Norms(), Doc: "How scores of a list are scaled: min-max to 0 and 1; z-score to a mean of 0 and a standard deviation of 1. A row that a list does not have gets what its last row gets."}
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
		ix.Fusion = []Fusion{{Kind: hybridindex.KindRRF, Param: defaultRRF}}
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
	const example = "for example fusion: [{rrf: 60}, {convex: [0.3, 0.5, 0.7]}]"
	if e.val.kind == scalar || emptyList(e.val) {
		d.add(placeOf(e.val, e.pos), name, "must be a list of mappings, not "+e.val.describe(), example)
		return nil
	}
	var out []Fusion
	seen := map[Fusion]bool{}
	for i, n := range elements(e.val) {
		one := fmt.Sprintf("%s[%d]", name, i)
		if n.kind != mapping || len(n.entries) == 0 {
			d.add(placeOf(n, e.pos), one, "must be a mapping such as {rrf: 60}, not "+n.describe(), example)
			continue
		}
		for _, f := range d.fusion(n, one) {
			same := Fusion{Kind: f.Kind, Param: f.Param, Norm: f.Norm}
			if seen[same] {
				d.add(f.Pos, join(one, f.Kind), fmt.Sprintf("has the value %s twice", formatFloat(f.Param)), "remove one")
				continue
			}
			seen[same] = true
			out = append(out, f)
		}
	}
	return out
}

// fusion reads one entry, whose parameters may be lists.
func (d *decoder) fusion(n *node, name string) []Fusion {
	kind, norms := entry{}, []string{""}
	for _, e := range n.entries {
		switch {
		case e.key == "norm":
		case e.key != hybridindex.KindRRF && e.key != hybridindex.KindConvex:
			d.unknownKey(e, name, []string{hybridindex.KindRRF, hybridindex.KindConvex, "norm"})
			return nil
		case kind.val != nil:
			d.add(e.pos, join(name, e.key), fmt.Sprintf("stands beside %s", kind.key), "give each its own entry: [{rrf: 60}, {convex: 0.5}]")
			return nil
		default:
			kind = e
		}
	}
	norm := n.get("norm")
	spec := rrfSpec()
	switch {
	case kind.val == nil:
		d.add(n.pos, name, "names no fusion", "for example {convex: 0.5, norm: z-score}")
		return nil
	case kind.key == hybridindex.KindConvex:
		spec, norms = convexSpec(), []string{hybridindex.NormMinMax}
		if norm != nil {
			axis, ok := d.axis(*norm, join(name, "norm"), normSpec(), variables{})
			if !ok {
				return nil
			}
			norms = nil
			for _, v := range axis.Values {
				text, _ := v.Literal.(string)
				norms = append(norms, text)
			}
		}
	case norm != nil:
		d.add(norm.pos, join(name, "norm"), "is for convex: rrf looks at ranks and not at scores", "remove it")
		return nil
	}
	axis, ok := d.axis(kind, join(name, kind.key), spec, variables{})
	if !ok {
		return nil
	}
	var out []Fusion
	for _, norm := range norms {
		for _, v := range axis.Values {
			if number, isNumber := v.Literal.(float64); isNumber {
				out = append(out, Fusion{Kind: kind.key, Param: number, Norm: norm, Pos: v.Pos})
			}
		}
	}
	return out
}
