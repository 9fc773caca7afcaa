// Package filters measures what a filter keeps and what it takes away.
//
// Two kinds of filter are told apart. Eligibility is what the caller may see: it is always enforced, and gold that the
// caller may not see is no gold of that query. A predicate is a guess at what is relevant, such as the locale of the
// question; it may be wrong, and its cost is the eligible gold that it excludes. Gold is never rebuilt after a predicate
// was applied, or every mistake would vanish from the figures.
package filters

import (
	"fmt"
	"math/bits"
)

// Selection is a set of the documents 0 to n-1.
type Selection struct {
	words []uint64
	n     int
	count int
}

// Select is the set of those of n documents for which in is true.
func Select(n int, in func(doc int) bool) Selection {
	s := Selection{words: make([]uint64, (n+63)/64), n: n}
	for doc := range n {
		if in(doc) {
			s.words[doc/64] |= 1 << (doc % 64)
			s.count++
		}
	}
	return s
}

// Has says whether doc is in the set.
func (s Selection) Has(doc int) bool {
	return doc >= 0 && doc < s.n && s.words[doc/64]>>(doc%64)&1 == 1
}

// Len is the number of documents in the set.
func (s Selection) Len() int { return s.count }

// shared is the number of documents in both sets, which must be of the same corpus.
func (s Selection) shared(t Selection) (int, error) {
	if s.n != t.n {
		return 0, fmt.Errorf("one filter is over %d documents, the other over %d", s.n, t.n)
	}
	n := 0
	for i, w := range s.words {
		n += bits.OnesCount64(w & t.words[i])
	}
	return n, nil
}
