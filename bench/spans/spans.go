// Package spans scores retrieved chunks by the places of the source document that they cover, so that figures of
// different chunkings can be compared.
//
// The definitions are those of chunking_evaluation (Smith and Troynikov, "Evaluating Chunking Strategies for
// Retrieval", Chroma 2024). With N the length of what is both retrieved and gold, each place counted once:
//
//	recall    = N / length of the gold
//	precision = N / sum of the lengths of the retrieved chunks
//	IoU       = N / (sum of the lengths of the retrieved chunks + gold that was not retrieved)
//
// So text that two retrieved chunks share counts once as found and twice as retrieved: it is paid for twice. Where two
// pieces of gold overlap, what they share counts once as gold, and a recall of 1 can always be reached. Of a literal text
// that stands at several places only the place that is covered best counts as gold, the first of equals: the others say
// nothing new.
//
// A length is whatever the spans count. Spans of code points give figures in characters.
package spans

import "fmt"

// Span is a half-open range of positions of one document. Doc counts documents from 0.
type Span struct {
	Doc        int
	Start, End int
}

// Len is the number of positions.
func (s Span) Len() int { return s.End - s.Start }

// overlaps says whether the two share a position.
func (s Span) overlaps(t Span) bool { return s.Doc == t.Doc && s.Start < t.End && t.Start < s.End }

// contains says whether all of t lies in s.
func (s Span) contains(t Span) bool { return s.Doc == t.Doc && s.Start <= t.Start && t.End <= s.End }

// check refuses what is no range of positions.
func (s Span) check() error {
	if s.Doc < 0 || s.Start < 0 || s.Start >= s.End {
		return fmt.Errorf("[%d, %d) of document %d is not a range of positions", s.Start, s.End, s.Doc)
	}
	return nil
}

// Unit is one piece of gold: it is found where any of its spans is. Whole says that each is a whole document, of which any
// chunk is a holder.
type Unit struct {
	Spans []Span
	Whole bool
}

// Rule says when a chunk holds a unit.
type Rule int

// The rules.
const (
	Overlap Rule = iota // the two share at least one position
	Contain             // the chunk contains a whole span of the unit
)

// ParseRule reads "overlap" or "contain".
func ParseRule(name string) (Rule, error) {
	switch name {
	case "overlap":
		return Overlap, nil
	case "contain":
		return Contain, nil
	}
	return 0, fmt.Errorf("evidence rule %q: use overlap or contain", name)
}

func (r Rule) String() string {
	if r == Contain {
		return "contain"
	}
	return "overlap"
}

// Holds says whether a chunk holds u.
func (r Rule) Holds(chunk Span, u Unit) bool {
	for _, s := range u.Spans {
		switch {
		case u.Whole:
			if chunk.Doc == s.Doc {
				return true
			}
		case r == Contain:
			if chunk.contains(s) {
				return true
			}
		case chunk.overlaps(s):
			return true
		}
	}
	return false
}

// Ranks are the ranks, from 1, of the first of the chunks that holds each unit; 0 where none does.
func (r Rule) Ranks(ranked []Span, units []Unit) []int {
	ranks := make([]int, len(units))
	for i, u := range units {
		for rank, c := range ranked {
			if r.Holds(c, u) {
				ranks[i] = rank + 1
				break
			}
		}
	}
	return ranks
}

// Held is how many of units any of the chunks holds.
func (r Rule) Held(chunks []Span, units []Unit) int {
	held := 0
	for _, rank := range r.Ranks(chunks, units) {
		if rank > 0 {
			held++
		}
	}
	return held
}
