package cost

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"frontier/internal/bytesize"
	"frontier/internal/param"
)

// The parser's time grows with the square of the nesting, so both size and nesting are bounded: far above what a list of
// prices needs, and low enough that another file named by mistake fails at once.
const (
	maxCatalog = 1 << 17
	maxNesting = 100
)

// ParseCatalog reads a catalogue from the text of a YAML file that is called name in messages.
func ParseCatalog(name string, text []byte) (*Catalog, error) {
	if len(text) > maxCatalog {
		return nil, &Error{File: name, Msg: fmt.Sprintf("%d bytes are too much for a price catalogue, which has at most %d; is this another file?", len(text), maxCatalog)}
	}
	if line := tooNested(text); line > 0 {
		return nil, &Error{File: name, Line: line, Column: 1, Msg: fmt.Sprintf("lists or mappings are nested more than %d deep here; is this another file?", maxNesting)}
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		fault := &Error{File: name, Msg: err.Error()}
		var syntax yaml.Error
		if errors.As(err, &syntax) {
			fault.Msg = syntax.GetMessage()
			if t := syntax.GetToken(); t != nil && t.Position != nil {
				fault.Line, fault.Column = t.Position.Line, t.Position.Column
			}
		}
		return nil, fault
	}
	p := &catalogParser{file: name}
	c := &Catalog{File: name, StorageUSDPerGiBMonth: math.NaN()}
	switch len(file.Docs) {
	case 0:
		return nil, &Error{File: name, Msg: "the file is empty"}
	case 1:
		p.catalog(c, file.Docs[0].Body)
	default:
		second := &Error{File: name, Msg: "a second document begins here; a catalogue is one document"}
		if start := file.Docs[1].Start; start != nil && start.Position != nil { // an empty document has no token of its own
			second.Line, second.Column = start.Position.Line, start.Position.Column
		}
		p.errs = append(p.errs, second)
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	return c, nil
}

// tooNested is the line at which more than maxNesting brackets are open, or which has more than maxNesting block markers
// ("- - - a" nests three deep), or 0. Those in quotes and comments count too, which is close enough.
func tooNested(text []byte) int {
	line, open, markers := 1, 0, 0
	for i, c := range text {
		switch c {
		case '\n':
			line++
			markers = 0
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '-', '?':
			if i+1 < len(text) && text[i+1] == ' ' {
				markers++
			}
		}
		if open > maxNesting || markers > maxNesting {
			return line
		}
	}
	return 0
}

// catalogParser walks the syntax tree, which knows the position of everything, and collects all faults.
type catalogParser struct {
	file string
	errs []error
}

func (p *catalogParser) fault(at ast.Node, format string, args ...any) {
	e := &Error{File: p.file, Msg: fmt.Sprintf(format, args...)}
	if at != nil {
		if t := at.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	p.errs = append(p.errs, e)
}

func (p *catalogParser) catalog(c *Catalog, body ast.Node) {
	required := []string{"date", "currency", "source", "machines"}
	fields := p.fields(body, "a catalogue", required, []string{"storage_usd_per_gib_month", "embedding"})
	if n, ok := fields["date"]; ok {
		c.Date = p.text(n, "date")
		if _, err := time.Parse(time.DateOnly, c.Date); err != nil && c.Date != "" {
			p.fault(n, "date must be a day such as 2026-11-01, not %q", c.Date)
		}
	}
	if n, ok := fields["currency"]; ok {
		if s := p.text(n, "currency"); s != "" && s != "USD" {
			p.fault(n, "currency must be USD, not %q: convert the prices", s)
		}
	}
	if n, ok := fields["source"]; ok {
		c.Source = p.text(n, "source")
	}
	if n, ok := fields["storage_usd_per_gib_month"]; ok {
		c.StorageUSDPerGiBMonth = p.price(n, "storage_usd_per_gib_month")
	}
	seen := map[string]bool{}
	before := len(p.errs)
	for _, n := range p.items(fields["machines"], "machines") {
		c.Machines = append(c.Machines, p.machine(n, seen))
	}
	if n, ok := fields["machines"]; ok && len(c.Machines) == 0 && len(p.errs) == before {
		p.fault(n, "machines is empty: at least one type of machine is needed")
	}
	seen = map[string]bool{}
	for _, n := range p.items(fields["embedding"], "embedding") {
		c.Embedding = append(c.Embedding, p.embedding(n, seen))
	}
}

func (p *catalogParser) machine(n ast.Node, seen map[string]bool) Machine {
	var m Machine
	fields := p.fields(n, "a machine", []string{"name", "vcpu", "memory", "usd_per_hour"}, nil)
	if n, ok := fields["name"]; ok {
		m.Name = p.unique(n, "name", seen)
	}
	if n, ok := fields["vcpu"]; ok {
		f, ok := p.number(n, "vcpu")
		if ok && (f != math.Trunc(f) || f < 1 || f > 1<<20) {
			p.fault(n, "vcpu must be a whole number from 1 to 1048576, not %v", f)
		} else {
			m.VCPU = int(f)
		}
	}
	if n, ok := fields["memory"]; ok {
		if s := p.text(n, "memory"); s != "" {
			size, err := bytesize.Parse(s)
			if err == nil && size < 1 {
				err = fmt.Errorf("%q is no memory", s)
			}
			if err != nil {
				p.fault(n, "memory: %v", err)
			}
			m.Memory = size
		}
	}
	if n, ok := fields["usd_per_hour"]; ok {
		m.USDPerHour = p.price(n, "usd_per_hour")
	}
	return m
}

func (p *catalogParser) embedding(n ast.Node, seen map[string]bool) Embedding {
	var e Embedding
	fields := p.fields(n, "an embedding", []string{"model", "usd_per_million_tokens"}, nil)
	if n, ok := fields["model"]; ok {
		e.Model = p.unique(n, "model", seen)
	}
	if n, ok := fields["usd_per_million_tokens"]; ok {
		e.USDPerMillionTokens = p.price(n, "usd_per_million_tokens")
	}
	return e
}

// fields are the values of a mapping by key. Unknown, repeated and missing keys are faults.
func (p *catalogParser) fields(n ast.Node, what string, required, optional []string) map[string]ast.Node {
	var pairs []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		pairs = m.Values
	case *ast.MappingValueNode: // a mapping of one key
		pairs = []*ast.MappingValueNode{m}
	default:
		p.fault(n, "%s must have the keys %s", what, strings.Join(required, ", "))
		return nil
	}
	known := slices.Concat(required, optional)
	fields := map[string]ast.Node{}
	for _, pair := range pairs {
		key := pair.Key.GetToken().Value
		if !slices.Contains(known, key) {
			hint := ""
			if near := param.Nearest(key, known); near != "" {
				hint = fmt.Sprintf(" (did you mean %q?)", near)
			}
			p.fault(pair.Key, "unknown key %q%s; the keys of %s are %s", key, hint, what, strings.Join(known, ", "))
			continue
		}
		if _, twice := fields[key]; twice {
			p.fault(pair.Key, "the key %q stands twice", key)
			continue
		}
		fields[key] = pair.Value
	}
	for _, key := range required {
		if _, ok := fields[key]; !ok {
			p.fault(n, "%s needs the key %q", what, key)
		}
	}
	return fields
}

// items are the elements of a list. A nil node is a key that is absent, which fields judges.
func (p *catalogParser) items(n ast.Node, key string) []ast.Node {
	if n == nil {
		return nil
	}
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		p.fault(n, "%s must be a list", key)
		return nil
	}
	return list.Values
}

