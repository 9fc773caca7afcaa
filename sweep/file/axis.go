package file

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontier/internal/param"
)

const (
	maxSteps  = 10_000  // of a range
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

// span expands {from, to, steps, scale}.
func (d *decoder) span(n *node, name string, spec *param.Spec, allowed variables) []Value {
	if spec.Type == param.String || spec.Type == param.Bool {
		d.add(n.pos, name, "must be a "+spec.Type.String()+", not a range", "write the values as a list")
		return nil
	}
	before := len(d.list)
	s, ok := d.open(&entry{pos: n.pos, val: n}, name, rangeFields())
	if !ok {
		return nil
	}
	scale, _ := s.text("scale")
	from, okFrom := d.bound(s, "from", spec, allowed)
	to, okTo := d.bound(s, "to", spec, allowed)
	steps := s.integer("steps")
	if !okFrom || !okTo || len(d.list) > before {
		return nil
	}
	if from.Expr != "" || to.Expr != "" {
		return d.exprSpan(s, from, to, steps, scale)
	}
	return d.literalSpan(s, spec, from, to, steps, scale)
}

func (d *decoder) bound(s *section, key string, spec *param.Spec, allowed variables) (Value, bool) {
	e := s.get(key)
	if e == nil {
		return Value{}, false
	}
	if e.val.kind != scalar {
		s.wrong(e, "must be a number, not "+e.val.describe(), "")
		return Value{}, false
	}
	return d.value(e.val, join(s.name, key), spec, allowed)
}

const stepsHint = "for example steps: 5"

func (d *decoder) literalSpan(s *section, spec *param.Spec, from, to Value, steps int, scale string) []Value {
	lo, percentLo := plainNumber(from.Literal)
	hi, percentHi := plainNumber(to.Literal)
	switch {
	case percentLo != percentHi && lo != 0 && hi != 0:
		d.add(s.pos, s.name, "goes from a number to a percentage", "use the same for both")
		return nil
	case lo >= hi:
		d.add(s.pos, s.name, fmt.Sprintf("goes from %s to %s, which is not upwards", from, to), "")
		return nil
	case scale == "log2" && lo <= 0:
		d.add(s.pos, s.name, "a log2 range must start above 0", "use scale: linear, or start at 1")
		return nil
	}
	if steps == 0 && scale == "log2" {
		doublings := math.Log2(hi / lo)
		if doublings != math.Trunc(doublings) {
			d.add(s.pos, join(s.name, "steps"), fmt.Sprintf("is required, as %s and %s are not doublings apart", from, to), stepsHint)
			return nil
		}
		steps = int(doublings) + 1
	}
	if steps == 0 {
		d.add(s.pos, join(s.name, "steps"), "is required for a linear range", stepsHint)
		return nil
	}
	var out []Value
	for i := range steps {
		share := float64(i) / float64(steps-1)
		f := lo + (hi-lo)*share
		if scale == "log2" {
			f = lo * math.Pow(hi/lo, share)
		}
		if i == steps-1 {
			f = hi
		}
		var literal any
		var err error
		switch {
		case percentLo || percentHi:
			literal, err = spec.Check(formatFloat(shorten(f)) + "%")
		case spec.Type == param.Float:
			literal, err = spec.Check(shorten(f))
		default:
			literal, err = checkNumber(spec, roundHalfUp(f))
		}
		if err != nil { // within the bounds, which were checked
			d.add(s.pos, s.name, err.Error(), "")
			return nil
		}
		if len(out) > 0 && out[len(out)-1].Literal == literal {
			d.add(s.pos, s.name, fmt.Sprintf("has %d steps, which give the value %v twice", steps, literal), "use fewer steps")
			return nil
		}
		out = append(out, Value{Literal: literal, Pos: s.pos})
	}
	return out
}

// plainNumber is the number of a literal, and whether it is a percentage.
func plainNumber(literal any) (float64, bool) {
	switch v := literal.(type) {
	case int64:
		return float64(v), false
	case float64:
		return v, false
	case string:
		digits, percent := strings.CutSuffix(v, "%")
		if f, err := strconv.ParseFloat(digits, 64); err == nil {
			return f, percent
		}
	}
	return math.NaN(), false
}

// shorten rounds to 12 significant digits, so that a step reads 0.3 and not 0.30000000000000004.
func shorten(f float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 12, 64), 64)
	if err != nil {
		return f
	}
	return out
}

// formatFloat prints f without an exponent and with as many digits as it needs.
func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// exprSpan makes a range between expressions from expressions.
func (d *decoder) exprSpan(s *section, from, to Value, steps int, scale string) []Value {
	if steps == 0 {
		d.add(s.pos, join(s.name, "steps"), "is required for a range between expressions", stepsHint)
		return nil
	}
	for _, v := range []Value{from, to} {
		if _, percent := plainNumber(v.Literal); percent {
			d.add(v.Pos, s.name, "goes from a number to a percentage", "use the same for both")
			return nil
		}
	}
	var out []Value
	for i := range steps {
		text := fmt.Sprintf("(%s) + ((%s) - (%s)) * %d / %d", from, to, from, i, steps-1)
		if scale == "log2" {
			text = fmt.Sprintf("(%s) * pow((%s) / (%s), %d / %d)", from, to, from, i, steps-1)
		}
		switch i {
		case 0:
			text = from.String()
		case steps - 1:
			text = to.String()
		}
		v := from
		if i > 0 {
			v = to
		}
		if i > 0 && i < steps-1 || v.Expr != "" {
			p, err := d.compile(text)
			if err != nil {
				d.add(s.pos, s.name, err.Error(), "use shorter or fewer expressions")
				return nil
			}
			v = Value{Expr: text, program: p}
		}
		v.Pos = s.pos
		out = append(out, v)
	}
	return out
}
