package knn

import (
	"math"

	"frontier/internal/kernels"
	"frontier/internal/vector"
)

// space is how rows and queries are moved and scaled before they are compared, so that neither a common offset nor the
// size of the values costs accuracy, and how scores and distances relate.
//
// A row b becomes b' = (b-mean)*scale, a query q' likewise, where scale is a power of two; mean is any vector, but the
// bounds are narrow where it is near the mean of the rows. The score of a row is larger where it is nearer:
//
//	L2      x = (|q'|^2 - scale^2*D)/2, which is q'b' - |b'|^2/2 in exact arithmetic. D is the squared distance.
//	IP      x = -scale*power*(D + q*mean), which is q'b' where q' = q*power is not moved. D is the negated product.
//	Cosine  x = |q'|*(1-D), which is q'b' where b' = b/|b| and q' = q*power. D is one minus the cosine.
//
// power is a power of two that brings the norm of a query below 2. What a kernel computes is q'b' plus an offset of the
// row, and the offset is chosen so that the result v is never below x but for what depends on the query alone:
//
//	v + q.slack >= x >= v - slack(row) - q.slack.
//
// The bounds follow from the usual ones (Higham, Accuracy and Stability of Numerical Algorithms, sections 2.2 and 3.1).
// With u = 2^-24 and gamma(n) = n*u/(1-n*u), a sum of d products is within gamma(d) of the sum of their magnitudes, in
// any order, with or without fused multiply-adds; that sum is at most |q'||b'|, and for L2 that is at most half of
// |q'|^2 + |b'|^2. The parts for L2, as multiples of |b'|^2 and of |q'|^2:
//
//	the product                         gamma(d)/2           gamma(d)/2
//	|b'|^2/2, itself summed in float32  gamma(d)/2           -
//	moving: each value is rounded once  2.1u                 2.1u
//	adding, rounding and subtracting the offset  3.1u        1.1u
//	r roundings of the Ranker           r*u                  r*u
//
// For moving: the difference of the rounded vectors is within u(|q'|+|b'|) of the exact one, so its square is within
// 2u(|q'|+|b'|)^2, which is at most 4u(|q'|^2+|b'|^2), and half of this counts. So g = gamma(d+16+2r) times |b'|^2 bounds
// the part of the row, and g/2 times |q'|^2 that of the query. For IP, with |q'| < 2, the parts add up to less than
// 2g|b'|; for Cosine, where the norm of the row is of float32 too, to less than 3g. The sum of squares that stands for
// |b'|^2 may be too small by the factor 1-g, which 1+4g makes good for g < 1/8. The roundings of float64 in distances,
// limits and bounds are below 2^-20 of these for any dimension that passes this test, and covered by the 16, except
// where the mean is far longer than the rows are from it: for IP the query's part bounds those. absolute bounds what
// products and moved values too small for float32 lose, lost what the Ranker's distances lose in this way.
//
// Rows and queries whose squares leave the range of float32 have no bound: all their scores are handed on.
type space struct {
	metric    vector.Metric
	mean      []float32
	meanNorm  float64 // scaled
	scale     float32
	g         float64 // 0 where there is no bound at all
	rank      float64 // of the Ranker
	absolute  float64
	lost      float64 // what the Ranker's distances lose to underflow, if they are of float32
	dimension float64
	step      float32 // of the sieve

	moved bool
	sum   []float64 // of a sample
}

const (
	unit = 0x1p-24
	// maxSquare is the largest squared norm of moved and scaled vectors that have bounds: no partial sum of products of
	// two of them leaves the range of float32.
	maxSquare = 0x1p100
	// Norms of rows between these have an inverse in float32 that is as accurate as others. Their squares may not.
	minNorm, maxNorm = 0x1p-120, 0x1p120
	// sampleRows is how many rows the mean and the scale are taken from.
	sampleRows = 256
)

func newSpace(m vector.Metric, dim, roundings int) *space {
	d, r := float64(dim), float64(roundings)
	sp := &space{
		metric: m, mean: make([]float32, dim), scale: 1, sum: make([]float64, dim),
		rank: r * unit, absolute: (d + 16) * 0x1p-145, dimension: d,
	}
	if roundings > 0 {
		sp.lost = (d + 16) * 0x1p-147
	}
	if du := (d + 16 + 2*r) * unit; du < 0.1 {
		sp.g = du / (1 - du)
	}
	return sp
}

// moveTo takes the mean of a sample of rows, and a scale that brings the largest value of the sample near 1, unless what
// it has is about as good. It reports whether anything changed. Cosine needs neither.
func (sp *space) moveTo(rows *vector.Matrix) bool {
	if sp.metric == vector.Cosine {
		return false
	}
	if sp.moved {
		if size := sp.largest(rows) * float64(sp.scale); size > 1.0/4 && size < 4 {
			return false
		}
	}
	n := min(rows.Len(), sampleRows)
	clear(sp.sum)
	for i := range n {
		for j, v := range rows.Row(i * rows.Len() / n) {
			sp.sum[j] += float64(v)
		}
	}
	for j, v := range sp.sum {
		sp.mean[j] = float32(v / float64(n))
	}
	sp.scale = power(sp.largest(rows))
	sp.meanNorm = kernels.Norm(sp.mean) * float64(sp.scale)
	sp.moved = true
	return true
}

