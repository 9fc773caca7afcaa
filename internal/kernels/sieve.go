package kernels

import (
	"math"
	"math/bits"
)

// The sieve compares queries and rows of which each value is rounded to a byte, with a step that is common to a vector.
// It multiplies and adds four times as many values at once as float32 does, and tells of most pairs that they cannot
// reach the limit. How much rounding can hide is known of each row and each query; package knn has the formula.

// sieveKernels are those of the sieve. A variant that has none for its instruction set compares in float32 at once.
type sieveKernels struct {
	// As ByteTile.Pack: the sum of the squares of what rounding takes from the values, and the sum of the bytes.
	round func(dst []int8, row []float32, inverse, step float32) (square float32, sum int32)
	// As Sifted.Sieve; it returns how many hits there are.
	sieve func(p *BytePanel, t *ByteTile, limits []float32, hits []hit) int
	// As Sifted.Rescore, likewise. There are hits.
	rescore func(p *BytePanel, t *ByteTile, limits []float32, out *Sifted) int
}

func portableSieve() *sieveKernels { return &sieveKernels{round, sieve, rescore} }

// HasSieve reports whether the variant in use has kernels that make Sieve faster than Sift. Without them it works, and is
// slower.
func HasSieve() bool { return active.sieve != nil }

// sieveOf is the kernels of the variant, or the portable ones.
func sieveOf(v *variant) *sieveKernels {
	if v.sieve != nil {
		return v.sieve
	}
	return portableSieve()
}

const (
	// byteMax is the largest magnitude of a rounded value.
	byteMax = 127
	// byteBias makes the values of a query unsigned, as VNNI wants them.
	byteBias = 128
	// MaxSieveDim is the largest dimension whose products fit 32 bits, bias and all.
	MaxSieveDim = math.MaxInt32 / (byteMax * (byteMax + byteBias)) &^ 3
)

// QueryTerms is what is known of a rounded query: the factor between the sum of products of bytes and the product of
// the vectors, and upper bounds of the norm of the rounded query and of what was lost. None of them is negative.
type QueryTerms struct{ Scale, Norm, Lost float32 }

// RowTerms is what is known of a rounded row: what is added to its scores, and upper bounds of the norm of what was lost
// and of the norm of the row. Lost and Norm are not negative.
type RowTerms struct{ Offset, Lost, Norm float32 }

// BytePanel is the queries of a panel rounded to bytes: the first four values of all, then the second four.
type BytePanel struct {
	shape  Shape
	dim    int
	values []uint8
	terms  []float32 // Scale of each, then Norm of each, then Lost of each
	exact  []float32 // the queries themselves, one after the other
}

// NewBytePanel is a panel of zeros.
func NewBytePanel(dim int) *BytePanel { return newBytePanel(&active, dim) }

func newBytePanel(v *variant, dim int) *BytePanel {
	return &BytePanel{
		shape: v.tile, dim: dim, values: make([]uint8, v.tile.Queries*4*quads(dim)),
		terms: make([]float32, 3*v.tile.Queries), exact: make([]float32, dim*v.tile.Queries),
	}
}

// quads is how many fours of values a vector has, with zeros at the end.
func quads(dim int) int { return (dim + 3) / 4 }

// BytePanelBytes is what a BytePanel holds of each query.
func BytePanelBytes(dim int) int { return 4*quads(dim) + 3*4 + 4*dim }

// Set makes query the j-th of the panel, and rounded what it is in units of a step, each value between -127 and 127.
func (p *BytePanel) Set(j int, query []float32, rounded []int8, terms QueryTerms) {
	copy(p.exact[j*p.dim:(j+1)*p.dim], query)
	for i, v := range rounded[:p.dim] {
		p.values[4*(i/4*p.shape.Queries+j)+i%4] = uint8(int(v) + byteBias)
	}
	n := p.shape.Queries
	p.terms[j], p.terms[n+j], p.terms[2*n+j] = terms.Scale, terms.Norm, terms.Lost
}

// ByteTile is the rows of a Tile rounded to bytes.
type ByteTile struct {
	kernels *sieveKernels
	tile    *Tile
	stride  int
	values  []int8
	// terms is, of each group of rows, the sums that a query without products would have, then offsets, Lost and Norm of
	// its rows, and the largest Lost and Norm: integers, and the bits of float32.
	terms []uint32
}

// NewByteTile is room for the rows of t.
func NewByteTile(t *Tile) *ByteTile {
	stride := byteStride(t.dim)
	return &ByteTile{
		kernels: sieveOf(t.kernels), tile: t, stride: stride,
		values: make([]int8, t.Cap()*stride), terms: make([]uint32, groupTerms(t.kernels.tile)*t.Cap()/t.kernels.tile.Rows),
	}
}

// byteStride is an odd number of cache lines, as tileStride.
func byteStride(dim int) int { return ((dim+63)/64 | 1) * 64 }

func groupTerms(s Shape) int { return 4*s.Rows + 2 }

// ByteTileBytes is what a ByteTile holds that goes with a Tile of this size.
func ByteTileBytes(size, dim int) int {
	groups := tileGroups(&active, size, dim)
	return groups * (active.tile.Rows*byteStride(dim) + 4*groupTerms(active.tile))
}

