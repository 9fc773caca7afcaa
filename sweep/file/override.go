package file

import (
	"fmt"
	"strconv"
	"strings"
)

// override is one --set flag, such as indexes.0.M=[8,16].
type override struct {
	text string
	path []string
	val  *node
}

// touches says whether param, such as indexes[0].M, is what the flag sets, lies within it or holds it.
func (o *override) touches(param string) bool {
	set := joinPath(o.path)
	return within(param, set) || within(set, param)
}

func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && outer != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// joinPath writes a path as messages do: numbers in brackets.
func joinPath(path []string) string {
	var b strings.Builder
	for _, part := range path {
		if _, err := strconv.Atoi(part); err == nil && b.Len() > 0 {
			b.WriteString("[" + part + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(part)
	}
	return b.String()
}

// applySets puts the values of --set flags into the tree. A value of null removes the key. Values from flags have the
// zero Pos. ok is false if a flag cannot be used.
func applySets(p *problems, root *node, sets []string) (_ *node, ok bool) {
	ok = true
	for _, text := range sets {
		// Problems of the flag itself are collected apart, as their places are not of the file.
		own := &problems{path: "--set " + text}
		if o, good := parseSet(own, text); good {
			root = apply(own, root, o)
			p.sets = append(p.sets, o)
		}
		ok = ok && len(own.list) == 0
		p.list = append(p.list, own.list...)
	}
	return root, ok
}

func parseSet(p *problems, text string) (override, bool) {
	path, value, ok := strings.Cut(text, "=")
	o := override{text: text, path: strings.Split(path, ".")}
	if !ok || path == "" {
		p.add(Pos{}, "", "must be written as name=value", "for example --set measure.rounds=1 or --set indexes.0.M=[8,16]")
		return o, false
	}
	for _, part := range o.path {
		if part == "" {
			p.add(Pos{}, "", fmt.Sprintf("%q has an empty element", path), "for example indexes.0.M")
			return o, false
		}
	}
	inner := newProblems("", []byte(value))
	if strings.TrimSpace(value) == "" {
		p.add(Pos{}, "", "has no value", `write null to remove the key, or "" for an empty string`)
		return o, false
	}
	o.val = parseTree(inner, []byte(value))
	for _, e := range inner.list {
		msg := e.Msg
		if e.Pos.Column > 0 {
			msg = fmt.Sprintf("column %d of the value: %s", e.Pos.Column, msg)
		}
		p.add(Pos{}, joinPath(o.path), msg, e.Hint)
	}
	if o.val == nil || len(inner.list) > 0 {
		return o, false
	}
	o.val.forgetPlaces()
	return o, true
}

// forgetPlaces removes the places of a value that does not stand in the file.
func (n *node) forgetPlaces() {
	n.pos = Pos{}
	for _, v := range n.items {
		v.forgetPlaces()
	}
	for i := range n.entries {
		n.entries[i].pos = Pos{}
		n.entries[i].val.forgetPlaces()
	}
}

// apply returns root with the value put in. Nodes on the way are copied, since an alias may share them.
func apply(p *problems, root *node, o override) *node {
	return applyAt(p, root, o, 0)
}

func applyAt(p *problems, n *node, o override, depth int) *node {
	if depth == len(o.path) {
		return o.val
	}
	part, where := o.path[depth], joinPath(o.path[:depth])
	if n == nil || n.kind == scalar && n.value == nil {
		n = &node{kind: mapping}
	}
	changed := *n
	switch n.kind {
	case list:
		i, err := strconv.Atoi(part)
		switch {
		case len(n.items) == 0:
			p.add(Pos{}, "", fmt.Sprintf("%s is an empty list and has no element %q", where, part), "set the whole list, as in --set "+where+"=[...]")
			return n
		case err != nil || i < 0 || i >= len(n.items):
			p.add(Pos{}, "", fmt.Sprintf("%s is a list of %d, so %q must be a number from 0 to %d", where, len(n.items), part, len(n.items)-1), "")
			return n
		}
		changed.items = append([]*node(nil), n.items...)
		changed.items[i] = applyAt(p, n.items[i], o, depth+1)
	case mapping:
		last := depth == len(o.path)-1
		removing := o.val.kind == scalar && o.val.value == nil
		changed.entries = nil
		found := false
		for _, e := range n.entries {
			if e.key == part {
				found = true
				if last && removing {
					continue
				}
				e.val = applyAt(p, e.val, o, depth+1)
				if last {
					e.pos = Pos{}
				}
			}
			changed.entries = append(changed.entries, e)
		}
		if !found && !removing { // there is nothing to remove from what is not there
			changed.entries = append(changed.entries, entry{part, Pos{}, applyAt(p, nil, o, depth+1)})
		}
	default:
		p.add(Pos{}, "", fmt.Sprintf("%s is %s and has no element %q", where, n.describe(), part), "")
	}
	return &changed
}
