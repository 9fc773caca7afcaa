package chunkers

import (
	"sort"
	"unicode"
)

// Unit is what the size of a chunk counts.
type Unit string

// The units. A char is a Unicode code point. A word is a run without white space, and each ideograph or kana is a word
// of its own, with the punctuation that follows it. A token is one of cl100k_base in the tokens of the whole text; a
// chunk tokenized by itself may give a few more or fewer.
const (
	Chars  Unit = "chars"
	Words  Unit = "words"
	Tokens Unit = "tokens"
)

// units are the byte offsets at which the units of a text start, ascending. A token that starts inside a code point
// counts as starting where the code point does, so an offset may occur several times, and cutting at any of these
// offsets never splits a code point.
type units []int

// measure appends the unit starts of text to u.
func (u units) measure(text string, unit Unit, e *encoder) (units, error) {
	switch unit {
	case Chars:
		for i := range text {
			u = append(u, i)
		}
	case Words:
		var w wordStarts
		for i, r := range text {
			if w.starts(r) {
				u = append(u, i)
			}
		}
	default:
		err := e.each(text, func(start int) { u = append(u, runeFloor(text, start)) })
		if err != nil {
			return u, err
		}
	}
	return u, nil
}

// first is the first unit that starts at or after byte offset b, or len(u).
func (u units) first(b int) int { return sort.SearchInts(u, b) }

// holding is the first unit of those that start where the unit holding byte offset b starts. b is not before u[0].
func (u units) holding(b int) int {
	i := sort.SearchInts(u, b)
	if i < len(u) && u[i] == b {
		return i
	}
	return u.floor(i - 1)
}

// floor is the first unit that starts where unit i does; len(u) stays.
func (u units) floor(i int) int {
	for i > 0 && i < len(u) && u[i-1] == u[i] {
		i--
	}
	return i
}

// ceil is the first unit at or after i that starts elsewhere than the unit before it, or len(u).
func (u units) ceil(i int) int {
	for i > 0 && i < len(u) && u[i-1] == u[i] {
		i++
	}
	return i
}

// reach is the end of the longest run of at most size units from unit i on, as the unit after it: at least one code
// point, even if that is more than size units by itself.
func (u units) reach(i, size int) int {
	if len(u)-i <= size {
		return len(u)
	}
	if end := u.floor(i + size); end > i {
		return end
	}
	return u.ceil(i + 1)
}

// at is the byte offset of unit i, and the end of text after the last one.
func (u units) at(i int, text string) int {
	if i < len(u) {
		return u[i]
	}
	return len(text)
}

// wordStarts tells, code point by code point, where words start.
type wordStarts struct {
	inside    bool // of a word
	solo      bool // whose one letter stands alone: what follows it belongs to it up to the next letter or opening mark
	afterOpen bool // the code point before opens a bracket or a quotation, which stays with what follows
}

func (w *wordStarts) starts(r rune) bool {
	if unicode.IsSpace(r) {
		*w = wordStarts{}
		return false
	}
	solo, open := isSolo(r), opens(r)
	start := !w.inside || solo && !w.afterOpen || w.solo && (open || unicode.IsLetter(r) || unicode.IsNumber(r))
	*w = wordStarts{inside: true, solo: solo || w.solo && !start, afterOpen: open}
	return start
}

// isSolo says whether r is of a script that is written without spaces and where one character is about a word or a
// syllable.
func isSolo(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// opens says whether r is an opening bracket or quotation mark.
func opens(r rune) bool {
	if r < 0x80 {
		return r == '(' || r == '[' || r == '{'
	}
	return unicode.In(r, unicode.Ps, unicode.Pi)
}
