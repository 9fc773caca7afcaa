package file

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// kind is the kind of a node.
type kind int

const (
	scalar kind = iota
	list
	mapping
)

// node is a YAML value with its place, aliases and merge keys resolved.
type node struct {
	kind    kind
	value   any  // of a scalar: nil, bool, int64, uint64 (above the range of int64), float64 or string
	plain   bool // a scalar without quotes
	items   []*node
	entries []entry
	pos     Pos
}

// entry is one key of a mapping.
type entry struct {
	key string
	pos Pos
	val *node
}

// get is the value of a key of a mapping, or nil.
func (n *node) get(key string) *entry {
	if n == nil {
		return nil
	}
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i]
		}
	}
	return nil
}

// describe names the node in messages.
func (n *node) describe() string {
	switch n.kind {
	case list:
		return "a list"
	case mapping:
		return "a mapping"
	}
	switch v := n.value.(type) {
	case nil:
		return "nothing"
	case string:
		if r := []rune(v); len(r) > 40 {
			v = string(r[:40]) + "..."
		}
		return strconv.Quote(v)
	default:
		return fmt.Sprint(v)
	}
}

// parseTree reads YAML text into nodes. It returns nil if the text is not YAML that can be used; problems say why.
func parseTree(p *problems, src []byte) *node {
	if !checkEncoding(p, src) {
		return nil
	}
	file, err := parseYAML(src)
	if err != nil {
		p.addYAML(err)
		return nil
	}
	b := &treeBuilder{problems: p, anchors: map[string]*node{}}
	before := len(p.list)
	var root *node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.DirectiveType {
			continue
		}
		if root != nil {
			b.fail(position(doc.Body), "", "a second YAML document starts here", "a sweep file holds one document; remove the --- above and what follows, or put it into a file of its own")
			return nil
		}
		root = b.build(doc.Body, 0)
	}
	switch {
	case b.broken:
		return nil
	case root == nil && len(p.list) == before:
		p.add(Pos{1, 1}, "", "is empty", "a sweep file starts with version: 1")
	}
	return root
}

// addYAML notes an error of the YAML parser with its place.
func (p *problems) addYAML(err error) {
	var syntax *yaml.SyntaxError
	var own *Error
	switch {
	case errors.As(err, &own):
		p.add(own.Pos, own.Param, own.Msg, own.Hint)
	case errors.As(err, &syntax) && syntax.Token != nil && syntax.Token.Position != nil:
		at, hint := syntax.Token.Position, ""
		if strings.Contains(syntax.Message, "\t") {
			hint = "YAML is indented with spaces"
		}
		p.add(Pos{at.Line, at.Column}, "", "is not valid YAML: "+syntax.Message, hint)
	default:
		p.add(Pos{}, "", "is not valid YAML: "+err.Error(), "")
	}
}

// treeBuilder turns the parser's nodes into ours.
type treeBuilder struct {
	*problems
	anchors map[string]*node // nil while the anchored value is being built
	nodes   int
	full    bool // more nodes than are allowed
	broken  bool // values are missing from the tree, so that decoding it would report what is not wrong
}

// fail notes a problem that leaves a hole in the tree.
func (b *treeBuilder) fail(pos Pos, param, msg, hint string) {
	b.broken = true
	b.add(pos, param, msg, hint)
}

func position(n ast.Node) Pos {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return position(m.Values[0].Key)
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		return position(m.Key)
	}
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return Pos{}
	}
	return Pos{t.Position.Line, t.Position.Column}
}

// grow counts n more nodes and says whether they are still within the limit.
func (b *treeBuilder) grow(n int, pos Pos) bool {
	b.nodes += n
	if b.nodes > maxNodes && !b.full {
		b.full = true
		b.fail(pos, "", fmt.Sprintf("has more than %d values once its aliases are expanded", maxNodes), "")
	}
	return !b.full
}

