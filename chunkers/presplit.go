package chunkers

import (
	"unicode"
	"unicode/utf8"
)

// maxBlankPiece is where a run of white space is cut, because the tokenizer's time on long mixed runs of blanks and line
// breaks is quadratic. Beyond this many bytes the count may differ from tiktoken's by one token a cut.
const maxBlankPiece = 512

// nextPiece is the length in bytes of the piece that cl100k_base splits off the start of text, which is not empty,
// before it merges bytes into tokens. The published pattern is
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//
// Splitting by hand lets pieces be looked up in a cache and avoids the regular expression's quadratic time on long
// runs of white space and line breaks.
func nextPiece(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	if r == '\'' {
		if c := contraction(text[n:]); c > 0 {
			return n + c
		}
	}
	switch {
	case unicode.IsLetter(r):
		return n + letters(text[n:])
	case unicode.IsNumber(r):
		for range 2 {
			next, size := utf8.DecodeRuneInString(text[n:])
			if !unicode.IsNumber(next) {
				break
			}
			n += size
		}
		return n
	case r != '\r' && r != '\n':
		if l := letters(text[n:]); l > 0 {
			return n + l
		}
	}
	if r != ' ' && unicode.IsSpace(r) {
		return whiteSpace(text)
	}
	symbols := 0
	if r == ' ' {
		symbols = n
	}
	end := symbols
	for end < len(text) {
		next, size := utf8.DecodeRuneInString(text[end:])
		if unicode.IsSpace(next) || unicode.IsLetter(next) || unicode.IsNumber(next) {
			break
		}
		end += size
	}
	if end == symbols {
		return whiteSpace(text)
	}
	for end < len(text) && (text[end] == '\r' || text[end] == '\n') {
		end++
	}
	return end
}

// contraction is the length of the English ending at the start of text, which follows an apostrophe, or 0. Case is
// folded as Unicode does, where the long s is an s.
func contraction(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	switch r {
	case 's', 'S', 'ſ', 't', 'T', 'm', 'M', 'd', 'D':
		return n
	}
	if len(text) < 2 {
		return 0
	}
	switch [2]byte{text[0] | 0x20, text[1] | 0x20} {
	case [2]byte{'r', 'e'}, [2]byte{'v', 'e'}, [2]byte{'l', 'l'}:
		return 2
	}
	return 0
}

// letters is the length of the run of letters at the start of text.
func letters(text string) int {
	for i, r := range text {
		if !unicode.IsLetter(r) {
			return i
		}
	}
	return len(text)
}

// whiteSpace is the length of the piece at the start of text, which starts with white space: up to the last line break
// of the run; without one, the run but for its last character, which belongs to the word that follows. It looks no
// further than maxBlankPiece.
func whiteSpace(text string) int {
	end, last, lineBreak := len(text), 0, 0
	for i, r := range text {
		if !unicode.IsSpace(r) {
			end = i
			break
		}
		if i >= maxBlankPiece {
			return i
		}
		last = i
		if r == '\n' || r == '\r' {
			lineBreak = i + 1
		}
	}
	switch {
	case lineBreak > 0:
		return lineBreak
	case end < len(text) && last > 0:
		return last
	}
	return end
}