// text is a string that is not empty; "" after a fault.
func (p *catalogParser) text(n ast.Node, key string) string {
	s := ""
	switch v := n.(type) {
	case *ast.StringNode:
		s = v.Value
	case *ast.LiteralNode:
		s = v.Value.Value
	default:
		p.fault(n, "%s must be text%s", key, example(key))
		return ""
	}
	if s = strings.TrimSpace(s); s == "" {
		p.fault(n, "%s is empty", key)
	}
	return s
}

func example(key string) string {
	if key == "memory" {
		return " with a unit, such as 16GiB"
	}
	return ""
}

// unique is text that no other entry of its list has.
func (p *catalogParser) unique(n ast.Node, key string, seen map[string]bool) string {
	s := p.text(n, key)
	if s != "" && seen[s] {
		p.fault(n, "%s %q stands twice", key, s)
	}
	seen[s] = true
	return s
}

func (p *catalogParser) number(n ast.Node, key string) (float64, bool) {
	switch v := n.(type) {
	case *ast.IntegerNode:
		switch i := v.Value.(type) {
		case int64:
			return float64(i), true
		case uint64:
			return float64(i), true
		}
	case *ast.FloatNode:
		return v.Value, true
	}
	p.fault(n, "%s must be a number", key)
	return 0, false
}

func (p *catalogParser) price(n ast.Node, key string) float64 {
	f, ok := p.number(n, key)
	if ok && (!(f >= 0) || math.IsInf(f, 0)) {
		p.fault(n, "%s must be a price of at least 0, not %v", key, f)
	}
	return f
}
