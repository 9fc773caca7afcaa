package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if err := Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// guarded is values at whole[from:], with canaries around them.
type guarded struct {
	values, whole []float32
	from          int
}

const canary = 12345

func guard(n, offset int) guarded {
	whole := make([]float32, n+64)
	for i := range whole {
		whole[i] = canary
	}
	from := 16 + offset
	return guarded{whole[from : from+n : from+n], whole, from}
}

func (g guarded) check(t *testing.T) {
	t.Helper()
	for i, v := range g.whole {
		if (i < g.from || i >= g.from+len(g.values)) && v != canary {
			t.Fatalf("wrote %v at %d, outside of the %d values at %d", v, i, len(g.values), g.from)
		}
	}
}

func normal(rng *rand.Rand, values []float32, offset float64) {
	for i := range values {
		values[i] = float32(rng.NormFloat64() + offset)
	}
}

// lengths has every tail of every variant, with no, one and several whole registers before it.
func lengths() []int {
	var all []int
	for n := range 83 {
		all = append(all, n)
	}
	return append(all, 96, 128, 129, 385, 768, 1536)
}

// roundings is the error bound of a sum of n products, relative to the sum of their magnitudes.
func roundings(n int) float64 { return float64(n+3) * 0x1p-24 * 1.001 }

func TestSumsStayWithinTheirErrorBound(t *testing.T) {
	for _, v := range available() {
		t.Run(v.name, func(t *testing.T) {
			for _, n := range lengths() {
				for _, at := range []int{0, 1, 7} {
					rng := rand.New(rand.NewPCG(uint64(n), uint64(at)))
					a, b := guard(n, at), guard(n, at/2)
					normal(rng, a.values, 1e4)
					normal(rng, b.values, 1e4)
					var product, magnitude, square float64
					for i := range a.values {
						x, y := float64(a.values[i]), float64(b.values[i])
						product += x * y
						magnitude += math.Abs(x * y)
						square += (x - y) * (x - y)
					}
					if got := float64(v.dot(a.values, b.values)); math.Abs(got-product) > roundings(n)*magnitude {
						t.Errorf("dot of %d at %d: %v, want %v", n, at, got, product)
					}
					if got := float64(v.squaredL2(a.values, b.values)); math.Abs(got-square) > roundings(n)*square {
						t.Errorf("squared L2 of %d at %d: %v, want %v", n, at, got, square)
					}
				}
			}
		})
	}
}

// A row gives the same bits wherever it lies, and nothing beyond dst is written.
func TestRowsEqualOneByOne(t *testing.T) {
	for _, v := range available() {
		t.Run(v.name, func(t *testing.T) {
			for _, dim := range []int{1, 3, 8, 15, 16, 17, 31, 33, 47, 96, 130} {
				for n := range 10 {
					rng := rand.New(rand.NewPCG(uint64(dim), uint64(n)))
					query, rows := guard(dim, 3), guard(n*dim, 1)
					normal(rng, query.values, 0)
					normal(rng, rows.values, 0)
					for name, kernel := range map[string]struct {
						one  func(a, b []float32) float32
						many func(dst, query, rows []float32)
					}{"dot": {v.dot, v.dotRows}, "squared L2": {v.squaredL2, v.squaredL2Rows}} {
						dst := guard(n, 5)
						kernel.many(dst.values, query.values, rows.values)
						dst.check(t)
						for i, got := range dst.values {
							if want := kernel.one(query.values, rows.values[i*dim:(i+1)*dim]); got != want {
								t.Fatalf("%s, dim %d, row %d of %d: %v, alone it is %v", name, dim, i, n, got, want)
							}
						}
					}
				}
			}
		})
	}
}

func TestPack(t *testing.T) {
	for _, v := range available() {
		t.Run(v.name, func(t *testing.T) {
			for _, n := range lengths() {
				rng := rand.New(rand.NewPCG(uint64(n), 1))
				row, mean, dst := guard(n, 1), guard(n, 2), guard(n, 3)
				normal(rng, row.values, 10)
				normal(rng, mean.values, 10)
				const scale = 0x1p-3
				got := float64(v.pack(dst.values, row.values, mean.values, scale))
				dst.check(t)
				var want float64
				for i, v := range dst.values {
					if exact := (row.values[i] - mean.values[i]) * scale; v != exact {
						t.Fatalf("%d of %d: %v, want %v", i, n, v, exact)
					}
					want += float64(v) * float64(v)
				}
				if math.Abs(got-want) > roundings(n)*want {
					t.Errorf("%d: sum of squares %v, want %v", n, got, want)
				}
			}
		})
	}
}

