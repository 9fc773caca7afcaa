package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// machine is how the logarithms of block times vary on a simulated machine.
type machine struct {
	name  string
	block float64 // standard deviation of what is each block's own
	drift float64 // standard deviation of an AR(1) process over the blocks
	phi   float64 // its correlation from one block to the next
	// A neighbour slows down so large a share of blocks, by an exponential with that mean.
	disturbed, slowdown float64
}

// pairs draws the times of n pairs of blocks that ran one after the other, next being slower by the change. Which of a
// pair runs first is drawn at random, or mirrored from pair to pair: A B B A.
func (m machine) pairs(rng *rand.Rand, n int, change float64, mirrored bool, base, next []float64) {
	level := m.drift * rng.NormFloat64()
	block := func() float64 {
		x := level + m.block*rng.NormFloat64()
		if rng.Float64() < m.disturbed {
			x += m.slowdown * rng.ExpFloat64()
		}
		level = m.phi*level + m.drift*math.Sqrt(1-m.phi*m.phi)*rng.NormFloat64()
		return x
	}
	for i := range n {
		first, second := block(), block()
		if mirrored && i%2 == 1 || !mirrored && rng.IntN(2) == 1 {
			first, second = second, first
		}
		base[i], next[i] = math.Exp(first), (1+change)*math.Exp(second)
	}
}

// BenchmarkCompare prints, in percent of simulated comparisons at confidence 0.99 with a margin of 5%: how often the test
// alone and Compare call equals different, how often it says that equals are the same, and how often it finds that
// next is slower by 5, 10 and 15%. It fails if more than 1% of the 10,000 comparisons of equals (500 with -short) are false
// alarms in random order, or if less than is stated are found.
func BenchmarkCompare(b *testing.B) {
	equals, changed := 10_000, 2000
	if testing.Short() {
		equals, changed = 500, 200
	}
	for _, m := range []machine{
		{name: "noise=2%", block: 0.02},
		{name: "noise=3%", block: 0.03},
		{name: "drift", block: 0.02, drift: 0.03, phi: 0.5},
		{name: "slow-drift", block: 0.02, drift: 0.05, phi: 0.9},
		{name: "disturbed", block: 0.02, drift: 0.03, phi: 0.5, disturbed: 0.05, slowdown: 0.15},
	} {
		for _, pairs := range []int{8, 10, 16} {
			for _, mirrored := range []bool{false, true} {
				order := "random"
				if mirrored {
					order = "mirrored"
				}
				b.Run(fmt.Sprintf("%s/pairs=%d/%s", m.name, pairs, order), func(b *testing.B) {
					o := CompareOptions{Confidence: 0.99, Margin: 0.05, Relative: true, LowerIsBetter: true}
					var refused, alarms, same float64
					var found [3]float64
					for b.Loop() {
						rng := rand.New(rand.NewPCG(11, 3))
						base, next := make([]float64, pairs), make([]float64, pairs)
						refused, alarms, same, found = 0, 0, 0, [3]float64{}
						for range equals {
							m.pairs(rng, pairs, 0, mirrored, base, next)
							c := compared(b, base, next, o)
							refused += float64(b2i(c.P <= 0.01))
							alarms += float64(b2i(c.Decision == Worse || c.Decision == Better))
							same += float64(b2i(c.Decision == Same))
						}
						for i, change := range []float64{0.05, 0.1, 0.15} {
							for range changed {
								m.pairs(rng, pairs, change, mirrored, base, next)
								found[i] += float64(b2i(compared(b, base, next, o).Decision == Worse))
							}
						}
					}
					b.ReportMetric(100*refused/float64(equals), "%p<=0.01")
					b.ReportMetric(100*alarms/float64(equals), "%false")
					b.ReportMetric(100*same/float64(equals), "%same")
					for i, name := range []string{"%found5", "%found10", "%found15"} {
						b.ReportMetric(100*found[i]/float64(changed), name)
					}
					if alarms > 0.01*float64(equals) {
						b.Errorf("%v false alarms of %d", alarms, equals)
					}
					// The test itself holds its 1% whatever the drift, within four standard errors of the simulation.
					if limit := 0.01 + 4*math.Sqrt(0.01*0.99/float64(equals)); !mirrored && refused > limit*float64(equals) {
						b.Errorf("the test refuses %v of %d equals", refused, equals)
					}
					// 8 pairs must be unanimous, and a neighbour hides what it disturbs.
					if least := map[bool]float64{false: 0.95, true: 0.7}[pairs == 8 || m.disturbed > 0]; found[1] < least*float64(changed) {
						b.Errorf("found %v of %d changes of 10%%, want %g", found[1], changed, least)
					}
				})
			}
		}
	}
}

func compared(b *testing.B, base, next []float64, o CompareOptions) Comparison {
	b.Helper()
	c, err := Compare(base, next, o)
	if err != nil {
		b.Fatal(err)
	}
	return c
}
