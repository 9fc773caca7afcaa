package file

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"frontier/internal/param"
)

// maxSteps is the most values that a range may have.
const maxSteps = 10_000

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
		d.add(s.pos, s.name, fmt.Sprintf("goes from %s to %s, which is not upwards", from, to), "write the smaller one as from")
		return nil
	case scale == "log2" && lo <= 0:
		d.add(s.pos, s.name, "a log2 range must start above 0", "use scale: linear, or start at 1")
		return nil
	}
	if steps == 0 && scale == "log2" {
		doublings := math.Log2(hi / lo)
		if doublings != math.Trunc(doublings) || doublings >= maxSteps { // the quotient may overflow
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
