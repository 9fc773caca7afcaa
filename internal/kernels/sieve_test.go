package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// withSieve is the variants that this machine has, with their kernels of the sieve, and with the portable ones.
func withSieve() []variant {
	var all []variant
	for _, v := range available() {
		if v.sieve != nil {
			all = append(all, v)
		}
		v.name += "/portable sieve"
		v.sieve = portableSieve()
		all = append(all, v)
	}
	return all
}

// sieving is a tile and a panel of random bytes. All that the sieve computes with them is exact in float32, but for sums
// beyond 2^24.
type sieving struct {
	dim, rows int
	tile      *Tile
	bytes     *ByteTile
	panel     *BytePanel
	out       *Sifted
	limits    []float32
	of        []QueryTerms
	queries   [][]int8
	rowTerms  []RowTerms
	base      [][]int8
}

func newSieving(v *variant, dim, rows int) *sieving {
	rng := rand.New(rand.NewPCG(uint64(dim), uint64(rows)))
	extreme := rng.IntN(2) == 0 // all products at their largest
	random := func() ([]float32, []int8) {
		values, bytes := make([]float32, dim), make([]int8, dim)
		sign := rng.IntN(2)*2 - 1
		for i := range bytes {
			bytes[i] = int8(rng.IntN(255) - 127)
			if extreme {
				bytes[i] = int8(sign * 127)
			}
			values[i] = float32(bytes[i])
		}
		return values, bytes
	}
	quarter := func(n int) float32 { return float32(rng.IntN(n)) / 4 }
	tile := newTile(v, 1, dim)
	for tile.Cap() < rows {
		tile = newTile(v, 4*(tile.Cap()+v.tile.Rows)*tileStride(dim), dim)
	}
	s := &sieving{dim: dim, rows: rows, tile: tile, bytes: NewByteTile(tile), panel: newBytePanel(v, dim), out: NewSifted(tile)}
	size := 2 * float32(dim) * 127
	for j := range v.tile.Queries {
		values, bytes := random()
		terms := QueryTerms{0.5, quarter(16), quarter(16)}
		s.panel.Set(j, values, bytes, terms)
		s.of, s.queries = append(s.of, terms), append(s.queries, bytes)
		s.limits = append(s.limits, float32(math.Round(float64(size)*rng.NormFloat64()))+quarter(4))
	}
	s.limits[0], s.limits[1] = float32(math.Inf(-1)), float32(math.Inf(1))
	for i := range rows {
		values, bytes := random()
		terms := RowTerms{float32(math.Round(float64(size)*rng.NormFloat64())) / 4, quarter(64), quarter(64)}
		if rng.IntN(10) == 0 {
			terms = RowTerms{Offset: float32(math.Inf(1))}
		}
		tile.Pack(i, values, make([]float32, dim), 1)
		tile.SetOffset(i, terms.Offset)
		if lost := s.bytes.Pack(i, 1); lost != 0 {
			panic("whole numbers were rounded")
		}
		s.bytes.SetTerms(i, terms)
		s.rowTerms, s.base = append(s.rowTerms, terms), append(s.base, bytes)
	}
	tile.SetRows(rows)
	s.bytes.SetRows(rows)
	return s
}

// passes is whether the sieve must let the pair through, and by how much the sum of the products exceeds what is needed.
func (s *sieving) passes(row, query int) (passes bool, by float64) {
	var sum int64
	for i, v := range s.base[row] {
		sum += int64(v) * int64(s.queries[query][i])
	}
	r, q := s.rowTerms[row], s.of[query]
	limit := float64(s.limits[query]) - float64(q.Norm)*float64(r.Lost) - float64(q.Lost)*float64(r.Norm)
	by = float64(q.Scale)*float64(sum) + float64(r.Offset) - limit
	return !(by < 0), by
}

