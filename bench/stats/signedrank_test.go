package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSignedRank(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   float64
	}{
		// W- = 1 for the ranks 1 to 8: the sums 0 and 1 of 256, twice.
		{"one small against seven", []float64{-1, 2, 3, 4, 5, 6, 7, 8}, 4. / 256},
		{"all one way", []float64{1, 2, 3, 4, 5, 6, 7, 8}, 2. / 256},
		// The tables' critical value at two-sided 0.05 for n = 10 is 8: the sums up to 8 are 25 of 1,024.
		{"the sum 8 of n = 10", []float64{1, 2, 3, 4, 5, 6, 7, -8, 9, 10}, 50. / 1024},
		{"nothing but zeros", []float64{0, 0, 0}, 1},
		{"balanced", []float64{1, -1, 2, -2}, 1},
		// Ranks 1.5, 1.5, 3: the sums at most 1.5 are 0 and 1.5 twice, of 8.
		{"ties", []float64{-1, 1, 2}, 0.75},
		// The zero takes rank 1: 2 and 3 remain, all positive, 1 of 4.
		{"a zero", []float64{0, 1, 2}, 0.5},
	} {
		if got := signedRank(c.values); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// Without ties the test refuses a centre exactly where the interval does not hold it.
func TestSignedRankIntervalHoldsWhatTheTestDoesNotRefuse(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	inside := map[bool]int{}
	for _, n := range []int{8, 9, 15, 40, exactRanks + 1} {
		values := draw(n, func() float64 { return 5 + rng.NormFloat64() })
		for _, confidence := range []float64{0.95, 0.99} {
			centre, low, high := signedRankInterval(values, confidence)
			if !(low < centre && centre < high) {
				t.Fatalf("n=%d: [%v, %v] around %v", n, low, high, centre)
			}
			for step := range 400 {
				c := low + (high-low)*((float64(step)+0.37)/200-0.5)
				moved := make([]float64, n)
				for i, v := range values {
					moved[i] = v - c
				}
				in := low < c && c < high
				inside[in]++
				if p := signedRank(moved); (p > 1-confidence) != in {
					t.Fatalf("n=%d at %v: centre %v, interval [%v, %v], but p=%v", n, confidence, c, low, high, p)
				}
			}
		}
	}
	if inside[true] == 0 || inside[false] == 0 {
		t.Errorf("only one side was tried: %v", inside)
	}
}

func TestSignedRankApproximationContinuesTheExactOne(t *testing.T) {
	ranks := make([]int, exactRanks)
	for i := range ranks {
		ranks[i] = i + 1
	}
	chances := subsetSumChances(ranks)
	if total := sum(chances); math.Abs(total-1) > 1e-9 {
		t.Errorf("the chances add up to %v", total)
	}
	for _, s := range []int{7500, 8000, 9000, 10050} {
		exact, near := sum(chances[:s+1]), rankSumBelow(ranks, float64(s)+0.5)
		if math.Abs(exact-near) > 0.02*exact+1e-4 {
			t.Errorf("sum %d: %v, about %v", s, exact, near)
		}
	}
}

// The bound of the approximation is where its chance passes the tail, also for as many values as are compared.
func TestLeastRankSumOfManyIsTheFirstBeyondTheTail(t *testing.T) {
	for _, n := range []int{exactRanks + 1, mostRankedPairs} {
		ranks := make([]int, n)
		for i := range ranks {
			ranks[i] = i + 1
		}
		for _, tail := range []float64{0.25, 0.005, 1e-6} {
			s := leastRankSum(n, tail)
			if before, at := rankSumBelow(ranks, float64(s)-0.5), rankSumBelow(ranks, float64(s)+0.5); !(before <= tail && at > tail) {
				t.Errorf("n = %d, tail %v: %d, before which the chance is %v, and with it %v", n, tail, s, before, at)
			}
		}
	}
}

// One wild value of ten moves the mean, and neither the estimate nor the end of the interval by much.
func TestSignedRankIntervalBearsAWildValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	values := draw(16, func() float64 { return 0.1 + 0.02*rng.NormFloat64() })
	wild := slices.Clone(values)
	wild[3] = 3
	centre, low, high := signedRankInterval(wild, 0.99)
	if math.Abs(centre-0.1) > 0.02 || low < 0.07 || high > 0.2 {
		t.Errorf("got %v [%v, %v], want about 0.1", centre, low, high)
	}
	if low, high = exactMeanInterval(wild, 0.99); high < 0.5 {
		t.Errorf("the interval of the mean, [%v, %v], does not show the wild value: it is not wild enough to test anything", low, high)
	}
}
