package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// bruteSignFlip flips signs one way after the other.
func bruteSignFlip(values []float64) float64 {
	observed, extreme := math.Abs(sum(values)), 0
	for flips := range 1 << len(values) {
		s := 0.0
		for i, v := range values {
			if flips>>i&1 == 1 {
				v = -v
			}
			s += v
		}
		if math.Abs(s) >= observed-1e-9 {
			extreme++
		}
	}
	return float64(extreme) / float64(int(1)<<len(values))
}

func TestSignFlipCountsEveryFlip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for trial := range 300 {
		values := draw(1+rng.IntN(10), func() float64 {
			if trial%2 == 0 {
				return float64(rng.IntN(7) - 2) // zeros and ties
			}
			return rng.NormFloat64() + 0.5
		})
		if got, want := SignFlip(values, 0, 0), bruteSignFlip(values); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v: got %v, want %v", values, got, want)
		}
	}
}

// Differences of a binary outcome make it McNemar's test, whichever way the flips are counted.
func TestSignFlipOfBinaryOutcomesIsMcNemar(t *testing.T) {
	for _, c := range [][2]int{{2, 0}, {6, 0}, {10, 2}, {5, 5}, {1, 12}, {15, 14}} {
		values := make([]float64, 40) // and queries that did not change
		for i := range c[0] {
			values[i] = 1
		}
		for i := range c[1] {
			values[39-i] = -1
		}
		if got, want := SignFlip(values, 0, 0), McNemar(c[0], c[1]); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d gained, %d lost: got %v, want %v", c[0], c[1], got, want)
		}
	}
	// Beyond what is enumerated chance decides, within four of its standard errors.
	values := make([]float64, 100)
	for i := range values {
		values[i] = 1 - 2*float64(b2i(i < 38))
	}
	const resamples = 100_000
	want := McNemar(62, 38)
	got := SignFlip(values, resamples, 3)
	if math.Abs(got-want) > 4*math.Sqrt(want/resamples) {
		t.Errorf("62 gained, 38 lost: got %v, want %v", got, want)
	}
	if again := SignFlip(values, resamples, 3); again != got {
		t.Errorf("the same seed gave %v and %v", got, again)
	}
	if other := SignFlip(values, resamples, 4); other == got {
		t.Error("another seed gave the same p")
	}
}

func TestSignFlipEdges(t *testing.T) {
	nan := math.NaN()
	ones := make([]float64, 40)
	for i := range ones {
		ones[i] = 1e-3
	}
	for _, c := range []struct {
		name      string
		values    []float64
		resamples int
		want      float64
	}{
		{"nothing", nil, 10, nan},
		{"NaN", []float64{1, nan}, 10, nan},
		{"Inf", []float64{1, math.Inf(-1)}, 10, nan},
		{"zeros", []float64{0, 0}, 0, 1},
		{"one", []float64{5}, 0, 1},
		{"three cannot go under a quarter", []float64{5, 6, 7}, 0, 0.25},
		{"eight of tiny size", []float64{1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300}, 0, 2. / 256},
		{"thirty", ones[:30], 0, math.Ldexp(2, -30)},
		{"too many to enumerate, and no resamples", ones, 0, nan},
		{"never below one in resamples+1", ones, 999, 1e-3},
	} {
		if got := SignFlip(c.values, c.resamples, 1); !same(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMinPairs(t *testing.T) {
	for confidence, want := range map[float64]int{0.75: 3, 0.9: 5, 0.875: 4, 0.95: 6, 0.99: 8, 0.999: 11, 0.9375: 5, 0: math.MaxInt, 1: math.MaxInt} {
		if got := MinPairs(confidence); got != want {
			t.Errorf("at %v: got %d, want %d", confidence, got, want)
		}
	}
	if got := MinPairs(math.NaN()); got != math.MaxInt {
		t.Errorf("at NaN: got %d", got)
	}
	// At that many pairs a test can decide, and with one less it cannot.
	for _, confidence := range []float64{0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999} {
		all := make([]float64, MinPairs(confidence))
		for i := range all {
			all[i] = 1
		}
		if p := SignFlip(all, 0, 0); p > 1-confidence {
			t.Errorf("at %v: %d pairs give p=%v", confidence, len(all), p)
		}
		if p := SignFlip(all[1:], 0, 0); p <= 1-confidence {
			t.Errorf("at %v: %d pairs are enough", confidence, len(all)-1)
		}
	}
}

func BenchmarkSignFlip(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{exactPairs, 225} {
		values := draw(n, func() float64 { return 1 - 2*float64(b2i(rng.Float64() < 0.4)) })
		gained := 0
		for _, v := range values {
			gained += b2i(v > 0)
		}
		want := McNemar(gained, n-gained)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var p float64
			for b.Loop() {
				p = SignFlip(values, 20_000, 1)
			}
			if math.Abs(p-want) > 5*math.Sqrt(want/20_000) {
				b.Fatalf("wrong answer %v, want %v", p, want)
			}
		})
	}
}
