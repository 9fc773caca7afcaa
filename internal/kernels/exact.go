package kernels

// Dot64 is the inner product of a and b, which have the same length, in float64. It has the same bits on every
// architecture: the products of float32 are exact there, and four sums run side by side, one for each fourth value;
// what is left at the end goes into the first.
func Dot64(a, b []float32) float64 {
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

// SquaredL264 is the squared Euclidean distance of a and b, which have the same length, in float64, with the sums of
// Dot64 and the same bits on every architecture. The explicit conversions forbid fused multiply-adds.
func SquaredL264(a, b []float32) float64 {
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

// Dot64Four is the inner products of the query and four rows of the same length, with the bits of Dot64, in less time
// than four calls of it take.
func Dot64Four(query []float32, rows [4][]float32) [4]float64 {
	return four(active.dot64Four, Dot64, query, rows)
}

// SquaredL264Four is Dot64Four for squared Euclidean distances.
func SquaredL264Four(query []float32, rows [4][]float32) [4]float64 {
	return four(active.squaredL264Four, SquaredL264, query, rows)
}

// Square64Four is the inner products of four rows of the same length with themselves, with the bits of Dot64.
func Square64Four(rows [4][]float32) [4]float64 {
	return four(active.square64Four, square64, rows[0], rows)
}

func square64(_, row []float32) float64 { return Dot64(row, row) }

// fourKernel compares a query with four rows. All is passed by value, so that nothing has to be allocated.
type fourKernel func(query []float32, rows [4][]float32) [4]float64

func four(kernel fourKernel, one func(a, b []float32) float64, query []float32, rows [4][]float32) (d [4]float64) {
	if kernel == nil {
		for i, row := range rows {
			d[i] = one(query, row)
		}
		return d
	}
	for i := range rows {
		rows[i] = rows[i][:len(query)]
	}
	return kernel(query, rows)
}
