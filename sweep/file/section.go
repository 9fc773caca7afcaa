package file

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontier/internal/bytesize"
	"frontier/internal/param"
)

// section is a mapping with fixed keys.
type section struct {
	*problems
	name   string // as messages write it: "measure"; "" for the whole file
	fields []field
	node   *node // nil if the section is absent, and then every key has its default
	pos    Pos
}

// join writes the full name of a key.
func join(name, key string) string {
	switch {
	case name == "":
		return key
	case key == "":
		return name
	}
	return name + "." + key
}

// open checks the keys of a mapping against fields. An absent section (e is nil) gives defaults. ok is false if the
// value is not a mapping or lacks a required key.
func (p *problems) open(e *entry, name string, fields []field) (s *section, ok bool) {
	s = &section{problems: p, name: name, fields: fields}
	if e == nil {
		return s, true
	}
	s.pos = e.pos
	if e.val.kind != mapping {
		p.add(placeOf(e.val, e.pos), name, "must be a mapping with the keys "+strings.Join(names(fields), ", ")+", not "+e.val.describe(), "")
		return s, false
	}
	s.node = e.val
	if s.pos == (Pos{}) {
		s.pos = e.val.pos
	}
	p.unknownKeys(e.val, name, fields)
	ok = true
	for i := range fields {
		if f := &fields[i]; f.required && e.val.get(f.name) == nil {
			p.add(s.pos, join(name, f.name), "is required: "+lowerFirst(f.doc), "")
			ok = false
		}
	}
	return s, ok
}

// placeOf is the place of a value, or that of its key where the value has none.
func placeOf(n *node, key Pos) Pos {
	if n.pos != (Pos{}) && (n.value != nil || n.kind != scalar) {
		return n.pos
	}
	return key
}

func (p *problems) unknownKeys(n *node, name string, fields []field) {
	for _, e := range n.entries {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == e.key })
		switch {
		case i < 0:
			p.unknownKey(e, name, names(fields))
		case fields[i].instead != "" && !emptyList(e.val):
			p.notBuilt(e.pos, join(name, e.key), "", fields[i].instead)
		}
	}
}

func emptyList(n *node) bool { return n.kind == list && len(n.items) == 0 }

