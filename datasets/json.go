package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// object is one line of JSON Lines: a JSON object with its members still encoded, and where they stand.
type object struct {
	lines   *lineReader
	raw     []byte
	members map[string]json.RawMessage
}

// parseObject reads one line. The error is an *Error with the column.
func parseObject(lines *lineReader, line []byte) (*object, error) {
	o := &object{lines: lines, raw: line}
	err := json.Unmarshal(line, &o.members)
	if err == nil && o.members != nil {
		return o, nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		hint := "write one whole JSON object on each line"
		if bytes.ContainsRune(line, '\r') {
			hint = "the line holds carriage returns: convert the line endings to \\n"
		}
		return nil, lines.fault(columnOf(line, int(syntax.Offset)-1), "not JSON: "+syntax.Error(), hint)
	}
	return nil, lines.fault(1, "the line is not a JSON object but "+kindOf(bytes.TrimSpace(line)), "write one JSON object on each line: {\"id\": ..., ...}")
}

// fault is an *Error that points at the member called key, or at the line if there is none.
func (o *object) fault(key, msg, hint string) error {
	return o.lines.fault(o.column(key), msg, hint)
}

// column is where the key of a member starts, or 0.
func (o *object) column(key string) int {
	for k, at := range o.keys {
		if k == key {
			return columnOf(o.raw, at)
		}
	}
	return 0
}

// keys yields the key of each member in their order, and the byte at which it starts.
func (o *object) keys(yield func(key string, at int) bool) {
	dec := json.NewDecoder(bytes.NewReader(o.raw))
	if _, err := dec.Token(); err != nil {
		return
	}
	for dec.More() {
		at := int(dec.InputOffset())
		at += max(bytes.IndexByte(o.raw[at:], '"'), 0)
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok || !yield(key, at) {
			return
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return
		}
	}
}

// unique is a fault if a key is there twice: of its members all but the last are lost.
func (o *object) unique() error {
	seen := make(map[string]bool, len(o.members))
	for key, at := range o.keys {
		if seen[key] {
			return o.lines.fault(columnOf(o.raw, at), fmt.Sprintf("the field %q is there twice", key), "keep one of them")
		}
		seen[key] = true
	}
	return nil
}

// has says whether a member is there and is not null.
func (o *object) has(key string) bool {
	raw, ok := o.members[key]
	return ok && string(raw) != "null"
}

// first is the first of keys that the object has, or "".
func (o *object) first(keys ...string) string {
	for _, key := range keys {
		if o.has(key) {
			return key
		}
	}
	return ""
}

// str is the string called key, "" if it is absent or null.
func (o *object) str(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	s, ok := unquote(o.members[key])
	if !ok {
		return "", o.fault(key, fmt.Sprintf("%q must be a string, not %s", key, kindOf(o.members[key])), "")
	}
	return s, nil
}

// scalar is the string, number or boolean called key as text, "" if it is absent or null.
func (o *object) scalar(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	s, ok := scalarText(o.members[key])
	if !ok {
		return "", o.fault(key, fmt.Sprintf("%q must be a string or a number, not %s", key, kindOf(o.members[key])), "")
	}
	return s, nil
}

// strs is the list of strings or numbers called key; one alone counts as a list.
func (o *object) strs(key string) ([]string, error) {
	if !o.has(key) {
		return nil, nil
	}
	if s, ok := scalarText(o.members[key]); ok {
		return []string{s}, nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(o.members[key], &items); err != nil {
		return nil, o.fault(key, fmt.Sprintf("%q must be a list of strings, not %s", key, kindOf(o.members[key])), "")
	}
	list := make([]string, len(items))
	for i, item := range items {
		s, ok := scalarText(item)
		if !ok {
			return nil, o.fault(key, fmt.Sprintf("%s[%d] must be a string, not %s", key, i, kindOf(item)), "")
		}
		list[i] = s
	}
	return list, nil
}

// scalarText is a JSON string's value, or a number or boolean as written. Null, lists and objects are not scalars.
func scalarText(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 {
		return "", false
	}
	switch raw[0] {
	case '"':
		return unquote(raw)
	case '[', '{', 'n':
		return "", false
	}
	return string(raw), true
}

// unquote is the value of a JSON string in UTF-8; false if raw, which is valid JSON, is not a string.
func unquote(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true // many texts hold no escapes, and this is several times faster
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// wholeNumber is a JSON number without a fraction, or such a number in a string.
func wholeNumber(raw json.RawMessage) (int, bool) {
	s, ok := scalarText(raw)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil
}

// kindOf names what a JSON text is, for messages.
func kindOf(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	}
	return "the number " + string(raw[:min(len(raw), 40)])
}
