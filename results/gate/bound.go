package gate

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"frontier/internal/bytesize"
)

// number is the value of a plain number.
func number(n ast.Node) (float64, bool) {
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
	return 0, false
}

// scalarText is a value as it is written.
func scalarText(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return v.GetToken().Value, true
	}
	return "", false
}

var percentPattern = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?%$`)

// bound reads the number of a rule: plain in the metric's unit, with a unit for times and sizes, or a percentage of BASE
// in rules about changes.
func (p *policyParser) bound(r *Rule, n ast.Node) {
	text, ok := scalarText(n)
	if !ok {
		p.fault(n, "%s must be a number", r.Kind)
		return
	}
	text = strings.TrimSpace(text)
	r.text = text
	unit := r.Metric.Column.Unit
	if v, ok := number(n); ok {
		r.Bound = v
	} else if percentPattern.MatchString(text) {
		v, _ := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64) // the pattern is one of numbers
		if !r.Kind.change() {
			p.fault(n, "%s: %s of what? A percentage is one of BASE; write the bound itself%s", r.Kind, text, fractionHint(unit, v))
			return
		}
		r.Bound, r.Share = v/100, true
	} else if d, err := time.ParseDuration(text); err == nil && unit == "seconds" {
		r.Bound = d.Seconds()
	} else if bytes, err := bytesize.Parse(text); err == nil && unit == "bytes" {
		r.Bound = float64(bytes)
	} else {
		p.fault(n, "%s: %q is not a number%s", r.Kind, text, unitHint(r.Kind, unit))
		return
	}
	switch {
	case math.IsNaN(r.Bound) || math.IsInf(r.Bound, 0) || r.Bound < 0:
		p.fault(n, "%s must be a number of at least 0, not %s", r.Kind, text)
	case r.Kind == MaxCount && r.Bound != math.Trunc(r.Bound):
		p.fault(n, "max_count counts questions, so it must be a whole number, not %s", text)
	case r.Kind == MaxCount && !r.Metric.PerQuery() && !r.Metric.Counted():
		p.fault(n, "max_count: %s counts nothing; use %s", r.Metric.Name, map[bool]Kind{true: Min, false: Max}[r.Metric.Higher()])
	case r.Kind.required() && r.Bound == 0:
		p.fault(n, "%s must be above 0", r.Kind)
	case r.Kind != MaxCount && !r.Share && unit == "fraction" && r.Bound > 1:
		p.fault(n, "%s: %s is at most 1, so a bound of %s says nothing%s", r.Kind, r.Metric.Name, text, percentHint(r.Kind, text))
	}
}

func fractionHint(unit string, percent float64) string {
	if unit != "fraction" {
		return ""
	}
	return ", " + strconv.FormatFloat(percent/100, 'g', -1, 64)
}

func percentHint(k Kind, text string) string {
	if !k.change() {
		return ""
	}
	return "; for a percentage of BASE write " + text + "%"
}

func unitHint(k Kind, unit string) string {
	example := map[string]string{"seconds": ", such as 20ms", "bytes": ", such as 8MiB", "fraction": ", such as 0.01"}[unit]
	if k.change() {
		return example + ", nor a percentage, such as 2%"
	}
	return example
}