func TestSieveMarksWhatTheBoundDoesNotExclude(t *testing.T) {
	for _, v := range withSieve() {
		t.Run(v.name, func(t *testing.T) {
			for _, dim := range []int{1, 2, 3, 4, 5, 12, 13, 16, 17, 63, 64, 65, 130, 1100} {
				for _, rows := range []int{0, 1, 2, 5, 11, 12, 13, 25, 40} {
					s := newSieving(&v, dim, rows)
					hits := make([]hit, s.tile.Cap()+1)
					s.out.hits = hits[:s.tile.Cap()]
					pairs := s.out.Sieve(s.panel, s.bytes, s.limits)
					if hits[len(hits)-1] != (hit{}) {
						t.Fatal("wrote past the hits")
					}
					masks := map[uint32]uint32{}
					marked := 0
					for i, h := range s.out.hits[:s.out.n] {
						if i > 0 && h.row <= s.out.hits[i-1].row || h.mask == 0 {
							t.Fatalf("hits %v are not in order, or empty", s.out.hits[:i+1])
						}
						masks[h.row] = h.mask
						for j := range s.limits {
							marked += int(h.mask >> j & 1)
						}
					}
					if marked != pairs {
						t.Fatalf("%d pairs are marked, and counted %d", marked, pairs)
					}
					for row := range rows {
						for j := range s.limits {
							want, by := s.passes(row, j)
							if is := masks[uint32(row)]>>j&1 == 1; is != want && (dim < 1000 || math.Abs(by) > float64(dim)/64) {
								t.Fatalf("dim %d, row %d of %d, query %d: marked: %v, want %v, by %v", dim, row, rows, j, is, want, by)
							}
						}
					}
				}
			}
		})
	}
}

// The largest sums that bytes can have, of the largest dimension there may be.
func TestSieveHasRoomForTheLargestSums(t *testing.T) {
	for _, v := range withSieve() {
		const dim = MaxSieveDim
		tile := newTile(&v, 1, dim)
		s, panel, out := NewByteTile(tile), newBytePanel(&v, dim), NewSifted(tile)
		values, bytes, limits := make([]float32, dim), make([]int8, dim), make([]float32, v.tile.Queries)
		for i := range values {
			values[i], bytes[i] = 127, 127
		}
		tile.Pack(0, values, make([]float32, dim), 1)
		tile.Pack(1, values, make([]float32, dim), -1)
		for i := range 2 {
			s.Pack(i, 1)
			s.SetTerms(i, RowTerms{})
		}
		tile.SetRows(2)
		s.SetRows(2)
		for j := range limits {
			panel.Set(j, values, bytes, QueryTerms{Scale: 1})
			limits[j] = 127 * 127 * (dim - 1)
		}
		for i := range bytes {
			bytes[i] = -127
		}
		panel.Set(0, values, bytes, QueryTerms{Scale: 1})
		out.Sieve(panel, s, limits)
		all := uint32(1<<v.tile.Queries - 1)
		if want := []hit{{0, all - 1}, {1, 1}}; !slices.Equal(out.hits[:out.n], want) {
			t.Errorf("%s: marked %v, want %v", v.name, out.hits[:out.n], want)
		}
	}
}

func TestRescoreKeepsWhatReachesTheLimit(t *testing.T) {
	for _, v := range withSieve() {
		for _, dim := range []int{1, 7, 16, 17, 33, 63, 64, 65, 80, 100} {
			for _, rows := range []int{1, 13, 40} {
				s := newSieving(&v, dim, rows)
				for j := range s.limits {
					s.limits[j] = float32(j-v.tile.Queries/2) * float32(dim)
				}
				s.out.Sieve(s.panel, s.bytes, slices.Repeat([]float32{float32(math.Inf(-1))}, len(s.limits)))
				if s.out.Rows() < rows {
					t.Fatalf("%d of %d rows reach a limit of -Inf", s.out.Rows(), rows)
				}
				s.out.Rescore(s.panel, s.bytes, s.limits)
				left := map[[2]int]float32{}
				for i := range s.out.Rows() {
					row, mask, scores := s.out.Row(i)
					if mask == 0 {
						t.Fatalf("row %d is there without a score", row)
					}
					for j, score := range scores {
						if mask>>j&1 == 1 {
							left[[2]int{row, j}] = score
						}
					}
				}
				for row := range rows {
					for j := range s.limits {
						want := s.rowTerms[row].Offset // all sums are exact
						for i, b := range s.base[row] {
							want += float32(b) * float32(s.queries[j][i])
						}
						got, is := left[[2]int{row, j}]
						if is != (want >= s.limits[j]) || is && got != want {
							t.Fatalf("%s, dim %d, row %d, query %d: %v (%v), want %v at a limit of %v", v.name, dim, row, j, got, is, want, s.limits[j])
						}
					}
				}
			}
		}
	}
}

