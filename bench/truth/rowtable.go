package truth

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"frontier/internal/vector"
)

// rowTable remembers the first row of each hash. When it is full it goes on with half of all hashes, chosen by their
// trailing zeros, so that all rows of equal values stay or go together and the share of repeats remains a fair estimate.
type rowTable struct {
	entries []rowEntry // open addressing by the leading bits; a hash of 0 is free
	used    int
	shift   int     // only hashes with at least so many trailing zeros are remembered
	again   [65]int // repeats, by the trailing zeros of their hash
}

type rowEntry struct {
	hash uint64
	row  int
}

// newRowTable makes a table that holds rows rows, or as many as limit entries allow.
func newRowTable(rows, limit int) *rowTable {
	enough := bits.Len(uint(rows) + uint(rows)/2) // the power of two above 3/2 x rows
	return &rowTable{entries: make([]rowEntry, 1<<max(min(enough, bits.Len(uint(limit))-1), 3))}
}

// add remembers a row, or says which earlier one has its hash.
func (t *rowTable) add(hash uint64, row int) (earlier int, again bool) {
	zeros := bits.TrailingZeros64(hash)
	if zeros < t.shift {
		return 0, false
	}
	if hash == 0 {
		hash = 1 << 63
	}
	at := t.slot(hash)
	if t.entries[at].hash == hash {
		t.again[zeros]++
		return t.entries[at].row, true
	}
	t.entries[at] = rowEntry{hash, row}
	if t.used++; t.used > len(t.entries)/4*3 {
		t.thin()
	}
	return 0, false
}

// slot is where hash is, or would be.
func (t *rowTable) slot(hash uint64) int {
	mask := len(t.entries) - 1
	at := int(hash >> (64 - bits.Len(uint(mask))))
	for t.entries[at].hash != 0 && t.entries[at].hash != hash {
		at = (at + 1) & mask
	}
	return at
}

// thin forgets about half of the rows.
func (t *rowTable) thin() {
	old := t.entries
	t.entries, t.used = make([]rowEntry, len(old)), 0
	t.shift++
	for _, e := range old {
		if e.hash != 0 && bits.TrailingZeros64(e.hash) >= t.shift {
			t.entries[t.slot(e.hash)] = e
			t.used++
		}
	}
}

// repeats is how many rows had the hash of an earlier one, among one in share of all hashes.
func (t *rowTable) repeats() (n, share int) {
	for zeros := t.shift; zeros < len(t.again); zeros++ {
		n += t.again[zeros]
	}
	return n, 1 << t.shift
}

// querySet finds queries by their hashes.
type querySet struct {
	queries *vector.Matrix
	byHash  []rowEntry // sorted by hash, then query
	maybe   []uint64   // one bit for some of the leading bits of a hash: most rows equal no query
}

// querySetBytes is what a querySet takes for a query.
const querySetBytes = 20

func newQuerySet(queries *vector.Matrix) *querySet {
	s := &querySet{queries: queries, byHash: make([]rowEntry, queries.Len()), maybe: make([]uint64, 1<<bits.Len(uint(queries.Len()/4)))}
	for q := range s.byHash {
		hash, _ := hashRow(queries.Row(q))
		s.byHash[q] = rowEntry{hash, q}
		word, bit := s.bit(hash)
		s.maybe[word] |= bit
	}
	slices.SortFunc(s.byHash, func(a, b rowEntry) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.row, b.row)) })
	return s
}

func (s *querySet) bit(hash uint64) (word int, bit uint64) {
	return int(hash>>6) & (len(s.maybe) - 1), 1 << (hash & 63)
}

// find is the first query that equals row, if one does.
func (s *querySet) find(hash uint64, row []float32) (query int, equal bool) {
	if word, bit := s.bit(hash); s.maybe[word]&bit == 0 {
		return 0, false
	}
	at, _ := slices.BinarySearchFunc(s.byHash, hash, func(e rowEntry, h uint64) int { return cmp.Compare(e.hash, h) })
	for ; at < len(s.byHash) && s.byHash[at].hash == hash; at++ {
		if slices.Equal(s.queries.Row(s.byHash[at].row), row) {
			return s.byHash[at].row, true
		}
	}
	return 0, false
}

// float32bits is the bits of v; those of 0 for -0, which equals it.
func float32bits(v float32) uint32 { return math.Float32bits(v + 0) }
