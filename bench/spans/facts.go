package spans

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Facts are the statements that a good answer holds, normalised for looking them up. They serve one goroutine at a time.
type Facts struct {
	wanted []string
	fold   folder
}

// NewFacts normalises facts. Those without anything but white space are left out.
func NewFacts(facts []string) *Facts {
	f := &Facts{fold: folder{cases.Fold()}}
	for _, fact := range facts {
		if n := f.fold.normalize(fact); n != "" {
			f.wanted = append(f.wanted, n)
		}
	}
	return f
}

// Len is how many facts are looked for.
func (f *Facts) Len() int { return len(f.wanted) }

// Found is how many of the facts stand literally in any one of texts, the chunks of a context. Both sides are brought to
// Unicode's NFKC, case-folded, and every run of white space becomes one space. A number is found only as a whole: "400"
// is neither in "1400" nor in "4000", "1,400" or "400.5". A fact that is cut in two by the end of a chunk is not found.
func (f *Facts) Found(texts []string) int {
	if len(f.wanted) == 0 {
		return 0
	}
	seen := make([]bool, len(f.wanted))
	found := 0
	for _, text := range texts {
		text = f.fold.normalize(text)
		for i, fact := range f.wanted {
			if !seen[i] && holdsFact(text, fact) {
				seen[i] = true
				found++
			}
		}
	}
	return found
}

// folder folds case; it keeps scratch memory.
type folder struct{ caser cases.Caser }

func (f folder) normalize(s string) string {
	// Folding can undo composition, and so comes between two normalisations: Unicode Standard, section 3.13, D146.
	s = norm.NFKC.String(f.caser.String(norm.NFKC.String(s)))
	return strings.Join(strings.Fields(s), " ")
}

// holdsFact says whether fact occurs in text without being a part of a longer number there.
func holdsFact(text, fact string) bool {
	head, _ := utf8.DecodeRuneInString(fact)
	tail, _ := utf8.DecodeLastRuneInString(fact)
	for from := 0; ; {
		i := strings.Index(text[from:], fact)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(fact)
		if !(unicode.IsDigit(head) && endsNumber(text[:start])) && !(unicode.IsDigit(tail) && continuesNumber(text[end:])) {
			return true
		}
		_, width := utf8.DecodeRuneInString(text[start:])
		from = start + width
	}
}

// endsNumber says whether a digit behind text would belong to a number that begins in it, as behind "1" and "1,".
func endsNumber(text string) bool {
	r, n := utf8.DecodeLastRuneInString(text)
	if r == '.' || r == ',' {
		r, _ = utf8.DecodeLastRuneInString(text[:len(text)-n])
	}
	return unicode.IsDigit(r)
}

// continuesNumber says whether text goes on with the number that ends before it, as "0" and ".5" do.
func continuesNumber(text string) bool {
	r, n := utf8.DecodeRuneInString(text)
	if r == '.' || r == ',' {
		r, _ = utf8.DecodeRuneInString(text[n:])
	}
	return unicode.IsDigit(r)
}