func (b *treeBuilder) build(n ast.Node, depth int) *node {
	pos := position(n)
	out := &node{pos: pos}
	if depth > 2*maxNesting {
		b.fail(pos, "", fmt.Sprintf("is nested deeper than %d levels", 2*maxNesting), "")
		return out
	}
	if !b.grow(1, pos) {
		return out
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.kind = mapping
		b.entries(out, n.Values, depth)
	case *ast.MappingValueNode:
		out.kind = mapping
		b.entries(out, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		out.kind = list
		for _, v := range n.Values {
			out.items = append(out.items, b.build(v, depth+1))
		}
	case *ast.AnchorNode:
		name := n.Name.GetToken().Value
		b.anchors[name] = nil
		v := b.build(n.Value, depth+1)
		b.anchors[name] = v
		return v
	case *ast.AliasNode:
		name := n.Value.GetToken().Value
		v, known := b.anchors[name]
		switch {
		case !known:
			b.fail(pos, "", fmt.Sprintf("*%s refers to an anchor that is not defined above", name), "a value that starts with * must be quoted")
			return out
		case v == nil:
			b.fail(pos, "", fmt.Sprintf("*%s refers to itself", name), "")
			return out
		}
		if !b.grow(v.size(), pos) {
			return out
		}
		return v
	case *ast.TagNode:
		b.fail(pos, "", fmt.Sprintf("the tag %s is not used in sweep files", n.GetToken().Value), "remove it; quote the value if it must be a string")
	default:
		b.scalar(out, n)
	}
	return out
}

// size is the number of nodes below and including n.
func (n *node) size() int {
	total := 1
	for _, v := range n.items {
		total += v.size()
	}
	for _, e := range n.entries {
		total += e.val.size()
	}
	return total
}

func (b *treeBuilder) entries(out *node, values []*ast.MappingValueNode, depth int) {
	seen := make(map[string]Pos, len(values))
	var merged []entry
	for _, v := range values {
		pos := position(v.Key)
		if v.Key.IsMergeKey() {
			merged = append(merged, b.merge(b.build(v.Value, depth+1))...)
			continue
		}
		inner := ast.Node(v.Key)
		if explicit, ok := v.Key.(*ast.MappingKeyNode); ok {
			inner = explicit.Value
		}
		text, ok := keyText(inner)
		if !ok {
			b.fail(pos, "", "a key must be a plain name", "quote it if it is meant to be a string")
			continue
		}
		if first, twice := seen[text]; twice {
			b.add(pos, text, fmt.Sprintf("this key stands here twice, first in line %d, column %d", first.Line, first.Column), "keep one; several values are written as a list")
			continue
		}
		seen[text] = pos
		out.entries = append(out.entries, entry{text, pos, b.build(v.Value, depth+1)})
	}
	for _, e := range merged { // keys that stand here win over merged ones, and earlier merged ones over later
		if _, here := seen[e.key]; !here {
			seen[e.key] = e.pos
			out.entries = append(out.entries, e)
		}
	}
}

func keyText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func (b *treeBuilder) merge(from *node) []entry {
	switch from.kind {
	case mapping:
		return from.entries
	case list:
		var all []entry
		for _, one := range from.items {
			all = append(all, b.merge(one)...)
			if !b.grow(len(one.entries), from.pos) {
				return nil
			}
		}
		return all
	}
	b.fail(from.pos, "<<", "can only merge mappings, not "+from.describe(), "")
	return nil
}

var (
	floatPattern = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	octalPattern = regexp.MustCompile(`^[-+]?0[0-9_]+$`)
	envPattern   = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
)

func (b *treeBuilder) scalar(out *node, n ast.Node) {
	t := n.GetToken()
	out.plain = t.Type != token.SingleQuoteType && t.Type != token.DoubleQuoteType
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		out.value = n.Value
	case *ast.InfinityNode:
		out.value = n.Value
	case *ast.NanNode:
		out.value = math.NaN()
	case *ast.IntegerNode:
		if octalPattern.MatchString(t.Value) {
			b.spoil(out.pos, fmt.Sprintf("%s is ambiguous: YAML 1.1 reads it as octal", t.Value), "leave out the leading zeros, or write 0o for octal")
		}
		switch v := n.Value.(type) {
		case uint64:
			out.value = v
			if v <= math.MaxInt64 {
				out.value = int64(v)
			}
		default:
			out.value = v
		}
	case *ast.FloatNode:
		out.value = n.Value
	case *ast.LiteralNode:
		out.plain = false
		out.value = strings.TrimSuffix(n.Value.Value, "\n")
	case *ast.StringNode:
		out.value = n.Value
		// YAML 1.2 has numbers such as 1e3, which the parser leaves as strings.
		if out.plain && floatPattern.MatchString(n.Value) {
			if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
				out.value = f
			}
		}
		if env := envPattern.FindString(n.Value); env != "" {
			b.spoil(out.pos, fmt.Sprintf("%s is not expanded here", env), "environment variables are for secrets, which no setting of this version needs; use --set for what changes from run to run")
		}
	default:
		b.fail(out.pos, "", "is not a value that a sweep file can hold", "")
	}
}