func (p *problems) unknownKey(e entry, name string, known []string) {
	hint := "known keys are " + strings.Join(known, ", ")
	if len(known) == 0 {
		hint = "there are none here"
	}
	if near := param.Nearest(e.key, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	p.add(e.pos, join(name, e.key), "unknown key", hint)
}

// notBuilt notes that something of the format is for a later version. what is the value that is meant, or "".
func (p *problems) notBuilt(pos Pos, name, what, instead string) {
	if what != "" {
		what = strconv.Quote(what) + " "
	}
	p.add(pos, name, what+"is not built into this version", instead)
}

func lowerFirst(doc string) string {
	if doc == "" || strings.ToUpper(doc[:2]) == doc[:2] { // keeps BEIR
		return strings.TrimSuffix(doc, ".")
	}
	return strings.ToLower(doc[:1]) + strings.TrimSuffix(doc[1:], ".")
}

func (s *section) field(key string) *field {
	for i := range s.fields {
		if s.fields[i].name == key {
			return &s.fields[i]
		}
	}
	return &field{name: key}
}

// get is the value of a key, or nil. A key without a value is a problem and counts as absent.
func (s *section) get(key string) *entry {
	e := s.node.get(key)
	if e == nil {
		return nil
	}
	if e.val.kind == scalar && e.val.value == nil {
		s.add(e.pos, join(s.name, key), "has no value", "give it one, or remove the key")
		return nil
	}
	return e
}

// wrong notes that the value of a key cannot be used.
func (s *section) wrong(e *entry, msg, hint string) {
	s.add(placeOf(e.val, e.pos), join(s.name, e.key), msg, hint)
}

// number is the number at key, or the field's default, or 0. Whole numbers keep within 2^53.
func (s *section) number(key string) float64 {
	f := s.field(key)
	e := s.get(key)
	if e == nil {
		switch def := f.def.(type) {
		case int:
			return float64(def)
		case float64:
			return def
		}
		return 0
	}
	v, ok := s.numberIn(e.val, f)
	if !ok.ok() {
		s.wrong(e, ok.msg, ok.hint)
	}
	return v
}

// complaint is what is wrong with a value; the zero complaint is nothing.
type complaint struct{ msg, hint string }

func (c complaint) ok() bool { return c.msg == "" }

// numberIn reads a number within the bounds of f.
func (s *section) numberIn(n *node, f *field) (float64, complaint) {
	kind := "a number"
	if f.kind == fieldInt {
		kind = "a whole number"
	}
	v, ok := asFloat(n)
	switch {
	case !ok && n.kind == list:
		return 0, complaint{"must be one number, not a list", "only parameters of chunkers, embedders and indexes are swept"}
	case !ok:
		return 0, complaint{"must be " + kind + ", not " + n.describe(), ""}
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, complaint{"must be finite", ""}
	case f.kind == fieldInt && v != math.Trunc(v):
		return 0, complaint{"must be a whole number, not " + n.describe(), ""}
	case f.kind == fieldInt && math.Abs(v) > maxExact:
		return 0, complaint{n.describe() + " is too large for a whole number", ""}
	case v < f.min || f.max != 0 && v > f.max:
		return 0, complaint{n.describe() + " is out of range: " + f.rangeText(), ""}
	}
	return v, complaint{}
}

func asFloat(n *node) (float64, bool) {
	switch v := n.value.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func (s *section) integer(key string) int { return int(s.number(key)) }

// text is the string at key with its place, or the field's default, or "".
func (s *section) text(key string) (string, Pos) {
	f := s.field(key)
	e := s.get(key)
	if e == nil {
		def, _ := f.def.(string)
		return def, Pos{}
	}
	v, ok := e.val.value.(string)
	switch {
	case !ok || e.val.kind != scalar:
		hint := ""
		if e.val.kind == scalar {
			hint = "quote it if it is meant to be a string"
		}
		s.wrong(e, "must be a string, not "+e.val.describe(), hint)
		return "", e.val.pos
	case strings.TrimSpace(v) == "":
		s.wrong(e, "must not be empty", "give it a value, or remove the key")
	case strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }):
		s.wrong(e, "must not have control characters", "write it on one line, without tabs")
	case len(f.enum) > 0 && !slices.Contains(f.enum, v):
		hint := ""
		if near := param.Nearest(v, f.enum); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		s.wrong(e, fmt.Sprintf("%q is not one of %s", v, strings.Join(f.enum, ", ")), hint)
	default:
		return v, e.val.pos
	}
	return "", e.val.pos
}

// duration is the duration at key, or the field's default, or 0.
func (s *section) duration(key string) time.Duration {
	f := s.field(key)
	e := s.get(key)
	if e == nil {
		def, _ := f.def.(string)
		d, err := parseDuration(def)
		if err != nil {
			return 0 // no default
		}
		return d
	}
	v, ok := e.val.value.(string)
	if !ok {
		s.wrong(e, "must be a duration such as 200ms, 30s or 10m, not "+e.val.describe(), unitHint(e.val, "s"))
		return 0
	}
	d, err := parseDuration(v)
	if err != nil {
		s.wrong(e, err.Error(), "")
	}
	return d
}

func unitHint(n *node, unit string) string {
	if _, isNumber := asFloat(n); isNumber {
		return fmt.Sprintf("write the unit, as in %s%s", n.describe(), unit)
	}
	return ""
}

// size is the number of bytes at key, or 0.
func (s *section) size(key string) int64 {
	e := s.get(key)
	if e == nil {
		return 0
	}
	v, ok := e.val.value.(string)
	if !ok {
		s.wrong(e, "must be a size such as 8GiB or 500MB, not "+e.val.describe(), unitHint(e.val, "GiB"))
		return 0
	}
	n, err := bytesize.Parse(v)
	if err != nil {
		s.wrong(e, err.Error(), "")
	}
	return n
}

// flag is the boolean at key, or false.
func (s *section) flag(key string) bool {
	e := s.get(key)
	if e == nil {
		return false
	}
	v, ok := e.val.value.(bool)
	if !ok {
		s.wrong(e, "must be true or false, not "+e.val.describe(), "")
	}
	return v
}

// elements are the elements of a list, or the value itself where one stands alone.
func elements(n *node) []*node {
	if n.kind == list {
		return n.items
	}
	return []*node{n}
}
