package file

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontier/internal/param"
)

const (
	maxValues = 100_000 // of all axes of a file
	maxExprs  = 2_000   // that differ, of a file
)

// axis reads a parameter's values: a scalar, a list, a range, or expressions. What may be used in expressions is in
// allowed. ok is false if a value cannot be used.
func (d *decoder) axis(e entry, name string, spec *param.Spec, allowed variables) (Axis, bool) {
	a := Axis{Name: spec.Name, Pos: e.pos}
	before := len(d.list)
	switch {
	case d.values > maxValues:
		return a, false // reported already
	case emptyList(e.val):
		d.add(placeOf(e.val, e.pos), name, "is an empty list", "give at least one value, or remove the key")
		return a, false
	case e.val.kind == scalar && e.val.value == nil:
		d.add(e.pos, name, "has no value", "give it one, or remove the key for its default")
		return a, false
	}
	for _, n := range elements(e.val) {
		var values []Value
		switch n.kind {
		case list:
			d.add(n.pos, name, "has a list within a list", "write the values as one list")
		case mapping:
			values = d.span(n, name, spec, allowed)
		default:
			if v, ok := d.value(n, name, spec, allowed); ok {
				values = []Value{v}
			}
		}
		if d.values += len(values); d.values > maxValues {
			d.add(n.pos, name, fmt.Sprintf("brings the file to more than %d parameter values", maxValues), "")
			return a, false
		}
		a.Values = append(a.Values, values...)
	}
	if len(d.list) > before {
		return a, false
	}
	return a, d.distinct(a, name)
}

// distinct reports values that an axis has twice: they would be measured twice and look like two results.
func (d *decoder) distinct(a Axis, name string) bool {
	type key struct {
		literal any
		expr    string
	}
	seen := make(map[key]bool, len(a.Values))
	ok := true
	for _, v := range a.Values {
		k := key{v.Literal, strings.ReplaceAll(v.Expr, " ", "")}
		if seen[k] {
			d.add(v.Pos, name, fmt.Sprintf("has the value %s twice", v), "remove one")
			ok = false
		}
		seen[k] = true
	}
	return ok
}

// value reads one scalar.
func (d *decoder) value(n *node, name string, spec *param.Spec, allowed variables) (Value, bool) {
	v := Value{Pos: n.pos}
	if n.value == nil {
		d.add(n.pos, name, "has an empty value", "remove it")
		return v, false
	}
	text, isText := n.value.(string)
	numeric := spec.Type == param.Int || spec.Type == param.Float
	amount := spec.Type == param.Amount
	if isText && (numeric || amount && !strings.Contains(text, "%") && !param.AmountPattern.MatchString(text)) {
		return d.expression(n, text, name, spec, allowed)
	}
	var err error
	if f, isNumber := asFloat(n); isNumber && (numeric || amount) {
		v.Literal, err = checkNumber(spec, f)
	} else {
		v.Literal, err = spec.Check(n.value)
	}
	if err != nil {
		hint := ""
		if spec.Type == param.String && !isText {
			hint = "quote it if it is meant to be a string"
		}
		d.add(n.pos, name, err.Error(), hint)
		return v, false
	}
	return v, true
}

// expression compiles text. One that uses neither n nor dim is a number, and is replaced by it.
func (d *decoder) expression(n *node, text, name string, spec *param.Spec, allowed variables) (Value, bool) {
	v := Value{Expr: text, Pos: n.pos}
	if spec.Type != param.Amount && param.AmountPattern.MatchString(text) && strings.HasSuffix(text, "%") {
		d.add(n.pos, name, "must be a number, not the percentage "+text, "")
		return v, false
	}
	p, err := d.compile(text)
	if err != nil {
		pos := n.pos
		var at *exprError
		hint := ""
		if errors.As(err, &at) {
			hint = at.hint
			if pos.Column > 0 {
				pos.Column += at.offset
				if !n.plain {
					pos.Column++ // the quote
				}
			}
		}
		d.add(d.inLine(pos, n.pos), name, fmt.Sprintf("%s: %v", quote(text), err), hint)
		return v, false
	}
	v.program = p
	switch {
	case p.uses.n && !allowed.n:
		d.add(n.pos, name, fmt.Sprintf("%s uses n, which is the number of chunks and is known only after chunking", quote(text)), "give a number")
		return v, false
	case p.uses.dim && !allowed.dim:
		d.add(n.pos, name, fmt.Sprintf("%s uses dim, which is known only after embedding", quote(text)), "give a number")
		return v, false
	case p.uses == variables{}:
		literal, err := v.Resolve(spec, 0, 0)
		if err != nil {
			if inner := errors.Unwrap(err); inner != nil {
				err = inner
			}
			d.add(n.pos, name, fmt.Sprintf("%s: %v", quote(text), err), "")
			return v, false
		}
		return Value{Literal: literal, Pos: n.pos}, true
	}
	return v, true
}

// compile compiles each different expression of the file once.
func (d *decoder) compile(text string) (*program, error) {
	if p, ok := d.programs[text]; ok {
		return p, nil
	}
	if d.compiled++; d.compiled > maxExprs {
		return nil, &exprError{0, fmt.Sprintf("the file has more than %d different expressions", maxExprs), ""}
	}
	p, err := compile(text)
	if err != nil {
		return nil, err
	}
	d.programs[text] = p
	return p, nil
}

func quote(text string) string {
	if len(text) > 60 {
		text = strings.ToValidUTF8(text[:60], "") + "..."
	}
	return strconv.Quote(text)
}

// inLine is pos if the line is long enough to have it (an expression may go over several lines), else fallback.
func (d *decoder) inLine(pos, fallback Pos) Pos {
	if pos.Column > utf8.RuneCountInString(lineAt(d.lines, pos))+1 {
		return fallback
	}
	return pos
}
