package embedders

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTerm is where a term is cut, in bytes: longer "words" are encoded data, and a prefix tells them apart as well.
const maxTerm = 96

// analysis says how a text becomes terms.
type analysis struct {
	stem   bool
	ngrams int // code points in a character n-gram; 0 for none
}

// analyzer turns texts into terms. It serves one goroutine at a time.
//
// A word is a run of letters, marks and digits in NFKC, lower-cased and, if English letters, stemmed. A word written in
// camelCase gives its parts as well, and words joined by a dot, an underscore or a slash give the whole as well, so
// that http.Server.ListenAndServe is found by itself and by each of its words. Scripts without spaces between words give
// single characters and pairs.
type analyzer struct {
	analysis
	stemmer stemmer
	word    []rune // the word at hand, as written
	chain   []byte // the joined words at hand, lower-cased
	links   int    // words in chain
	term    []byte
	yield   func(term []byte)
}

// each calls yield with every term of text in order of appearance. The slice is valid during the call only.
func (a *analyzer) each(text string, yield func(term []byte)) {
	if !norm.NFKC.IsNormalString(text) {
		text = norm.NFKC.String(text)
	}
	a.yield = yield
	a.word, a.chain, a.links = a.word[:0], a.chain[:0], 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case isDense(r):
			a.endChain()
			i += a.dense(text[i:])
			continue
		case inWord(r):
			a.word = append(a.word, r)
		case (r == '\'' || r == '’') && len(a.word) > 0:
			n += contraction(text[i+n:])
			a.endChain()
		case (r == '.' || r == '_' || r == '/') && len(a.word) > 0 && startsWord(text[i+n:]):
			a.endWord()
			a.chain = append(a.chain, byte(r))
		default:
			a.endChain()
		}
		i += n
	}
	a.endChain()
	a.yield = nil
}

// endWord emits the word at hand and its camelCase parts, and adds it to the chain.
func (a *analyzer) endWord() {
	if len(a.word) == 0 {
		return
	}
	start := len(a.chain)
	for _, r := range a.word {
		a.chain = utf8.AppendRune(a.chain, unicode.ToLower(r))
	}
	whole := a.chain[start:]
	a.emitWord(whole)
	a.links++
	for from, first := 0, true; from < len(a.word); first = false {
		to := from + hump(a.word[from:])
		if first && to == len(a.word) {
			break
		}
		a.term = a.term[:0]
		for _, r := range a.word[from:to] {
			a.term = utf8.AppendRune(a.term, unicode.ToLower(r))
		}
		a.emit(a.stemmed(a.term))
		from = to
	}
	a.word = a.word[:0]
}

// endChain emits the word at hand and the whole chain if it has several words.
func (a *analyzer) endChain() {
	a.endWord()
	if a.links > 1 {
		a.emit(a.chain)
	}
	a.chain, a.links = a.chain[:0], 0
}

func (a *analyzer) emit(term []byte) {
	if len(term) > maxTerm {
		term = term[:maxTerm]
	}
	if len(term) > 0 {
		a.yield(term)
	}
}

// emitWord emits a lower-cased word and its character n-grams. The marks at both ends of the word take part, and a
// byte that no word has keeps n-grams and words apart.
func (a *analyzer) emitWord(word []byte) {
	a.emit(a.stemmed(word))
	if a.ngrams == 0 || len(word) > maxTerm {
		return
	}
	var gram [maxTerm + 3]byte
	marked := append(append(append(gram[:0], '^'), word...), '$')
	for i := 0; i < len(marked); {
		end := i
		for range a.ngrams {
			if end == len(marked) {
				return
			}
			_, n := utf8.DecodeRune(marked[end:])
			end += n
		}
		a.term = append(append(a.term[:0], 0), marked[i:end]...)
		a.emit(a.term)
		_, n := utf8.DecodeRune(marked[i:])
		i += n
	}
}

func (a *analyzer) stemmed(word []byte) []byte {
	if !a.stem {
		return word
	}
	return a.stemmer.stem(word)
}

// dense emits the characters, and the pairs of neighbours, of the run of a script without spaces at the start of text,
// and returns the length of the run.
func (a *analyzer) dense(text string) int {
	before := 0
	for i, r := range text {
		if !isDense(r) {
			return i
		}
		end := i + utf8.RuneLen(r)
		a.term = append(a.term[:0], text[i:end]...)
		a.emit(a.term)
		if i > 0 {
			a.term = append(a.term[:0], text[before:end]...)
			a.emit(a.term)
		}
		before = i
	}
	return len(text)
}

// hump is the length of the first part of a camelCase word: ListenAndServe, HTTPServer and sha256Sum are cut before
// A, the second S, and S.
func hump(word []rune) int {
	for i := 1; i < len(word); i++ {
		if !unicode.IsUpper(word[i]) {
			continue
		}
		if !unicode.IsUpper(word[i-1]) {
			return i
		}
		rest := word[i+1:]
		if len(rest) > 0 && unicode.IsLower(rest[0]) && !(len(rest) == 1 && rest[0] == 's') { // URLs is one part
			return i
		}
	}
	return len(word)
}

// contraction is the length of an English ending after an apostrophe (s, t, d, m, ll, re, ve), which carries no
// meaning to search for, or 0.
func contraction(text string) int {
	n := 0
	for n < len(text) && (text[n]|0x20) >= 'a' && (text[n]|0x20) <= 'z' {
		n++
	}
	switch strings.ToLower(text[:min(n, 3)]) {
	case "s", "t", "d", "m", "ll", "re", "ve":
		return n
	}
	return 0
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

func startsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return inWord(r) && !isDense(r)
}

// isDense says whether r is of a script that is written without spaces between words.
func isDense(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
