// Package param describes the parameters of chunkers, embedders and indexes. One literal table a component yields its
// validation, its help text, its part of the JSON Schema and its page in the docs.
package param

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Type is the type of a parameter's value.
type Type int

// The types; the Go values are int64, float64, string and bool. An Amount is a whole number or a percentage of
// something else, and its Go value is a string: "40" or "12.5%".
const (
	Int Type = iota
	Float
	String
	Bool
	Amount
)

// String is the name that messages and the JSON Schema use.
func (t Type) String() string {
	return [...]string{"integer", "number", "string", "boolean", "whole number or percentage"}[t]
}

// Spec describes one parameter.
type Spec struct {
	Name    string   // as written in a sweep file: "M", "ef_search"
	Type    Type     //
	Default any      // of the parameter's Go type; nil means that it must be given
	Min     float64  // of numbers, inclusive
	Max     float64  // of numbers, inclusive; 0 means no limit
	Enum    []string // of strings, all that are allowed; none means any
	Column  string   // the column of results.parquet that holds it; "" means only in params
	Doc     string   // one sentence
}

// Values are the parameters of one component: name to int64, float64, string or bool.
type Values map[string]any

// Error says which parameter is wrong and why. The caller knows where it stands in the file.
type Error struct {
	Param string
	Msg   string
}

func (e *Error) Error() string { return e.Param + ": " + e.Msg }

// Complete checks given against specs and returns a full set with defaults filled in. Whole numbers are accepted
// where a number is asked for, and the reverse only if the value is whole. The error is an *Error.
func Complete(specs []Spec, given Values) (Values, error) {
	full := make(Values, len(specs))
	for name := range given {
		if Find(specs, name) == nil {
			return nil, &Error{name, unknown(specs, name)}
		}
	}
	for i := range specs {
		s := &specs[i]
		v, ok := given[s.Name]
		if !ok {
			if s.Default == nil {
				return nil, &Error{s.Name, "is required: " + s.Doc}
			}
			full[s.Name] = s.Default
			continue
		}
		checked, err := s.Check(v)
		if err != nil {
			return nil, &Error{s.Name, err.Error()}
		}
		full[s.Name] = checked
	}
	return full, nil
}

// Find is the spec called name, or nil.
func Find(specs []Spec, name string) *Spec {
	for i := range specs {
		if specs[i].Name == name {
			return &specs[i]
		}
	}
	return nil
}

// Check converts v to the parameter's Go type and checks its range.
func (s *Spec) Check(v any) (any, error) {
	switch s.Type {
	case Int, Float:
		var f float64
		switch n := v.(type) {
		case int:
			f = float64(n)
		case int64:
			f = float64(n)
		case uint64:
			f = float64(n)
		case float64:
			f = n
		default:
			return nil, fmt.Errorf("must be a %s, not %v", s.Type, describe(v))
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("must be a finite %s", s.Type)
		}
		if f < s.Min || (s.Max != 0 && f > s.Max) {
			return nil, fmt.Errorf("%s is out of range: %s", plain(f), s.Range())
		}
		if s.Type == Float {
			return f, nil
		}
		if f != math.Trunc(f) {
			return nil, fmt.Errorf("must be a whole number, not %v", v)
		}
		return int64(f), nil
	case Amount:
		return s.checkAmount(v)
	case String:
		str, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("must be a string, not %v", describe(v))
		}
		if len(s.Enum) == 0 {
			return str, nil
		}
		for _, e := range s.Enum {
			if e == str {
				return str, nil
			}
		}
		return nil, fmt.Errorf("%q is not one of %s%s", str, strings.Join(s.Enum, ", "), suggest(str, s.Enum))
	default:
		b, ok := v.(bool)
		if !ok {
			return nil, fmt.Errorf("must be true or false, not %v", describe(v))
		}
		return b, nil
	}
}

// AmountPattern is the text form of an Amount.
var AmountPattern = regexp.MustCompile(`^[0-9]+$|^[0-9]+(\.[0-9]+)?%$`)

func (s *Spec) checkAmount(v any) (any, error) {
	text := fmt.Sprint(v)
	if f, ok := v.(float64); ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		text = strconv.FormatInt(int64(f), 10)
	}
	if !AmountPattern.MatchString(text) {
		return nil, fmt.Errorf("must be a whole number or a percentage such as 10%%, not %v", describe(v))
	}
	return text, nil
}

// Range states the allowed values for help and messages.
func (s *Spec) Range() string {
	switch {
	case len(s.Enum) > 0:
		return "one of " + strings.Join(s.Enum, ", ")
	case s.Type == Int || s.Type == Float:
		if s.Max != 0 {
			return fmt.Sprintf("%s to %s", plain(s.Min), plain(s.Max))
		}
		return "at least " + plain(s.Min)
	}
	return s.Type.String()
}

// plain is a number as people write it: 1000000, and not 1e+06.
func plain(f float64) string {
	if size := math.Abs(f); size >= 1e-6 && size < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the string %q", v)
	case bool:
		return fmt.Sprintf("the boolean %v", v)
	}
	return fmt.Sprintf("%v", v)
}

func unknown(specs []Spec, name string) string {
	names := make([]string, len(specs))
	for i, s := range specs {
		names[i] = s.Name
	}
	if len(names) == 0 {
		return "takes no parameters"
	}
	return fmt.Sprintf("unknown parameter%s; known ones are %s", suggest(name, names), strings.Join(names, ", "))
}

func suggest(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// Nearest is the known name closest to name by edit distance, or "" if none is close enough to be meant: at least one
// character of name must be right.
func Nearest(name string, known []string) string {
	best, bestDist := "", min(len(name)/3+2, len(name))
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < bestDist {
			best, bestDist = k, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			above := row[j+1]
			row[j+1] = min(above+1, row[j]+1, diagonal+cost)
			diagonal = above
		}
	}
	return row[len(b)]
}

// Int is the integer called name; it must be there, as it is after Complete.
func (v Values) Int(name string) int { return int(v[name].(int64)) }

// Float is the number called name.
func (v Values) Float(name string) float64 { return v[name].(float64) }

// Str is the string called name.
func (v Values) Str(name string) string { return v[name].(string) }

// Bool is the boolean called name.
func (v Values) Bool(name string) bool { return v[name].(bool) }

// Canonical is the one text form of the values, equal for equal values: compact JSON with sorted names. It is what
// cache keys hash and what the params column holds.
func (v Values) Canonical() string {
	raw, err := json.Marshal(map[string]any(v)) // encoding/json sorts the keys
	if err != nil {
		panic("param: values hold a type that is not a parameter's: " + err.Error())
	}
	return string(raw)
}

// Parse reads what Canonical wrote, using specs for the types.
func Parse(specs []Spec, canonical string) (Values, error) {
	var raw map[string]any
	if err := json.Unmarshal([]byte(canonical), &raw); err != nil {
		return nil, fmt.Errorf("parameters %q: %w", canonical, err)
	}
	return Complete(specs, raw)
}