func TestRoundedRowsAreWithinWhatWasLost(t *testing.T) {
	for _, v := range withSieve() {
		for n := range 140 {
			rng := rand.New(rand.NewPCG(uint64(n), 1))
			const step = 0x1.8p-6
			values := make([]float32, n)
			for i := range values {
				values[i] = step * float32(60*rng.NormFloat64()) // some beyond 127 steps
				switch rng.IntN(8) {
				case 0:
					values[i] = step * (float32(rng.IntN(255)-127) + 0.5)
				case 1:
					values[i] *= 1e-30
				case 2:
					values[i] *= 1e6
				}
			}
			dst := slices.Repeat([]int8{77}, n+1)
			square, sum := v.sieve.round(dst[:n], values, 1/float32(step), step)
			if dst[n] != 77 {
				t.Fatalf("%s: wrote past %d values", v.name, n)
			}
			var exact float64
			var total int32
			for i, value := range values {
				want := math.RoundToEven(max(min(float64(value)/step, 127), -127))
				if math.Abs(float64(dst[i])-want) > 1 || math.Abs(float64(value)/step-float64(dst[i])) > max(0.5001, math.Abs(float64(value)/step)-126.9999) {
					t.Fatalf("%s: %v steps became %d", v.name, value/step, dst[i])
				}
				lost := float64(value) - step*float64(dst[i])
				exact += lost * lost
				total += int32(dst[i])
			}
			if sum != total || math.Abs(float64(square)-exact) > roundings(n+2)*exact {
				t.Errorf("%s, %d values: sums %v and %d, want %v and %d", v.name, n, square, sum, exact, total)
			}
		}
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			values := make([]float32, 19)
			values[17] = bad
			if square, _ := v.sieve.round(make([]int8, 19), values, 64, 1./64); square <= math.MaxFloat32 {
				t.Errorf("%s: %v loses %v", v.name, bad, square)
			}
		}
	}
}

func TestBytesOfTheSieve(t *testing.T) {
	for _, dim := range []int{1, 16, 17, 1000} {
		panel := NewBytePanel(dim)
		if held, says := len(panel.values)+4*(len(panel.terms)+len(panel.exact)), panel.shape.Queries*BytePanelBytes(dim); held > says {
			t.Errorf("a panel of dimension %d holds %d bytes, and says %d", dim, held, says)
		}
		for _, size := range []int{1, 10000, 1 << 17} {
			tile := NewByteTile(NewTile(size, dim))
			if held, says := len(tile.values)+4*len(tile.terms), ByteTileBytes(size, dim); held > says {
				t.Errorf("a tile of %d bytes for dimension %d holds %d bytes, and says %d", size, dim, held, says)
			}
		}
	}
}

func BenchmarkSieve(b *testing.B) {
	for _, v := range withSieve() {
		for _, dim := range []int{128, 768} {
			b.Run(fmt.Sprintf("%s/dim=%d", v.name, dim), func(b *testing.B) {
				size := 256 << 10
				if testing.Short() {
					size = 32 << 10
				}
				rows := newTile(&v, size, dim).Cap()
				s := newSieving(&v, dim, rows)
				for i := range rows {
					s.rowTerms[i] = RowTerms{Lost: 1, Norm: 1}
					s.bytes.SetTerms(i, s.rowTerms[i])
				}
				s.bytes.SetRows(rows)
				for j := range s.limits {
					s.limits[j] = 1e9
				}
				s.limits[2] = -1e9
				for b.Loop() {
					s.out.Sieve(s.panel, s.bytes, s.limits)
					s.limits[2] = 1e9
				}
				b.ReportMetric(2*float64(dim*rows*len(s.limits))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GOP/s")
				s.limits[2] = -1e9
				if pairs := s.out.Sieve(s.panel, s.bytes, s.limits); pairs != rows {
					b.Fatalf("wrong answer: %d pairs pass, want %d", pairs, rows)
				}
			})
		}
	}
}
