package sweep

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
)

// zeroRows counts the rows of dim values that are zero.
func zeroRows(rows []float32, dim int) int {
	zero := 0
	for ; len(rows) >= dim; rows = rows[dim:] {
		if isZero(rows[:dim]) {
			zero++
		}
	}
	return zero
}

func isZero(row []float32) bool {
	for _, v := range row {
		if v != 0 {
			return false
		}
	}
	return true
}

// repeats counts rows that equal an earlier one, by a 64-bit hash: 8 bytes a row, and among a million different rows
// the chance of one false repeat is 3 in 100 million.
type repeats struct {
	seed   maphash.Seed
	hashes []uint64
	raw    []byte
}

func (r *repeats) add(rows []float32, dim int) {
	if r.hashes == nil {
		r.seed = maphash.MakeSeed()
	}
	for ; len(rows) >= dim; rows = rows[dim:] {
		r.raw = r.raw[:0]
		for _, v := range rows[:dim] {
			r.raw = binary.LittleEndian.AppendUint32(r.raw, math.Float32bits(v))
		}
		r.hashes = append(r.hashes, maphash.Bytes(r.seed, r.raw))
	}
}

func (r *repeats) count() int {
	slices.Sort(r.hashes)
	n := 0
	for i := 1; i < len(r.hashes); i++ {
		if r.hashes[i] == r.hashes[i-1] {
			n++
		}
	}
	return n
}
