package truth

import (
	"math"

	"frontier/internal/vector"
)

// Distance is the distance of a and b under m in float64 arithmetic, smaller is nearer: squared Euclidean, negated inner
// product, or one minus the cosine, which is kept within [0, 2]. The cosine distance to a vector of zeros is 1, as to
// an orthogonal one, so that such a vector is neither nearest nor furthest. Equal vectors under L2 and Cosine have
// distance exactly 0. The result has the same bits on every architecture. It is NaN for an unknown metric or vectors of
// different lengths.
func Distance(m vector.Metric, a, b []float32) float64 {
	if len(a) != len(b) {
		return math.NaN()
	}
	switch m {
	case vector.L2:
		return squaredL2(a, b)
	case vector.IP:
		return -dot(a, b)
	case vector.Cosine:
		return cosineDistance(dot(a, b), dot(a, a), dot(b, b))
	}
	return math.NaN()
}

// cosineDistance needs the inner product and both squared norms. The root of the product, and not the product of the
// roots, makes the distance of equal vectors exactly 0. No float32 input makes the product overflow or underflow.
func cosineDistance(ab, aa, bb float64) float64 {
	if aa == 0 || bb == 0 {
		return 1
	}
	return min(max(1-ab/math.Sqrt(aa*bb), 0), 2)
}

// dot is the inner product in float64. The product of two float32 is exact there, so a fused multiply-add, where the
// compiler uses one, gives the same bits.
func dot(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i]) * float64(b[i])
		s1 += float64(a[i+1]) * float64(b[i+1])
		s2 += float64(a[i+2]) * float64(b[i+2])
		s3 += float64(a[i+3]) * float64(b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i]) * float64(b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

// squaredL2 is the squared Euclidean distance in float64. The explicit conversions forbid fused multiply-adds.
func squaredL2(a, b []float32) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		d0 := float64(a[i]) - float64(b[i])
		d1 := float64(a[i+1]) - float64(b[i+1])
		d2 := float64(a[i+2]) - float64(b[i+2])
		d3 := float64(a[i+3]) - float64(b[i+3])
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
		s2 += float64(d2 * d2)
		s3 += float64(d3 * d3)
	}
	for ; i < len(a); i++ {
		d := float64(a[i]) - float64(b[i])
		s0 += float64(d * d)
	}
	return (s0 + s1) + (s2 + s3)
}