// largest is the largest magnitude among the values of a sample of rows, moved but not scaled.
func (sp *space) largest(rows *vector.Matrix) float64 {
	n := min(rows.Len(), sampleRows)
	var largest float64
	for i := range n {
		for j, v := range rows.Row(i * rows.Len() / n) {
			largest = max(largest, math.Abs(float64(v)-float64(sp.mean[j])))
		}
	}
	return largest
}

// power is the power of two that brings size into [1, 2), as far as such powers, and those of their inverses, are exact
// in float32.
func power(size float64) float32 {
	if size == 0 || math.IsInf(size, 0) || math.IsNaN(size) {
		return 1
	}
	return float32(math.Ldexp(1, max(-120, min(-math.Ilogb(size), 120))))
}

// query prepares q, and writes the moved and scaled query to dst.
func (sp *space) query(q *query, dst, values []float32) {
	if sp.metric == vector.L2 {
		kernels.Pack(dst, values, sp.mean, sp.scale)
		square := kernels.Dot64(dst, dst)
		scale := float64(sp.scale)
		q.origin, q.factor, q.slack = square/2, scale*scale/2, sp.g/2*square+sp.absolute+sp.lost*scale*scale/2
		if sp.g == 0 || !(square < maxSquare) {
			q.slack = math.Inf(1)
		}
		return
	}
	size := kernels.Norm(values)
	q.zero = size == 0
	scale := power(size)
	for i, v := range values {
		dst[i] = v * scale
	}
	norm := kernels.Norm(dst)
	if sp.metric == vector.Cosine {
		q.origin, q.factor, q.slack = norm, norm, sp.absolute
	} else {
		both := float64(scale) * float64(sp.scale)
		q.origin, q.factor = -both*kernels.Dot64(values, sp.mean), both
		q.slack = (sp.rank+(sp.dimension+8)*0x1p-50)*norm*sp.meanNorm + sp.absolute
	}
	q.slack += sp.lost * q.factor
	if sp.g == 0 || !(norm < 2) {
		q.slack = math.Inf(1)
	}
}

// limit is what the score of a row must reach, so that its distance can be worst or less.
func (sp *space) limit(q *query, worst float64) float32 {
	if math.IsInf(worst, 1) || math.IsInf(q.slack, 1) {
		return float32(math.Inf(-1))
	}
	return roundDown(q.origin - q.factor*worst - q.slack)
}

// row packs values as the i-th row of t, and returns its offset and slack, which are +Inf where it has no bound, and the
// square of its norm.
func (sp *space) row(t *kernels.Tile, i int, values []float32) (offset, slack, square32 float32) {
	scale := sp.scale
	if sp.metric == vector.Cosine {
		norm := math.Sqrt(float64(kernels.Dot(values, values)))
		if !(norm > 0x1p-40 && norm < 0x1p40) {
			norm = kernels.Norm(values)
		}
		switch {
		case norm == 0:
			scale = 0
		case norm >= minNorm && norm <= maxNorm:
			scale = float32(1 / norm)
		default:
			scale = float32(math.NaN())
		}
	}
	square32 = t.Pack(i, values, sp.mean, scale)
	square := float64(square32)
	if sp.g == 0 || !(square < maxSquare) {
		return float32(math.Inf(1)), float32(math.Inf(1)), square32
	}
	wide := sp.g * (1 + 4*sp.g)
	var bound, start float64
	switch sp.metric {
	case vector.L2:
		bound, start = wide*square+sp.absolute, -square/2
	case vector.IP:
		// The square of a short row may have vanished where the row has not.
		bound = 2*wide*math.Sqrt(square+sp.dimension*0x1p-147) + sp.absolute
	default:
		bound = 3*wide + sp.absolute
	}
	return roundUp(start + bound), roundUp(2 * bound), square32
}

func roundDown(v float64) float32 { return -roundUp(-v) }

// roundUp is the smallest value of float32 that is not less than v. Whether float32(v) is that is a matter of chance, so
// the step to the next value is made without a branch.
func roundUp(v float64) float32 {
	f := float32(v)
	if f < -math.MaxFloat32 && v > math.Inf(-1) {
		return -math.MaxFloat32
	}
	if f > math.MaxFloat32 || f < -math.MaxFloat32 {
		return f
	}
	less := int32(math.Float64bits(float64(f)-v) >> 63)
	bits := int32(math.Float32bits(f))
	return math.Float32frombits(uint32(bits + less*(bits>>31|1)))
}
