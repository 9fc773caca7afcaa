package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// parseYAML calls the YAML parser, whose faults must not become ours: a panic of it is an error.
func parseYAML(text []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("the parser failed: %v", r)
		}
	}()
	return parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
}

// tooNested is the line in which more than maxNesting brackets are open, or that has more than maxNesting markers of
// lists; 0 if there is none. Those in quotes and comments count too, which is close enough.
func tooNested(text string) int {
	line, open := 0, 0
	for one := range strings.Lines(text) {
		line++
		for _, c := range one {
			switch c {
			case '[', '{':
				open++
			case ']', '}':
				open = max(open-1, 0)
			}
			if open > maxNesting {
				return line
			}
		}
		if strings.Count(one, "- ")+strings.Count(one, "? ") > maxNesting {
			return line
		}
	}
	return 0
}

func (p *policyParser) fault(at ast.Node, format string, args ...any) {
	e := &Error{File: p.file, Msg: fmt.Sprintf(format, args...)}
	e.Line, e.Column = position(at)
	p.errs = append(p.errs, e)
}

// position is where a node begins; that of a mapping in block style is its first key, not the colon.
func position(n ast.Node) (line, column int) {
	switch m := n.(type) {
	case nil:
		return 0, 0
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return position(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return position(m.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line, t.Position.Column
	}
	return 0, 0
}

// fields are the values of a mapping by key. Unknown, repeated and missing keys are faults.
func (p *policyParser) fields(n ast.Node, what string, known []policyField, required string) map[string]ast.Node {
	var names []string
	for _, f := range known {
		names = append(names, f.name)
	}
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode: // a mapping of one key
		pairs = []*ast.MappingValueNode{m}
	default:
		p.fault(n, "%s must be a mapping with the keys %s", what, strings.Join(names, ", "))
		return nil
	}
	out := map[string]ast.Node{}
	for _, pair := range pairs {
		key := pair.Key.GetToken().Value
		if !slices.Contains(names, key) {
			p.fault(pair.Key, "unknown key %q%s; the keys of %s are %s", key, didYouMean(key, names), what, strings.Join(names, ", "))
			continue
		}
		if _, twice := out[key]; twice {
			p.fault(pair.Key, "the key %q stands here twice", key)
			continue
		}
		out[key] = pair.Value
	}
	if _, ok := out[required]; !ok {
		p.fault(n, "%s needs the key %q", what, required)
	}
	return out
}

func (p *policyParser) list(n ast.Node, key string) []ast.Node {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		p.fault(n, "%s must be a list", key)
		return nil
	}
	return list.Values
}

func (p *policyParser) text(n ast.Node, key string) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return strings.TrimSpace(v.Value), true
	case *ast.LiteralNode:
		return strings.TrimSpace(v.Value.Value), true
	}
	p.fault(n, "%s must be text", key)
	return "", false
}
