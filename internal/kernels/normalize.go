package kernels

import "math"

// Normalize writes src scaled to unit length into dst, which has the same length and may be src, and returns the norm
// that src had. A vector of norm zero stays zero, so that its inner product with anything is 0. The norm is summed in
// float64, so it neither overflows nor vanishes for any finite float32.
func Normalize(dst, src []float32) float64 {
	norm := Norm(src)
	if norm == 0 {
		clear(dst[:len(src)])
		return 0
	}
	inverse := 1 / norm
	for i, v := range src {
		dst[i] = float32(float64(v) * inverse)
	}
	return norm
}

// Norm is the Euclidean length of v, summed in float64.
func Norm(v []float32) float64 { return math.Sqrt(Dot64(v, v)) }