// Pack rounds the i-th row of the tile to multiples of step, a finite and normal number, of at most 127 steps. It
// returns the sum of the squares of what that takes from the values, which is within dim+2 roundings of float32 of the
// exact one but for squares too small for float32. It is not finite where the row is not.
func (t *ByteTile) Pack(i int, step float32) (square float32) {
	row := t.tile.Row(i)
	square, sum := t.kernels.round(t.values[i*t.stride:][:len(row)], row, 1/step, step)
	*t.term(i, 0) = uint32(-byteBias * sum)
	return square
}

// Round rounds values as ByteTile.Pack does.
func Round(dst []int8, values []float32, step float32) (square float32) {
	square, _ = sieveOf(&active).round(dst[:len(values)], values, 1/step, step)
	return square
}

// SetTerms says what is known of the i-th row.
func (t *ByteTile) SetTerms(i int, terms RowTerms) {
	*t.term(i, 1), *t.term(i, 2), *t.term(i, 3) = math.Float32bits(terms.Offset), math.Float32bits(terms.Lost), math.Float32bits(terms.Norm)
}

// term is the place of one of the terms of the i-th row.
func (t *ByteTile) term(i, term int) *uint32 {
	shape := t.tile.kernels.tile
	return &t.terms[i/shape.Rows*groupTerms(shape)+term*shape.Rows+i%shape.Rows]
}

// SetRows says how many rows were packed, as many as in the Tile.
func (t *ByteTile) SetRows(n int) {
	shape := t.tile.kernels.tile
	for ; n%shape.Rows != 0; n++ {
		t.SetTerms(n, RowTerms{Offset: float32(math.Inf(-1))})
	}
	for at := 0; at < n/shape.Rows*groupTerms(shape); at += groupTerms(shape) {
		group := t.terms[at:][:groupTerms(shape)]
		for term := range 2 {
			var largest uint32 // what is not negative is ordered as its bits are
			for _, v := range group[(2+term)*shape.Rows:][:shape.Rows] {
				largest = max(largest, v)
			}
			group[4*shape.Rows+term] = largest
		}
	}
}

// Sieve marks the pairs of which
//
//	Scale*sum + Offset >= limit - Norm(query)*Lost(row) - Lost(query)*Norm(row),
//
// where sum is that of the products of bytes, computed in float32: the sum is rounded once, the left side once more, the
// right side twice. It returns how many pairs there are. The scores are for Rescore to compute, which must follow.
func (s *Sifted) Sieve(p *BytePanel, t *ByteTile, limits []float32) (pairs int) {
	s.n = 0
	if t.tile.groups > 0 {
		s.n = t.kernels.sieve(p, t, limits[:s.shape.Queries], s.hits)
	}
	for _, hit := range s.hits[:s.n] {
		pairs += bits.OnesCount32(hit.mask)
	}
	return pairs
}

// Rescore computes the scores of the pairs that Sieve marked, as Sift does but in another order of the sums, and leaves
// out those that are less than their limits.
func (s *Sifted) Rescore(p *BytePanel, t *ByteTile, limits []float32) {
	if s.n > 0 {
		s.n = t.kernels.rescore(p, t, limits[:s.shape.Queries], s)
	}
}

func round(dst []int8, row []float32, inverse, step float32) (square float32, sum int32) {
	for i, v := range row {
		rounded := math.RoundToEven(min(max(float64(v*inverse), -byteMax), byteMax))
		if rounded != rounded {
			rounded = byteMax
		}
		lost := float32(float64(v) - float64(step)*rounded)
		dst[i] = int8(rounded)
		square, sum = square+lost*lost, sum+int32(rounded)
	}
	return square, sum
}

func sieve(p *BytePanel, t *ByteTile, limits []float32, hits []hit) int {
	shape, n := p.shape, 0
	for row := range t.tile.groups * shape.Rows {
		values := t.values[row*t.stride:][:p.dim]
		offset, lost, norm := math.Float32frombits(*t.term(row, 1)), math.Float32frombits(*t.term(row, 2)), math.Float32frombits(*t.term(row, 3))
		var mask uint32
		for j := range shape.Queries {
			sum := int32(*t.term(row, 0))
			for i, v := range values {
				sum += int32(v) * int32(p.values[4*(i/4*shape.Queries+j)+i%4])
			}
			score := float32(sum)*p.terms[j] + offset
			limit := limits[j] - float32(p.terms[shape.Queries+j]*lost) - float32(p.terms[2*shape.Queries+j]*norm)
			if !(score < limit) {
				mask |= 1 << j
			}
		}
		if mask != 0 {
			hits[n] = hit{uint32(row), mask}
			n++
		}
	}
	return n
}

func rescore(p *BytePanel, t *ByteTile, limits []float32, out *Sifted) int {
	kept := 0
	for _, h := range out.hits[:out.n] {
		row, offset := t.tile.Row(int(h.row)), t.tile.offsets[h.row]
		scores := out.scores[kept*len(limits):][:len(limits)]
		left := h.mask
		for mask := h.mask; mask != 0; mask &= mask - 1 {
			j := bits.TrailingZeros32(mask)
			scores[j] = t.tile.kernels.dot(row, p.exact[j*p.dim:][:p.dim]) + offset
			if scores[j] < limits[j] {
				left &^= 1 << j
			}
		}
		if left != 0 {
			out.hits[kept] = hit{h.row, left}
			kept++
		}
	}
	return kept
}
