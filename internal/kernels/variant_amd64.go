package kernels

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// available is the variants that this machine has, slowest first.
func available() []variant {
	all := []variant{portable()}
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA || !cpu.X86.HasBMI2 {
		return all
	}
	all = append(all, avx2())
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL {
		all = append(all, avx512(cpu.X86.HasAVX512VNNI))
	}
	return all
}

func avx2() variant {
	return variant{
		name: "avx2",
		dot: func(a, b []float32) (sum float32) {
			dotRowsAVX2(&sum, unsafe.SliceData(a), unsafe.SliceData(b), len(a), 1)
			return sum
		},
		squaredL2: func(a, b []float32) (sum float32) {
			squaredL2RowsAVX2(&sum, unsafe.SliceData(a), unsafe.SliceData(b), len(a), 1)
			return sum
		},
		dotRows: func(dst, query, rows []float32) {
			dotRowsAVX2(unsafe.SliceData(dst), unsafe.SliceData(query), unsafe.SliceData(rows), len(query), len(dst))
		},
		squaredL2Rows: func(dst, query, rows []float32) {
			squaredL2RowsAVX2(unsafe.SliceData(dst), unsafe.SliceData(query), unsafe.SliceData(rows), len(query), len(dst))
		},
		dot64Four: func(query []float32, rows [4][]float32) (d [4]float64) {
			dot64FourAVX2(&d[0], unsafe.SliceData(query), unsafe.SliceData(rows[0]), unsafe.SliceData(rows[1]), unsafe.SliceData(rows[2]), unsafe.SliceData(rows[3]), len(query))
			return d
		},
		squaredL264Four: func(query []float32, rows [4][]float32) (d [4]float64) {
			squaredL264FourAVX2(&d[0], unsafe.SliceData(query), unsafe.SliceData(rows[0]), unsafe.SliceData(rows[1]), unsafe.SliceData(rows[2]), unsafe.SliceData(rows[3]), len(query))
			return d
		},
		square64Four: func(query []float32, rows [4][]float32) (d [4]float64) {
			square64FourAVX2(&d[0], unsafe.SliceData(query), unsafe.SliceData(rows[0]), unsafe.SliceData(rows[1]), unsafe.SliceData(rows[2]), unsafe.SliceData(rows[3]), len(query))
			return d
		},
		pack: func(dst, row, mean []float32, scale float32) float32 {
			return packAVX2(unsafe.SliceData(dst), unsafe.SliceData(row), unsafe.SliceData(mean), len(row), scale)
		},
		tile: Shape{Rows: 6, Queries: 16},
		sift: func(p *Panel, t *Tile, limits []float32, out *Sifted) int {
			return siftAVX2(&p.values[0], &t.values[0], 4*t.stride, p.dim, t.groups, &t.offsets[0], &limits[0],
				&out.scores[0], &out.hits[0].row)
		},
		dotUint8:       bytesKernel(dotUint8AVX2),
		squaredL2Uint8: bytesKernel(squaredL2Uint8AVX2),
		dotInt8:        bytesKernel(dotInt8AVX2),
		squaredL2Int8:  bytesKernel(squaredL2Int8AVX2),
	}
}

// avx512 sums bytes with VNNI where the machine has it, otherwise as avx2 does. Without it there is no sieve.
func avx512(vnni bool) variant {
	v := avx2()
	v.name = "avx512"
	v.dot = func(a, b []float32) (sum float32) {
		dotRowsAVX512(&sum, unsafe.SliceData(a), unsafe.SliceData(b), len(a), 1)
		return sum
	}
	v.squaredL2 = func(a, b []float32) (sum float32) {
		squaredL2RowsAVX512(&sum, unsafe.SliceData(a), unsafe.SliceData(b), len(a), 1)
		return sum
	}
	v.dotRows = func(dst, query, rows []float32) {
		dotRowsAVX512(unsafe.SliceData(dst), unsafe.SliceData(query), unsafe.SliceData(rows), len(query), len(dst))
	}
	v.squaredL2Rows = func(dst, query, rows []float32) {
		squaredL2RowsAVX512(unsafe.SliceData(dst), unsafe.SliceData(query), unsafe.SliceData(rows), len(query), len(dst))
	}
	v.pack = func(dst, row, mean []float32, scale float32) float32 {
		return packAVX512(unsafe.SliceData(dst), unsafe.SliceData(row), unsafe.SliceData(mean), len(row), scale)
	}
	v.tile = Shape{Rows: 12, Queries: 32}
	v.sift = func(p *Panel, t *Tile, limits []float32, out *Sifted) int {
		return siftAVX512(&p.values[0], &t.values[0], 4*t.stride, p.dim, t.groups, &t.offsets[0], &limits[0],
			&out.scores[0], &out.hits[0].row)
	}
	if vnni {
		v.dotUint8 = bytesKernel(dotUint8AVX512)
		v.squaredL2Uint8 = bytesKernel(squaredL2Uint8AVX512)
		v.dotInt8 = bytesKernel(dotInt8AVX512)
		v.squaredL2Int8 = bytesKernel(squaredL2Int8AVX512)
		v.sieve = &sieveKernels{
			round: func(dst []int8, row []float32, inverse, step float32) (square float32, sum int32) {
				return roundAVX512(unsafe.SliceData(dst), unsafe.SliceData(row), len(row), inverse, step)
			},
			sieve: func(p *BytePanel, t *ByteTile, limits []float32, hits []hit) int {
				return sieveAVX512(&p.values[0], &t.values[0], t.stride, quads(p.dim), t.tile.groups, &t.terms[0], &p.terms[0], &limits[0],
					&hits[0].row)
			},
			rescore: func(p *BytePanel, t *ByteTile, limits []float32, out *Sifted) int {
				return rescoreAVX512(&p.exact[0], &t.tile.values[0], 4*t.tile.stride, p.dim, &t.tile.offsets[0], &limits[0],
					&out.scores[0], &out.hits[0].row, out.n)
			},
		}
	}
	return v
}

func bytesKernel(kernel func(a, b *byte, n int) int32) func(a, b []byte) int32 {
	return func(a, b []byte) int32 { return kernel(unsafe.SliceData(a), unsafe.SliceData(b), len(a)) }
}
