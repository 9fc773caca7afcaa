package gate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"frontier/internal/param"
	"frontier/results"
	"frontier/results/compare"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Error is one fault of a policy.
type Error struct {
	File         string
	Line, Column int // 0 if the fault has no place
	Msg          string
}

// Error prints the fault as file:line:column: message.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// The parser's time grows with the square of the nesting, so size and nesting are bounded, far above any policy.
const (
	maxPolicy  = 1 << 17
	maxNesting = 20
)

// Read reads and checks the policy at path. Faults are *Error, joined.
func Read(path string) (*Policy, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{File: path, Msg: errors.Unwrap(err).Error()}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	if err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	return Parse(path, text)
}

// Parse reads a policy from the text of a YAML file that is called name in messages. All faults are found at once.
func Parse(name string, text []byte) (*Policy, error) {
	switch {
	case len(text) > maxPolicy:
		return nil, &Error{File: name, Msg: fmt.Sprintf("it has more than %d bytes; is this a policy?", maxPolicy)}
	case !utf8.Valid(text):
		return nil, &Error{File: name, Msg: "it is not UTF-8 text; is this a policy?"}
	}
	if line := tooNested(string(text)); line > 0 {
		return nil, &Error{File: name, Line: line, Column: 1, Msg: fmt.Sprintf("lists or mappings are nested more than %d deep here; is this a policy?", maxNesting)}
	}
	file, err := parseYAML(text)
	if err != nil {
		fault := &Error{File: name, Msg: "it is not valid YAML: " + err.Error()}
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			fault.Msg = "it is not valid YAML: " + syntax.GetMessage()
			if t := syntax.GetToken(); t != nil && t.Position != nil {
				fault.Line, fault.Column = t.Position.Line, t.Position.Column
			}
		}
		return nil, fault
	}
	p := &policyParser{file: name}
	out := &Policy{Path: name, Confidence: 0.99, OnMissing: Fail, OnInconclusive: Warn, OnNull: Fail}
	docs := slices.DeleteFunc(slices.Clone(file.Docs), func(d *ast.DocumentNode) bool { return d.Body == nil })
	switch len(docs) {
	case 0:
		return nil, &Error{File: name, Msg: "it is empty; a policy has a list of rules"}
	case 1:
		p.policy(out, docs[0].Body)
	default:
		p.fault(docs[1].Body, "a second document begins here; a policy is one document")
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return out, nil
}

// policyParser walks the syntax tree, which knows the place of everything, and collects all faults.
type policyParser struct {
	file string
	errs []error
}

func (p *policyParser) policy(out *Policy, body ast.Node) {
	keys := p.fields(body, "a policy", policyFields(), "rules")
	if n, ok := keys["match"]; ok {
		for _, item := range p.list(n, "match") {
			if name, ok := p.text(item, "match"); ok {
				if err := results.CheckColumns([]string{name}); err != nil {
					p.fault(item, "match: %v", err)
				}
				out.Match = append(out.Match, name)
			}
		}
		if len(out.Match) == 0 {
			p.fault(n, "match is empty; leave it out to match by all parameters")
		}
	}
	if n, ok := keys["confidence"]; ok {
		v, ok := number(n)
		if !ok || !(v >= 0.5 && v < 1) {
			p.fault(n, "confidence must be a number from 0.5 to below 1, such as 0.99")
		}
		out.Confidence = v
	}
	p.actions(keys, &out.OnMissing, &out.OnInconclusive, &out.OnNull)
	p.flag(keys, "allow_other_machine", &out.AllowOtherMachine)
	p.flag(keys, "allow_other_data", &out.AllowOtherData)
	n, ok := keys["rules"]
	if !ok {
		return
	}
	items := p.list(n, "rules")
	if len(items) == 0 {
		p.fault(n, "rules is empty; a policy without rules passes everything")
	}
	seen := map[string]int{}
	for _, item := range items {
		r := Rule{OnMissing: out.OnMissing, OnInconclusive: out.OnInconclusive, OnNull: out.OnNull}
		before := len(p.errs)
		p.rule(&r, item)
		if len(p.errs) > before {
			continue
		}
		text := r.Metric.Name + r.Slice.String() + string(r.Kind) + r.Where
		if line, twice := seen[text]; twice {
			p.fault(item, "%s stands here twice, first in line %d", r.String(), line)
			continue
		}
		seen[text] = r.Line
		out.Rules = append(out.Rules, r)
	}
}

