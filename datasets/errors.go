package datasets

import (
	"fmt"
	"strings"
)

// Error says what is wrong with a file of data, where, and what to do about it. Every fault of the user's data that
// this package finds is one, or wraps one, or is a join of several, so that errors.As tells such faults from failures
// of the machine.
type Error struct {
	File   string // as the user wrote it; "" if the fault is in no file
	Line   int    // from 1; 0 if lines mean nothing here
	Column int    // from 1, in code points; 0 if unknown
	Offset int64  // bytes from the start of the file; printed if there is no line and it is not 0
	Msg    string // what is wrong
	Hint   string // what to do; "" if Msg says it already
	Err    error  // what lies behind it; may be nil
}

// Error is "file:line:column: message; hint".
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		switch {
		case e.Line > 0 && e.Column > 0:
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
		case e.Line > 0:
			fmt.Fprintf(&b, ":%d", e.Line)
		case e.Offset > 0:
			fmt.Fprintf(&b, ": byte %d", e.Offset)
		}
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Unwrap is the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }
