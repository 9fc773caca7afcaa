package kernels

func portable() variant {
	return variant{
		name: "portable", dot: dot, squaredL2: squaredL2,
		dotRows:       eachRow(dot),
		squaredL2Rows: eachRow(squaredL2),
		pack:          pack,
		tile:          Shape{Rows: 2, Queries: 4},
		sift:          sift,
		dotUint8:      func(a, b []byte) int32 { return sumProducts(a, b, unsignedByte) },
		dotInt8:       func(a, b []byte) int32 { return sumProducts(a, b, signedByte) },
		squaredL2Uint8: func(a, b []byte) int32 {
			return sumSquares(a, b, unsignedByte)
		},
		squaredL2Int8: func(a, b []byte) int32 { return sumSquares(a, b, signedByte) },
	}
}

func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func squaredL2(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		d0, d1, d2, d3 := a[i]-b[i], a[i+1]-b[i+1], a[i+2]-b[i+2], a[i+3]-b[i+3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
	}
	for ; i < len(a); i++ {
		d := a[i] - b[i]
		s0 += d * d
	}
	return (s0 + s1) + (s2 + s3)
}

func eachRow(kernel func(a, b []float32) float32) func(dst, query, rows []float32) {
	return func(dst, query, rows []float32) {
		for i := range dst {
			dst[i] = kernel(query, rows[i*len(query):(i+1)*len(query)])
		}
	}
}

func pack(dst, row, mean []float32, scale float32) float32 {
	dst, mean = dst[:len(row)], mean[:len(row)]
	var s0, s1 float32
	for i, v := range row {
		v = (v - mean[i]) * scale
		dst[i] = v
		s0, s1 = s1, s0+v*v
	}
	return s0 + s1
}

// sift takes rows one by one, with the four queries of the panel side by side: four chains of additions hide the
// latency of each other.
func sift(p *Panel, t *Tile, limits []float32, out *Sifted) int {
	limits = limits[:4]
	hits := 0
	for at := range 2 * t.groups {
		row, panel := t.values[at*t.stride:at*t.stride+p.dim], p.values
		var s0, s1, s2, s3 float32
		for _, v := range row {
			q := panel[:4]
			s0 += q[0] * v
			s1 += q[1] * v
			s2 += q[2] * v
			s3 += q[3] * v
			panel = panel[4:]
		}
		scores := out.scores[4*hits:][:4]
		offset := t.offsets[at]
		scores[0], scores[1], scores[2], scores[3] = s0+offset, s1+offset, s2+offset, s3+offset
		var mask uint32
		for j, score := range scores {
			if !(score < limits[j]) {
				mask |= 1 << j
			}
		}
		if mask != 0 {
			out.hits[hits] = hit{uint32(at), mask}
			hits++
		}
	}
	return hits
}

func unsignedByte(v byte) int32 { return int32(v) }
func signedByte(v byte) int32   { return int32(int8(v)) }

func sumProducts(a, b []byte, value func(byte) int32) (sum int32) {
	for i, v := range a {
		sum += value(v) * value(b[i])
	}
	return sum
}

func sumSquares(a, b []byte, value func(byte) int32) (sum int32) {
	for i, v := range a {
		d := value(v) - value(b[i])
		sum += d * d
	}
	return sum
}