func TestBytesAreExact(t *testing.T) {
	for _, v := range available() {
		t.Run(v.name, func(t *testing.T) {
			for _, n := range lengths() {
				for _, extreme := range []bool{false, true} {
					rng := rand.New(rand.NewPCG(uint64(n), 1))
					a, b := make([]byte, n+1)[1:], make([]byte, n+3)[3:]
					for i := range a {
						a[i], b[i] = byte(rng.Uint32()), byte(rng.Uint32())
						if extreme {
							a[i], b[i] = byte(0xff*(i/2%2)), byte(0x80*(i%2))
						}
					}
					var dotU, dotI, squareU, squareI int32
					for i := range a {
						ua, ub, ia, ib := int32(a[i]), int32(b[i]), int32(int8(a[i])), int32(int8(b[i]))
						dotU += ua * ub
						dotI += ia * ib
						squareU += (ua - ub) * (ua - ub)
						squareI += (ia - ib) * (ia - ib)
					}
					for name, c := range map[string]struct {
						kernel func(a, b []byte) int32
						want   int32
					}{
						"dot of uint8": {v.dotUint8, dotU}, "dot of int8": {v.dotInt8, dotI},
						"squared L2 of uint8": {v.squaredL2Uint8, squareU}, "squared L2 of int8": {v.squaredL2Int8, squareI},
					} {
						if got := c.kernel(a, b); got != c.want {
							t.Errorf("%s, %d: %v, want %v", name, n, got, c.want)
						}
					}
				}
			}
		})
	}
}

// More than byteChunk bytes do not fit a sum of 32 bits.
func TestBytesDoNotOverflow(t *testing.T) {
	const n = 5*byteChunk + 3
	white, black, low := make([]uint8, n), make([]uint8, n), make([]int8, n)
	for i := range white {
		white[i], low[i] = 255, -128
	}
	for name, c := range map[string]struct{ got, want int64 }{
		"dot of uint8":        {DotUint8(white, white), n * 255 * 255},
		"squared L2 of uint8": {SquaredL2Uint8(white, black), n * 255 * 255},
		"dot of int8":         {DotInt8(low, low), n * 128 * 128},
		"squared L2 of int8":  {SquaredL2Int8(low, make([]int8, n)), n * 128 * 128},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", name, c.got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	have := []variant{{name: "portable"}, {name: "fast"}, {name: "fastest"}}
	for name, want := range map[string]string{"": "fastest", "fast": "fast", "portable": "portable"} {
		if got, err := choose(name, have); err != nil || got.name != want {
			t.Errorf("%q: %s, %v", name, got.name, err)
		}
	}
	got, err := choose("neno", have)
	if err == nil || got.name != "portable" {
		t.Fatalf("an unknown variant gives %s, %v", got.name, err)
	}
	for _, part := range []string{Env, "neno", "portable, fast, fastest"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

func BenchmarkSums(b *testing.B) {
	for _, v := range available() {
		for _, dim := range []int{128, 768} {
			const rows = 64
			rng := rand.New(rand.NewPCG(1, 2))
			query, base, dst := make([]float32, dim), make([]float32, rows*dim), make([]float32, rows)
			normal(rng, query, 0)
			normal(rng, base, 0)
			bytes := make([]byte, rows*dim)
			for i := range bytes {
				bytes[i] = byte(rng.Uint32())
			}
			var sum int64
			for _, c := range []struct {
				name string
				run  func()
				got  func() float64
				want float64
			}{
				{"dot", func() { v.dotRows(dst, query, base) }, func() float64 { return float64(dst[rows-1]) }, float64(dot(query, base[(rows-1)*dim:]))},
				{"squaredL2", func() { v.squaredL2Rows(dst, query, base) }, func() float64 { return float64(dst[rows-1]) }, float64(squaredL2(query, base[(rows-1)*dim:]))},
				{"dotUint8", func() {
					for i := range rows {
						sum = int64(v.dotUint8(bytes[:dim], bytes[i*dim:(i+1)*dim]))
					}
				}, func() float64 { return float64(sum) }, float64(sumProducts(bytes[:dim], bytes[(rows-1)*dim:], unsignedByte))},
			} {
				b.Run(fmt.Sprintf("%s/%s/dim=%d", v.name, c.name, dim), func(b *testing.B) {
					for b.Loop() {
						c.run()
					}
					b.ReportMetric(2*float64(rows*dim)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
					if got := c.got(); math.Abs(got-c.want) > 1e-3*math.Abs(c.want)+1e-3 {
						b.Fatalf("wrong answer: %v, want %v", got, c.want)
					}
				})
			}
		}
	}
}

func TestFourHaveTheBitsOfOne(t *testing.T) {
	for _, v := range available() {
		t.Run(v.name, func(t *testing.T) {
			for _, n := range lengths() {
				rng := rand.New(rand.NewPCG(uint64(n), 4))
				query := guard(n, 1)
				normal(rng, query.values, 0)
				var rows [4][]float32
				for i := range rows {
					rows[i] = guard(n, i).values
					normal(rng, rows[i], math.Pow(10, float64(3*i)))
				}
				for name, c := range map[string]struct {
					kernel fourKernel
					one    func(a, b []float32) float64
				}{"dot": {v.dot64Four, Dot64}, "squared L2": {v.squaredL264Four, SquaredL264}, "square": {v.square64Four, square64}} {
					got := four(c.kernel, c.one, query.values, rows)
					for i, row := range rows {
						if want := c.one(query.values, row); math.Float64bits(got[i]) != math.Float64bits(want) {
							t.Fatalf("%s of %d, row %d: %v, want %v", name, n, i, got[i], want)
						}
					}
				}
			}
		})
	}
}
