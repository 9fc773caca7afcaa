package kernels

import "unsafe"

// available is the variants that this machine has, slowest first. All 64-bit ARM processors have NEON.
func available() []variant { return []variant{portable(), neon()} }

func neon() variant {
	v := portable()
	v.name = "neon"
	v.dot = func(a, b []float32) float32 {
		return dotNEON(unsafe.SliceData(a), unsafe.SliceData(b), len(a))
	}
	v.squaredL2 = func(a, b []float32) float32 {
		return squaredL2NEON(unsafe.SliceData(a), unsafe.SliceData(b), len(a))
	}
	v.dotRows, v.squaredL2Rows = eachRow(v.dot), eachRow(v.squaredL2)
	v.pack = func(dst, row, mean []float32, scale float32) float32 {
		return packNEON(unsafe.SliceData(dst), unsafe.SliceData(row), unsafe.SliceData(mean), len(row), scale)
	}
	v.tile = Shape{Rows: 8, Queries: 8}
	v.sift = func(p *Panel, t *Tile, limits []float32, out *Sifted) int {
		return siftNEON(&p.values[0], &t.values[0], 4*t.stride, p.dim, t.groups, &t.offsets[0], &limits[0],
			&out.scores[0], &out.hits[0].row)
	}
	v.dotUint8 = sixteens(dotUint8NEON, v.dotUint8)
	v.squaredL2Uint8 = sixteens(squaredL2Uint8NEON, v.squaredL2Uint8)
	v.dotInt8 = sixteens(dotInt8NEON, v.dotInt8)
	v.squaredL2Int8 = sixteens(squaredL2Int8NEON, v.squaredL2Int8)
	return v
}

// sixteens sums as many whole sixteens of bytes as there are with kernel, and what is left with rest.
func sixteens(kernel func(a, b *byte, n int) int32, rest func(a, b []byte) int32) func(a, b []byte) int32 {
	return func(a, b []byte) int32 {
		n := len(a) &^ 15
		return kernel(unsafe.SliceData(a), unsafe.SliceData(b), n) + rest(a[n:], b[n:])
	}
}
