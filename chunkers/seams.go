package chunkers

import (
	"slices"
	"sort"
	"unicode"
	"unicode/utf8"
)

// level is how coarse a place to cut is; coarser is smaller.
type level int

const (
	paragraph level = iota
	line
	sentence
	word
	levels
)

// seams are the places of a text where it may be cut, as ascending byte offsets by level. A place amid white space is
// after the last line break, or, without one, before the last blank, which is where tokens start.
type seams [levels][]int

// find fills s with the seams of text, reusing its memory.
func (s *seams) find(text string) {
	for l := range s {
		s[l] = s[l][:0]
	}
	var words wordStarts
	ending := false // a sentence may end before the current code point
	ascii := false  // and its mark is one that also stands inside numbers, names and abbreviations
	period := false // and it is the full stop, which also ends abbreviations
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			end, breaks, at := blank(text, i)
			words.starts(' ')
			switch {
			case breaks > 1:
				s[paragraph] = append(s[paragraph], at)
			case breaks == 1:
				s[line] = append(s[line], at)
			case ending && !(period && startsLower(text[end:])):
				s[sentence] = append(s[sentence], at)
			default:
				s[word] = append(s[word], at)
			}
			ending, i = false, end
			continue
		}
		starts := words.starts(r)
		switch {
		case endsSentence(r):
			ascii, period = r < 0x80, r == '.'
			ending = true
		case ending && closes(r):
		case ending:
			ending = false
			if !ascii {
				s[sentence] = append(s[sentence], i)
				break
			}
			fallthrough
		default:
			if starts && i > 0 {
				s[word] = append(s[word], i)
			}
		}
		i += n
	}
}

// blank looks at the white space of text from byte offset i on: where it ends, how many line breaks it has (a carriage
// return and line feed are one, a paragraph separator is two), and where to cut it.
func blank(text string, i int) (end, breaks, at int) {
	end = len(text)
	last, afterBreak, before := i, i, rune(0)
	for j, r := range text[i:] {
		if !unicode.IsSpace(r) {
			end = i + j
			break
		}
		last = i + j
		size := utf8.RuneLen(r)
		switch r {
		case '\n':
			if before != '\r' {
				breaks++
			}
			afterBreak = last + size
		case '\r', '\u0085', '\u2028':
			breaks++
			afterBreak = last + size
		case '\u2029':
			breaks += 2
			afterBreak = last + size
		}
		before = r
	}
	if breaks > 0 {
		return end, breaks, afterBreak
	}
	return end, 0, last
}

// endsSentence says whether r is a mark that ends sentences, in any script.
func endsSentence(r rune) bool {
	if r < 0x80 {
		return r == '.' || r == '!' || r == '?'
	}
	return unicode.Is(unicode.Sentence_Terminal, r)
}

// closes says whether r may stand between the mark that ends a sentence and the white space after it.
func closes(r rune) bool {
	return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Pi)
}

func startsLower(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}

// last is the last place after byte offset from and not after to, of the coarsest level that has one.
func (s *seams) last(from, to int) (int, bool) {
	for _, at := range s {
		i := sort.SearchInts(at, to+1) - 1
		if i >= 0 && at[i] > from {
			return at[i], true
		}
	}
	return 0, false
}

// first is the first place at or after byte offset from and before to, of the coarsest level up to finest that has
// one.
func (s *seams) first(from, to int, finest level) (int, bool) {
	for _, at := range s[:finest+1] {
		i, _ := slices.BinarySearch(at, from)
		if i < len(at) && at[i] < to {
			return at[i], true
		}
	}
	return 0, false
}
