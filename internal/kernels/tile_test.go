package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// tileKernels names each tile kernel with the float64 sum that it approximates and the magnitude that bounds its error.
var tileKernels = []struct {
	name string
	tile func(dst, queries, rows []float32, dim int)
	term func(a, b float64) (value, magnitude float64)
}{
	{"dot", DotTile, func(a, b float64) (float64, float64) { return a * b, math.Abs(a * b) }},
	{"l2", SquaredL2Tile, func(a, b float64) (float64, float64) { return (a - b) * (a - b), (a - b) * (a - b) }},
}

func TestTileKernelsStayWithinTheirErrorBound(t *testing.T) {
	for _, kernel := range tileKernels {
		for _, dim := range []int{1, 2, 3, 4, 5, 15, 16, 17, 96, 128, 385} {
			for _, rows := range []int{0, 1, 2, 7} {
				t.Run(fmt.Sprintf("%s/dim=%d/rows=%d", kernel.name, dim, rows), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(dim), uint64(rows)))
					queries, base := normal(rng, TileQueries*dim, 1e4), normal(rng, rows*dim, 1e4)
					dst := make([]float32, rows*TileQueries+1)
					const untouched = 12345
					dst[len(dst)-1] = untouched
					kernel.tile(dst, queries, base, dim)
					if dst[len(dst)-1] != untouched {
						t.Fatal("wrote past the last row")
					}
					for r := range rows {
						for j := range TileQueries {
							var want, magnitude float64
							for i := range dim {
								v, m := kernel.term(float64(queries[j*dim+i]), float64(base[r*dim+i]))
								want += v
								magnitude += m
							}
							got := float64(dst[r*TileQueries+j])
							if bound := float64(dim+3) * 0x1p-24 * 1.001 * magnitude; math.Abs(got-want) > bound {
								t.Errorf("row %d query %d: %v, want %v within %v", r, j, got, want, bound)
							}
						}
					}
				})
			}
		}
	}
}

func BenchmarkTile(b *testing.B) {
	const dim, rows = 128, 256
	rng := rand.New(rand.NewPCG(1, 2))
	queries, base := normal(rng, TileQueries*dim, 0), normal(rng, rows*dim, 0)
	dst := make([]float32, rows*TileQueries)
	for _, kernel := range tileKernels {
		b.Run(kernel.name, func(b *testing.B) {
			for b.Loop() {
				kernel.tile(dst, queries, base, dim)
			}
			b.ReportMetric(2*dim*rows*TileQueries*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			var want float64
			for i := range dim {
				v, _ := kernel.term(float64(queries[i]), float64(base[i]))
				want += v
			}
			if got := float64(dst[0]); math.Abs(got-want) > 1e-3 {
				b.Fatalf("wrong answer: %v, want %v", got, want)
			}
		})
	}
}

// normal is n normal deviates around offset.
func normal(rng *rand.Rand, n int, offset float64) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64() + offset)
	}
	return values
}
