package knn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"frontier/internal/vector"
)

// Random errors of rounding add up to far less than the bound allows. These are made so that all are in one direction:
// the bound holds with hardly anything to spare.
func TestNothingIsRefusedThoughAllErrorsAddUp(t *testing.T) {
	const rows, step = 24, 1. / 64
	for _, dim := range []int{1, 2, 3, 17, 96, 700, 1536} {
		for _, errors := range []string{"none", "of rows", "of queries", "of rows beyond 127 steps", "of vanishing vectors"} {
			t.Run(fmt.Sprintf("dim=%d/%s", dim, errors), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(dim), 5))
				base, asked := make([]float32, rows*dim), make([]float32, dim)
				signs := make([]float32, dim)
				for k := range signs {
					signs[k] = float32(rng.IntN(2)*2 - 1)
				}
				for k, sign := range signs {
					switch errors {
					case "of queries": // in steps of 1/127: 127, and others that lose almost half of a step
						asked[k] = sign * (float32(rng.IntN(100)) + 0.49) / 127
						asked[0] = 1
					case "of vanishing vectors":
						asked[k] = sign * 0x1p-62
					default: // all of them 127 steps
						asked[k] = sign
					}
					for i := range rows {
						steps := float32(rng.IntN(100))
						switch errors {
						case "of rows":
							steps += 0.49
						case "of queries":
							steps = 50
						case "of rows beyond 127 steps":
							steps += 127.49
						case "of vanishing vectors":
							steps = 0x1p-55
						}
						base[i*dim+k] = step * sign * steps
					}
				}
				for _, m := range []vector.Metric{vector.L2, vector.IP} {
					newBoundsIn(t, m, matrixOf(t, base, dim), matrixOf(t, asked, dim), func(s *Search) { s.space.step = step }).checkSieve()
				}
			})
		}
	}
}

func matrixOf(t *testing.T, data []float32, dim int) *vector.Matrix {
	t.Helper()
	m, err := vector.NewMatrix(data, dim)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Rows far larger than the others lose much of their values, and so do others if the step is made for these.
func TestOutliersAreNotRefused(t *testing.T) {
	for _, dim := range []int{1, 17, 96} {
		for _, m := range metrics {
			for _, factor := range []float32{5, 1e3, 1e15, 1e25} {
				base, asked := gaussian(t, 60, dim, 0, 1), gaussian(t, 4, dim, 0, 2)
				for i := 7; i < base.Len(); i += 13 {
					for k := range base.Row(i) {
						base.Row(i)[k] *= factor
					}
				}
				for k := range dim {
					asked.Row(1)[k] *= factor
					asked.Row(2)[k] = 0
					base.Row(3)[k] = 0
				}
				b := newBounds(t, m, base, asked)
				b.checkScores()
				b.checkSieve()
			}
		}
	}
}

// The step fits most rows, whatever a few outliers are.
func TestTheStepIsMadeForMostRows(t *testing.T) {
	const dim = 32
	rows := gaussian(t, 300, dim, 0, 1)
	for i := 5; i < rows.Len(); i += 60 {
		for k := range dim {
			rows.Row(i)[k] *= 30
		}
	}
	e := newExact(t, vector.IP, rows, rows, 1)
	s := newSearch(e.config(1), true, 1<<17)
	s.chooseStep(s.workers[0], rows)
	if step := s.space.step; !(step > 2./127 && step < 5./127) {
		t.Errorf("the step is %v of 1/127 for values of norm 1", step*127)
	}
}

// Where too much passes, panels go without the sieve, and for longer each time.
func TestPanelsPauseWhereTheSieveHoldsNothingBack(t *testing.T) {
	var s sieving
	used := 0
	for range 10000 {
		if s.due() {
			used++
			s.done(false)
		}
	}
	if most := 10 + 10000/(maxPause+1); used > most {
		t.Errorf("the sieve was used for %d of 10000 tiles, want at most %d", used, most)
	}
	for !s.due() {
	}
	for range 100 {
		s.done(true)
		if !s.due() {
			t.Fatal("the sieve is worth its while, and not used")
		}
	}
}

// Data on which bytes tell nothing apart must be found as such, and searched all the same.
func TestSieveIsLeftWhereItHoldsNothingBack(t *testing.T) {
	const queries, rows, dim, k = 40, 4000, 48, 5
	values := map[string]func(rng *rand.Rand, i, j int) float64{
		"heavy tails": func(rng *rand.Rand, _, _ int) float64 { return rng.NormFloat64() / math.Abs(rng.NormFloat64()) },
		"equal":       func(_ *rand.Rand, _, j int) float64 { return float64(j) },
		"one far value": func(rng *rand.Rand, _, j int) float64 {
			if j == 7 {
				return 1e4 * rng.NormFloat64()
			}
			return rng.NormFloat64()
		},
	}
	for name, value := range values {
		for _, m := range metrics {
			t.Run(fmt.Sprintf("%s/%s", name, m), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 2))
				fill := func(n int) *vector.Matrix {
					data := make([]float32, n*dim)
					for i := range data {
						data[i] = float32(value(rng, i/dim, i%dim))
					}
					return matrixOf(t, data, dim)
				}
				e := newExact(t, m, fill(queries), fill(rows), k)
				searchWith(t, newSearch(e.config(2), true, 4<<10), e, nil)
				e.check(nil)
			})
		}
	}
}
