package datasets

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// csvLists are the columns whose cells hold several values, as a JSON list or separated by semicolons.
var csvLists = []string{"expected_document_ids", "expected_source", "expected_chunk_id", "tags"}

// lineFeed gives a lineReader's lines, the first one already read, back as a stream, so that the CSV reader sees only
// text that was found to be UTF-8.
type lineFeed struct {
	lines *lineReader
	rest  []byte
}

func (f *lineFeed) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, err := f.lines.read()
		if err != nil {
			return 0, err
		}
		f.rest = append(append(f.rest[:0], line...), '\n')
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// readCSV reads a golden set as CSV with a header, each row becoming the object that JSON Lines would have.
func (s *caseSet) readCSV(lines *lineReader, head []byte) error {
	file, skipped := lines.file, lines.number-1
	if i := bytes.IndexByte(head, '\r'); i >= 0 {
		return lines.fault(columnOf(head, i), "a carriage return inside the line, as in files with old Macintosh line endings", "convert the line endings to \\n")
	}
	r := csv.NewReader(&lineFeed{lines: lines, rest: append(bytes.Clone(head), '\n')})
	header, err := r.Read()
	if err != nil {
		return csvFault(file, skipped, err)
	}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	if !slices.ContainsFunc(header, func(name string) bool { return slices.Contains(queryKeys, name) }) {
		hint := "give JSON Lines with one object a line, or CSV with the columns id, query and expected_document_ids or gold_evidence"
		if len(header) == 1 && strings.ContainsAny(header[0], ";\t") {
			hint = "separate the columns by commas"
		}
		return &Error{File: file, Line: skipped + 1, Msg: fmt.Sprintf("neither JSON Lines nor a CSV header with a column \"query\": %.80q", head), Hint: hint}
	}
	for i, name := range header {
		if name != "" && slices.Index(header, name) != i {
			return &Error{File: file, Line: skipped + 1, Msg: fmt.Sprintf("the column %q is there twice", name)}
		}
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvFault(file, skipped, err)
		}
		line, _ := r.FieldPos(0)
		at := &lineReader{file: file, number: skipped + line}
		o, err := csvObject(at, header, row)
		if err != nil {
			s.faults.add(err)
			continue
		}
		s.add(o)
	}
}

// csvFault places an error of the CSV reader, which counts lines from the header.
func csvFault(file string, skipped int, err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return err // of the line reader, or of the machine
	}
	hint := "quote cells that hold commas, quotes or line breaks, and double the quotes in them"
	if errors.Is(parse, csv.ErrFieldCount) {
		hint = "every row needs as many cells as the header; " + hint
	}
	msg := "not CSV"
	if parse.Line > parse.StartLine { // where a quote is not closed, the reader goes on to the end of the file
		msg = fmt.Sprintf("not CSV, in the row that begins on line %d", skipped+parse.StartLine)
	}
	return &Error{File: file, Line: skipped + parse.Line, Column: parse.Column, Msg: msg, Err: parse.Err, Hint: hint}
}

// csvObject is a row as an object. Empty cells are absent.
func csvObject(at *lineReader, header, row []string) (*object, error) {
	o := &object{lines: at, members: make(map[string]json.RawMessage, len(row))}
	for i, cell := range row {
		name, cell := header[i], strings.TrimSpace(cell)
		if name == "" || cell == "" {
			continue
		}
		structured := name == "gold_evidence" || name == "filter"
		list := slices.Contains(csvLists, name)
		if structured || (list || name == "expected_facts") && cell[0] == '[' {
			if !json.Valid([]byte(cell)) {
				return nil, at.fault(0, fmt.Sprintf("column %q is not JSON: %.60q", name, cell), "write it as in JSON Lines, quotes doubled")
			}
			o.members[name] = json.RawMessage(cell)
			continue
		}
		var value any = cell
		if list && strings.Contains(cell, ";") {
			var parts []string
			for part := range strings.SplitSeq(cell, ";") {
				if part = strings.TrimSpace(part); part != "" {
					parts = append(parts, part)
				}
			}
			value = parts
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, at.fault(0, fmt.Sprintf("column %q: %v", name, err), "")
		}
		o.members[name] = raw
	}
	return o, nil
}
