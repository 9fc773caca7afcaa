package knn

import (
	"math"
	"slices"

	"frontier/internal/kernels"
	"frontier/internal/vector"
)

// The sieve refuses most pairs of a row and a query before their score is computed in float32, by what is left of both
// when each value is rounded to a byte. The moved and scaled row b' becomes b^ = step*z with integers z between -127 and
// 127, and the query q' likewise becomes q^, with a step of its own. Then, by the inequality of Cauchy and Schwarz,
//
//	q'b' = q^b^ + q^(b'-b^) + (q'-q^)b' <= q^b^ + |q^||b'-b^| + |q'-q^||b'|.
//
// The sums of the integers are exact. A pair is refused if this, plus the offset that the score has (see space), is below
// the limit: then the score without roundings is, which is what the limit is for. How much rounding takes off a vector
// is known when it was rounded, so a value beyond 127 steps costs tightness, not correctness.
//
// What the kernel itself rounds, with u = 2^-24: the sum and the factor 2u|q^||b^| or less, their sum with the offset o
// u(|q^||b^|+|o|), and the two differences that are taken off the limit l, 2u(|l| + |q^||b'-b^| + |q'-q^||b'|). Where |l|
// is more than twice M = |q^||b^|+|o|+|q^||b'-b^|+|q'-q^||b'|, no rounding changes the result. Otherwise all this is below
// 8uM, and each part of M is enlarged by 16u, that of |q^||b^| through the error of the row.
const sieveRoundings = 16 * unit

// The sieve is worth its while only where few pairs pass: the score of each is then computed on its own.
const (
	// maxPause is how many tiles a panel goes without the sieve, at most, after it let through too much.
	maxPause = 63
	// minSieveDim is the dimension from which fewer multiplications outweigh what the sieve adds.
	minSieveDim = 32
	// stepRows is how many rows the step is chosen from. One in stepOutliers of them may be rounded badly.
	stepRows, stepOutliers = 256, 32
	// steps are tried, each smaller by the square root of 2.
	steps = 12
)

// passing is the share of pairs up to which computing their scores one by one is faster than computing all. As measured
// with AVX-512: 5% at 32 dimensions, 16% at 128, 24% at 768.
func passing(dim int) float64 { return float64(dim) / float64(4*(dim+128)) }

// sieveAfter is how many rows must have been seen before limits are so good that fewer pairs pass: of the rows that come
// next about k in as many as were seen are candidates, and the sieve lets through two to four times as many.
func sieveAfter(dim, k int) int { return int(4 * float64(k) / passing(dim)) }

// sieving is how a panel of queries gets on with the sieve.
type sieving struct {
	pause int // tiles to come without it
	next  int // the next pause
}

// due reports whether the sieve should be used for the next tile.
func (s *sieving) due() bool {
	if s.pause == 0 {
		return true
	}
	s.pause--
	return false
}

// done takes note of whether the sieve was worth its while. Pauses get longer until it is.
func (s *sieving) done(worth bool) {
	if worth {
		*s = sieving{}
		return
	}
	s.pause, s.next = s.next, min(2*s.next+1, maxPause)
}

// chooseStep sets the step of the rows to the one that leaves the least of them, from a sample. Rows that differ far more
// than others do are left out of account; their errors are large whatever the step.
func (s *Search) chooseStep(w *worker, rows *vector.Matrix) {
	const usual = 1. / 64 // where no row has a bound, or all are zero
	n := min(rows.Len(), stepRows, w.tile.Cap())
	var largest float32
	for i := range n {
		s.space.row(w.tile, i, rows.Row(i*rows.Len()/n))
		for _, v := range w.tile.Row(i) {
			if v = float32(math.Abs(float64(v))); v <= math.MaxFloat32 {
				largest = max(largest, v)
			}
		}
	}
	s.space.step = usual
	if !(largest > 0x1p-20 && largest < 0x1p20) {
		return
	}
	least := math.Inf(1)
	lost := make([]float64, n)
	for i := range steps {
		step := float32(float64(largest) / 127 * math.Pow(2, -float64(i)/2))
		for j := range lost {
			lost[j] = float64(kernels.Round(w.rounded, w.tile.Row(j), step))
			if math.IsNaN(lost[j]) {
				lost[j] = math.Inf(1)
			}
		}
		slices.Sort(lost)
		if typical := lost[n-1-n/stepOutliers]; typical < least {
			least, s.space.step = typical, step
		}
	}
}

// roundRows rounds the n rows of the worker's tile.
func (s *Search) roundRows(w *worker, n int) {
	for i := range n {
		lost := w.bytes.Pack(i, s.space.step)
		w.bytes.SetTerms(i, s.space.rowTerms(w.offsets[i], w.squares[i], lost))
	}
	w.bytes.SetRows(n)
	w.isRounded = true
}

// norm is an upper bound of the norm of a vector whose squares add up to square in float32.
func (sp *space) norm(square float32) float64 {
	return math.Sqrt((1 + 4*sp.g) * (float64(square) + sp.dimension*0x1p-147))
}

// rowTerms is what the sieve must know of a row: offset and square are its offset and its squared norm, lost the squares
// of what rounding took.
func (sp *space) rowTerms(offset, square, lost float32) kernels.RowTerms {
	if math.IsInf(float64(offset), 1) {
		return kernels.RowTerms{Offset: offset}
	}
	norm, less := sp.norm(square), sp.norm(lost)
	return kernels.RowTerms{
		Offset: roundUp(float64(offset) + sieveRoundings*math.Abs(float64(offset)) + 0x1p-140),
		Lost:   roundUp(less + sieveRoundings*(norm+2*less)),
		Norm:   roundUp(norm),
	}
}

// roundQuery rounds the moved and scaled query to dst, and returns what the sieve must know of it.
func (sp *space) roundQuery(q *query, dst []int8, scaled []float32) kernels.QueryTerms {
	var largest float32
	for _, v := range scaled {
		largest = max(largest, float32(math.Abs(float64(v))))
	}
	if math.IsInf(q.slack, 1) {
		clear(dst) // its limit is -Inf, and all rows reach it
		return kernels.QueryTerms{}
	}
	step := roundUp(float64(largest) / 127)
	if step < 0x1p-60 {
		clear(dst) // the factor would vanish
		return kernels.QueryTerms{Lost: roundUp((1 + sieveRoundings) * (kernels.Norm(scaled) + 0x1p-140))}
	}
	lost := sp.norm(kernels.Round(dst, scaled, step))
	return kernels.QueryTerms{
		Scale: step * sp.step,
		Norm:  roundUp(float64(step) * math.Sqrt(float64(kernels.DotInt8(dst, dst)))),
		Lost:  roundUp((1 + sieveRoundings) * lost),
	}
}
