package truth

import (
	"math"

	"frontier/internal/kernels"
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
		return kernels.SquaredL264(a, b)
	case vector.IP:
		return -kernels.Dot64(a, b)
	case vector.Cosine:
		return cosineDistance(kernels.Dot64(a, b), kernels.Dot64(a, a), kernels.Dot64(b, b))
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
