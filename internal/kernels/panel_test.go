package kernels

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// sifting is a tile and a panel of random values with what their scores should be.
type sifting struct {
	dim, rows int
	panel     *Panel
	tile      *Tile
	out       *Sifted
	limits    []float32
	exact     func(row, query int) (score, magnitude float64)
}

func newSifting(v *variant, dim, rows int) *sifting {
	rng := rand.New(rand.NewPCG(uint64(dim), uint64(rows)))
	s := &sifting{dim: dim, rows: rows, panel: newPanel(v, dim), tile: newTile(v, 4*rows*tileStride(dim), dim), limits: make([]float32, v.tile.Queries)}
	for s.tile.Cap() < rows { // the size was for whole groups
		s.tile = newTile(v, 4*(s.tile.Cap()+v.tile.Rows)*tileStride(dim), dim)
	}
	s.out = NewSifted(s.tile)
	queries, base, mean := make([]float32, dim*v.tile.Queries), make([]float32, dim*rows), make([]float32, dim)
	normal(rng, queries, 0)
	normal(rng, base, 0)
	for j := range v.tile.Queries {
		s.panel.Set(j, queries[j*dim:(j+1)*dim])
	}
	offsets := make([]float32, rows)
	for i := range rows {
		s.tile.Pack(i, base[i*dim:(i+1)*dim], mean, 1)
		offsets[i] = float32(rng.NormFloat64())
		s.tile.SetOffset(i, offsets[i])
	}
	s.tile.SetRows(rows)
	s.exact = func(row, query int) (score, magnitude float64) {
		score, magnitude = float64(offsets[row]), math.Abs(float64(offsets[row]))
		for i := range dim {
			product := float64(base[row*dim+i]) * float64(queries[query*dim+i])
			score += product
			magnitude += math.Abs(product)
		}
		return score, magnitude
	}
	return s
}

// left is the scores that were handed on, by row and query.
func (s *sifting) left(t testing.TB) map[[2]int]float32 {
	left := map[[2]int]float32{}
	for i := range s.out.Rows() {
		row, mask, scores := s.out.Row(i)
		if mask == 0 {
			t.Fatalf("row %d is there without a score", row)
		}
		if row >= s.rows {
			continue
		}
		for ; mask != 0; mask &= mask - 1 {
			j := bits.TrailingZeros32(mask)
			at := [2]int{row, j}
			if _, twice := left[at]; twice {
				t.Fatalf("row %d and query %d are there twice", row, j)
			}
			left[at] = scores[j]
		}
	}
	return left
}

func TestSiftHandsOnWhatReachesTheLimit(t *testing.T) {
	for _, v := range available() {
		t.Run(v.name, func(t *testing.T) {
			for _, dim := range []int{1, 2, 3, 4, 5, 15, 16, 17, 96, 1024} {
				for _, rows := range []int{0, 1, 2, 5, 6, 7, 11, 12, 13, 40} {
					s := newSifting(&v, dim, rows)
					for j := range s.limits {
						s.limits[j] = float32(j)/4 - 2
					}
					s.limits[0], s.limits[1] = float32(math.Inf(-1)), float32(math.Inf(1))
					scores := guard(s.tile.Cap()*v.tile.Queries, 0)
					hits := make([]hit, s.tile.Cap()+1)
					s.out.scores, s.out.hits = scores.values, hits[:s.tile.Cap()]
					s.out.Sift(s.panel, s.tile, s.limits)
					scores.check(t)
					if hits[len(hits)-1] != (hit{}) {
						t.Fatal("wrote past the hits")
					}
					left := s.left(t)
					for row := range rows {
						for j, limit := range s.limits {
							want, magnitude := s.exact(row, j)
							bound := roundings(dim) * magnitude
							got, is := left[[2]int{row, j}]
							if is && math.Abs(float64(got)-want) > bound {
								t.Fatalf("dim %d, row %d, query %d: score %v, want %v within %v", dim, row, j, got, want, bound)
							}
							if math.Abs(want-float64(limit)) > bound && is != (want >= float64(limit)) {
								t.Fatalf("dim %d, row %d of %d, query %d: handed on: %v, with score %v and limit %v", dim, row, rows, j, is, want, limit)
							}
						}
					}
				}
			}
		})
	}
}

func TestSiftHandsOnNothingBelowTheLimits(t *testing.T) {
	for _, v := range available() {
		s := newSifting(&v, 17, 30)
		for j := range s.limits {
			s.limits[j] = 1e6
		}
		s.out.Sift(s.panel, s.tile, s.limits)
		if s.out.Rows() != 0 {
			t.Errorf("%s: %d rows are left", v.name, s.out.Rows())
		}
	}
}

// What overflowed decides nothing, so it must be handed on.
func TestSiftHandsOnWhatIsNoNumber(t *testing.T) {
	const huge = 1e30
	for _, v := range available() {
		s := newSifting(&v, 3, 5)
		s.tile.Pack(3, []float32{huge, -huge, 1}, make([]float32, 3), huge)
		for j := range s.limits {
			s.panel.Set(j, []float32{1, 1, 1}) // inf - inf
			s.limits[j] = math.MaxFloat32
		}
		s.out.Sift(s.panel, s.tile, s.limits)
		left := s.left(t)
		if len(left) != v.tile.Queries {
			t.Errorf("%s: %d scores are left, want one of each of %d queries: %v", v.name, len(left), v.tile.Queries, left)
		}
		for at, score := range left {
			if at[0] != 3 || score == score {
				t.Errorf("%s: row %d has score %v", v.name, at[0], score)
			}
		}
	}
}

func TestTileBytes(t *testing.T) {
	for _, dim := range []int{1, 16, 17, 1000} {
		for _, size := range []int{1, 10000, 1 << 17} {
			tile := NewTile(size, dim)
			out := NewSifted(tile)
			held := 4*(len(tile.values)+len(tile.offsets)+len(out.scores)) + hitBytes*len(out.hits)
			if bytes := TileBytes(size, dim); held > bytes {
				t.Errorf("a tile of %d bytes for dimension %d holds %d bytes, and says %d", size, dim, held, bytes)
			}
		}
	}
}

func BenchmarkSift(b *testing.B) {
	for _, v := range available() {
		for _, dim := range []int{128, 768} {
			for _, size := range []int{32 << 10, 128 << 10, 256 << 10} {
				b.Run(fmt.Sprintf("%s/dim=%d/size=%dk", v.name, dim, size>>10), func(b *testing.B) {
					s := newSifting(&v, dim, newTile(&v, size, dim).Cap())
					for j := range s.limits {
						s.limits[j] = 1e6
					}
					s.limits[2] = -1e6
					for b.Loop() {
						s.out.Sift(s.panel, s.tile, s.limits)
						s.limits[2] = 1e6
					}
					b.ReportMetric(2*float64(dim*s.rows*len(s.limits))*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
					s.limits[2] = -1e6
					s.out.Sift(s.panel, s.tile, s.limits)
					want, _ := s.exact(s.rows-1, 2)
					if got := float64(s.left(b)[[2]int{s.rows - 1, 2}]); math.Abs(got-want) > 1e-2 {
						b.Fatalf("wrong answer: %v, want %v", got, want)
					}
				})
			}
		}
	}
}