func (p *policyParser) rule(r *Rule, n ast.Node) {
	keys := p.fields(n, "a rule", ruleFields(), "metric")
	r.Line, r.Column = position(n)
	metric, ok := keys["metric"]
	if !ok {
		return
	}
	name, ok := p.text(metric, "metric")
	if !ok {
		return
	}
	var err error
	if r.Metric, err = compare.LookupMetric(name); err != nil {
		p.fault(metric, "metric: %v", err)
		return
	}
	p.kind(r, n, keys)
	p.slice(r, keys)
	if n, ok := keys["where"]; ok {
		if text, ok := p.text(n, "where"); ok {
			if r.where, err = results.Where(text); err != nil {
				p.fault(n, "where: %v", err)
			}
			r.Where = text
		}
	}
	if r.Kind.required() {
		r.OnInconclusive = Fail // what is demanded must be shown, unless the rule itself says otherwise
	}
	p.actions(keys, &r.OnMissing, &r.OnInconclusive, &r.OnNull)
}

// kind finds the one key that says what the rule asks, and its bound.
func (p *policyParser) kind(r *Rule, n ast.Node, keys map[string]ast.Node) {
	var found []string
	for _, k := range kinds() {
		if _, ok := keys[string(k.kind)]; ok {
			found = append(found, string(k.kind))
		}
	}
	switch len(found) {
	case 0:
		p.fault(n, "a rule needs one of %s", strings.Join(kindNames(), ", "))
		return
	case 1:
	default:
		p.fault(n, "a rule asks one thing, and this one has %s; write a rule for each", strings.Join(found, " and "))
		return
	}
	for _, k := range kinds() {
		bound, ok := keys[string(k.kind)]
		if !ok {
			continue
		}
		r.Kind = k.kind
		if k.better != results.None && k.better != r.Metric.Column.Better {
			p.fault(bound, "%s does not fit %s, which is better %s; use %s", k.kind, r.Metric.Name, highOrLow(r.Metric), opposite(k.kind))
			return
		}
		p.bound(r, bound)
	}
}

func kindNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, string(k.kind))
	}
	return names
}

func highOrLow(m compare.Metric) string {
	if m.Higher() {
		return "high"
	}
	return "low"
}

// opposite is the kind for a metric that is better the other way.
func opposite(k Kind) Kind {
	return map[Kind]Kind{MaxDrop: MaxRise, MaxRise: MaxDrop, Min: Max, Max: Min, RequireRise: RequireDrop, RequireDrop: RequireRise}[k]
}

func (p *policyParser) slice(r *Rule, keys map[string]ast.Node) {
	n, ok := keys["slice"]
	if !ok {
		return
	}
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{m}
	}
	if len(pairs) == 0 {
		p.fault(n, "slice must be a mapping of fields and values, such as {scenario: exact_entity}")
		return
	}
	if !r.Metric.PerQuery() {
		p.fault(n, "slice: %s is not a mean over questions, so it has no slices", r.Metric.Name)
	}
	for _, pair := range pairs {
		field := pair.Key.GetToken().Value
		value, ok := scalarText(pair.Value)
		if !ok {
			p.fault(pair.Value, "slice: %s must have one value; write a rule for each", field)
			continue
		}
		r.Slice = append(r.Slice, compare.Condition{Field: field, Value: value})
	}
}

func (p *policyParser) actions(keys map[string]ast.Node, missing, inconclusive, null *Action) {
	for _, one := range []struct {
		key string
		to  *Action
	}{{"on_missing", missing}, {"on_inconclusive", inconclusive}, {"on_null", null}} {
		n, ok := keys[one.key]
		if !ok {
			continue
		}
		text, ok := p.text(n, one.key)
		if !ok {
			continue
		}
		if !slices.Contains(actions(), text) {
			p.fault(n, "%s must be %s, not %q%s", one.key, strings.Join(actions(), ", "), text, didYouMean(text, actions()))
			continue
		}
		*one.to = Action(text)
	}
}

func actions() []string { return []string{string(Fail), string(Warn), string(Pass)} }

func (p *policyParser) flag(keys map[string]ast.Node, key string, to *bool) {
	n, ok := keys[key]
	if !ok {
		return
	}
	b, ok := n.(*ast.BoolNode)
	if !ok {
		p.fault(n, "%s must be true or false", key)
		return
	}
	*to = b.Value
}

func didYouMean(text string, names []string) string {
	if near := param.Nearest(text, names); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}
