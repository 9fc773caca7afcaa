package indexes

import (
	"fmt"
	"math/bits"
)

// IDSet is a set of row ids of an index: those that a search may return. Its methods that read may be called by several
// goroutines at once. The zero value is empty and of no rows.
type IDSet struct {
	words []uint64
	rows  int
}

// NewIDSet is an empty set for an index of so many rows.
func NewIDSet(rows int) *IDSet {
	return &IDSet{words: make([]uint64, (rows+63)/64), rows: rows}
}

// IDSetOf is the set of an index of so many rows whose bits are in words, as Words gives them. The words are kept. Too few
// or too many words, or bits of rows that there are not, are errors.
func IDSetOf(rows int, words []uint64) (*IDSet, error) {
	if want := (rows + 63) / 64; len(words) != want {
		return nil, fmt.Errorf("a set of %d rows has %d words, not %d", rows, want, len(words))
	}
	if rest := rows % 64; rest != 0 && words[len(words)-1]>>rest != 0 {
		return nil, fmt.Errorf("a set of %d rows holds rows beyond them", rows)
	}
	return &IDSet{words: words, rows: rows}, nil
}

// And is the set of the ids that both have, which must be sets of the same index.
func (s *IDSet) And(t *IDSet) (*IDSet, error) {
	if s.rows != t.rows {
		return nil, fmt.Errorf("one set is of an index of %d rows, the other of %d", s.rows, t.rows)
	}
	both := NewIDSet(s.rows)
	for i, w := range s.words {
		both.words[i] = w & t.words[i]
	}
	return both, nil
}

// Add puts id into the set. An id that is no row of the index is left out.
func (s *IDSet) Add(id int64) {
	if id >= 0 && id < int64(s.rows) {
		s.words[id/64] |= 1 << (id % 64)
	}
}

// Has says whether id is in the set.
func (s *IDSet) Has(id int64) bool {
	return id >= 0 && id < int64(s.rows) && s.words[id/64]>>(id%64)&1 == 1
}

// Rows is how many rows the index has.
func (s *IDSet) Rows() int { return s.rows }

// Len is how many ids are in the set.
func (s *IDSet) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Words is the set as bits: id i is bit i%64 of word i/64. In memory this is the bitmap that libraries in C take, byte by
// byte, on every machine that this builds for. It is shared and must not be written to.
func (s *IDSet) Words() []uint64 { return s.words }

// Each calls yield with the ids in ascending order until it returns false.
func (s *IDSet) Each(yield func(id int64) bool) {
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			if !yield(int64(i*64 + bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}
