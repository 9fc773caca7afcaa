package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// runColumns is how many columns a run has.
const runColumns = 6

// runParser parses batches, one after the other, into memory that it uses again.
type runParser struct {
	file    string
	take    func(*Ranking) error
	ranking Ranking
	query   []byte // of ranking
}

// parse gives the rankings of a batch to take. An error comes with its line.
func (p *runParser) parse(b runBatch) (line int, err error) {
	if !utf8.Valid(b.data) {
		return p.invalid(b)
	}
	p.ranking.Results = p.ranking.Results[:0]
	var fields [runColumns]field
	rest := b.data
	for i := 0; len(rest) > 0; i++ {
		var text []byte
		text, rest = cutLine(rest)
		n := cutFields(text, &fields)
		if n == 0 || text[fields[0].start] == '#' {
			continue
		}
		line := b.number(i)
		if n != runColumns {
			return line, p.columnsFault(line, n, text)
		}
		score, err := parseScore(fields[4].of(text))
		if err != nil {
			return line, p.scoreFault(line, fields[4], text, err)
		}
		if query := fields[0].of(text); len(p.ranking.Results) == 0 || !bytes.Equal(query, p.query) {
			if err := p.end(); err != nil {
				return p.ranking.Line, err
			}
			p.query = append(p.query[:0], query...)
			p.ranking.Query, p.ranking.Line = string(query), line
			if tag := fields[5].of(text); string(tag) != p.ranking.Tag {
				p.ranking.Tag = string(tag)
			}
		}
		p.ranking.Results = append(p.ranking.Results, Result{Document: fields[2].of(text), Score: score, Line: line})
	}
	return p.ranking.Line, p.end()
}

// end hands the ranking out, if there is one.
func (p *runParser) end() error {
	if len(p.ranking.Results) == 0 {
		return nil
	}
	err := p.take(&p.ranking)
	p.ranking.Results = p.ranking.Results[:0]
	return err
}

// field is a column, as byte offsets into its line.
type field struct{ start, end int }

func (f field) of(line []byte) []byte { return line[f.start:f.end] }

// cutFields finds the columns of a line, and how many there are, which may be more than it can hold.
func cutFields(line []byte, fields *[runColumns]field) (n int) {
	for i := 0; ; n++ {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		if i == len(line) {
			return n
		}
		start := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		if n < runColumns {
			fields[n] = field{start, i}
		}
	}
}

var errNaN = errors.New("it is not a number, and has no place in an order")

func parseScore(text []byte) (float64, error) {
	if score, ok := parsePlain(text); ok {
		return score, nil
	}
	score, err := strconv.ParseFloat(string(text), 64)
	if err == nil && math.IsNaN(score) {
		err = errNaN
	}
	return score, err
}

// plainDigits is how many decimal digits always fit into the 53 bits of a float64.
const plainDigits = 15

// powersOfTen are exact in float64.
var powersOfTen = [plainDigits + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parsePlain reads what most scores are, an optional sign and a few digits with a point among them, in a third of the
// time of strconv. Digits and power are exact, so that the one division rounds as it should.
func parsePlain(text []byte) (float64, bool) {
	digits, negative := text, false
	if len(digits) > 0 && digits[0] == '-' {
		digits, negative = digits[1:], true
	}
	if len(digits) == 0 || len(digits) > plainDigits {
		return 0, false
	}
	mantissa, point := uint64(0), len(digits)-1
	for i, c := range digits {
		switch {
		case c-'0' < 10:
			mantissa = 10*mantissa + uint64(c-'0')
		case c == '.' && point == len(digits)-1 && i < point:
			point = i
		default:
			return 0, false
		}
	}
	score := float64(mantissa) / powersOfTen[len(digits)-1-point]
	if negative {
		score = -score
	}
	return score, true
}

func (p *runParser) scoreFault(line int, f field, text []byte, err error) error {
	score := f.of(text)
	fault := &Error{File: p.file, Line: line, Column: columnOf(text, f.start), Msg: fmt.Sprintf("score %q", score)}
	switch {
	case errors.Is(err, errNaN):
		fault.Err, fault.Hint = err, "leave out what could not be scored"
	case errors.Is(err, strconv.ErrRange):
		fault.Msg += " is beyond what a float64 holds"
		fault.Hint = "scale the scores; only their order counts"
	case bytes.ContainsAny(score, "Oo"):
		fault.Msg += " is not a number"
		fault.Hint = "is it the letter O in place of a zero?"
	case bytes.IndexByte(score, ',') >= 0:
		fault.Msg += " is not a number"
		fault.Hint = "write a point for the comma"
	default:
		fault.Msg += " is not a number"
		fault.Hint = runHint
	}
	return fault
}

func (p *runParser) columnsFault(line, n int, text []byte) error {
	fault := &Error{
		File: p.file, Line: line, Hint: runHint,
		Msg: fmt.Sprintf("%d columns in place of %d: %.80q", n, runColumns, text),
	}
	switch {
	case bytes.IndexByte(text, '\r') >= 0:
		fault.Msg = "carriage returns inside the line, as in files with old Macintosh line endings"
		fault.Hint = `convert the line endings to \n`
	case n == 3 || n == 4:
		fault.Hint += "; is this a file of judgements?"
	case n == 5:
		fault.Hint += "; is Q0 or the tag missing?"
	case n > runColumns:
		fault.Hint += "; ids cannot hold blanks"
	}
	return fault
}

// invalid finds where a batch is not UTF-8.
func (p *runParser) invalid(b runBatch) (int, error) {
	rest := b.data
	for i := 0; len(rest) > 0; i++ {
		var text []byte
		text, rest = cutLine(rest)
		if bad := invalidUTF8(text); bad >= 0 {
			line := b.number(i)
			return line, &Error{
				File: p.file, Line: line, Column: columnOf(text, bad),
				Msg: fmt.Sprintf("invalid UTF-8 (0x%02x)", text[bad]), Hint: utf8Hint,
			}
		}
	}
	return b.number(0), &Error{File: p.file, Line: b.number(0), Msg: "invalid UTF-8", Hint: utf8Hint}
}
