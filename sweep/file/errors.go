package file

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Error is one problem of a sweep file.
type Error struct {
	Path  string // of the file, or the --set flag that brought the value in
	Pos   Pos    // the zero Pos if the value has no place in the file
	Param string // such as chunkers[0].overlap; "" if the file as a whole is meant
	Msg   string
	Hint  string // what to do about it; may be ""

	line string // the line of the file that Pos is on
}

// Error prints the problem as file:line:column: parameter: message (hint).
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Path)
	if e.Pos != (Pos{}) {
		fmt.Fprintf(&b, ":%d:%d", e.Pos.Line, e.Pos.Column)
	}
	b.WriteString(": ")
	if e.Param != "" {
		b.WriteString(e.Param + ": ")
	}
	b.WriteString(e.Msg)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Detail is the message followed by the line of the file with a caret under the column, without a final newline.
func (e *Error) Detail() string {
	if e.line == "" || e.Pos.Column < 1 {
		return e.Error()
	}
	number := fmt.Sprintf("%5d | ", e.Pos.Line)
	// Tabs are kept so that the caret stands right whatever a terminal makes of them.
	var pad strings.Builder
	pad.WriteString(strings.Repeat(" ", len(number)-2) + "| ")
	column := 1
	for _, r := range e.line {
		if column >= e.Pos.Column {
			break
		}
		if r == '\t' {
			pad.WriteByte('\t')
		} else {
			pad.WriteByte(' ')
		}
		column++
	}
	return e.Error() + "\n" + number + e.line + "\n" + pad.String() + "^"
}

// maxShown is how many problems an Errors prints.
const maxShown = 20

// maxKept is how many problems are kept; a file that has more is not a sweep file.
const maxKept = 1000

// Errors is all problems of a sweep file, in the order of their places. It unwraps to its elements.
type Errors []*Error

// Error prints up to 20 problems, one a line.
func (e Errors) Error() string { return e.print((*Error).Error) }

// Detail is like Error, with the line of the file under each problem.
func (e Errors) Detail() string { return e.print((*Error).Detail) }

func (e Errors) print(text func(*Error) string) string {
	var lines []string
	for _, one := range e[:min(len(e), maxShown)] {
		lines = append(lines, text(one))
	}
	if more := len(e) - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the problems to errors.As.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// problems collects what is wrong with one file.
type problems struct {
	path    string
	lines   []string
	sets    []override
	list    Errors
	spoiled map[Pos]bool // places whose value is known to be wrong; what else is said of it would be noise
}

func newProblems(path string, src []byte) *problems {
	return &problems{path: path, lines: strings.Split(string(src), "\n")}
}

// add notes a problem. A value without a place came from a --set flag or is a default.
func (p *problems) add(pos Pos, param, msg, hint string) {
	if len(p.list) >= maxKept || p.spoiled[pos] {
		return
	}
	e := &Error{Path: p.path, Pos: pos, Param: param, Msg: msg, Hint: hint}
	switch {
	case pos != (Pos{}):
		e.line = lineAt(p.lines, pos)
	default:
		for _, set := range p.sets {
			if set.touches(param) {
				e.Path = "--set " + set.text // the last one that covers it is the one in effect
			}
		}
	}
	p.list = append(p.list, e)
}

// spoil notes that the value at pos is wrong whatever it is meant for.
func (p *problems) spoil(pos Pos, msg, hint string) {
	p.add(pos, "", msg, hint)
	if pos == (Pos{}) {
		return
	}
	if p.spoiled == nil {
		p.spoiled = map[Pos]bool{}
	}
	p.spoiled[pos] = true
}

// err is the collected problems, sorted and without repetitions, or nil.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column), cmp.Compare(a.Param, b.Param))
	})
	p.list = slices.CompactFunc(p.list, func(a, b *Error) bool { return *a == *b })
	return p.list
}

func lineAt(lines []string, pos Pos) string {
	if pos.Line < 1 || pos.Line > len(lines) {
		return ""
	}
	return strings.TrimRight(lines[pos.Line-1], "\r")
}

// At is an error about the place pos of the file, for problems that show only once the data is known.
func (f *File) At(pos Pos, param, msg, hint string) *Error {
	return &Error{
		Path: f.Path, Pos: pos, Param: param, Msg: msg, Hint: hint,
		line: lineAt(strings.Split(string(f.Source), "\n"), pos),
	}
}
