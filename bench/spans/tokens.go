package spans

import (
	"fmt"
	"sort"
)

// Tokens are the places at which the tokens of one document start, in code points and never descending. A token reaches to
// the start of the next, the last one to the end of the text. Tokens that share a code point have the same start.
type Tokens []int

// Span maps a range of code points to the tokens that it touches. A token that is cut counts as a whole, so that
// neighbouring chunks that share a token overlap in it. A range before the first token is an error.
func (t Tokens) Span(s Span) (Span, error) {
	if err := s.check(); err != nil {
		return s, fmt.Errorf("span scoring in tokens: %w", err)
	}
	if len(t) == 0 || s.Start < t[0] {
		return s, fmt.Errorf("span scoring in tokens: [%d, %d) of document %d starts before the first of its %d tokens", s.Start, s.End, s.Doc, len(t))
	}
	first := sort.SearchInts(t, s.Start)
	if first == len(t) || t[first] > s.Start {
		first-- // the token before reaches into the range
	}
	return Span{Doc: s.Doc, Start: first, End: max(sort.SearchInts(t, s.End), first+1)}, nil
}
