package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestMeanInterval(t *testing.T) {
	// t(0.975, 4) = 2.776445; the standard error of 1..5 is sqrt(2.5/5).
	mean, low, high := MeanInterval([]float64{1, 2, 3, 4, 5}, 0.95)
	if margin := 2.7764451052 * math.Sqrt(0.5); mean != 3 || math.Abs(low-(3-margin)) > 1e-8 || math.Abs(high-(3+margin)) > 1e-8 {
		t.Errorf("got %v [%v, %v], want 3 +- %v", mean, low, high, margin)
	}
	// t(0.975, 1) = 12.7062
	if _, low, high = MeanInterval([]float64{0, 2}, 0.95); math.Abs(high-1-12.7062047) > 1e-6 || math.Abs(1-low-12.7062047) > 1e-6 {
		t.Errorf("two values: got [%v, %v]", low, high)
	}
	if mean, low, high = MeanInterval([]float64{7}, 0.95); mean != 7 || !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("one value: got %v [%v, %v]", mean, low, high)
	}
	if mean, low, _ = MeanInterval(nil, 0.95); !math.IsNaN(mean) || !math.IsNaN(low) {
		t.Errorf("no values: got %v [%v", mean, low)
	}
	if _, low, _ = MeanInterval([]float64{1, 2}, 1.5); !math.IsNaN(low) {
		t.Errorf("confidence 1.5: got [%v", low)
	}
}

func TestMeanIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	covered := 0
	const samples = 4000
	for range samples {
		if _, low, high := MeanInterval(draw(3, rng.NormFloat64), 0.9); low <= 0 && 0 <= high {
			covered++
		}
	}
	if got := float64(covered) / samples; got < 0.885 || got > 0.915 {
		t.Errorf("90%% intervals over 3 values cover %.3f", got)
	}
}

func TestProportions(t *testing.T) {
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{
		{9, 18, 0.290311, 0.709689}, // half-width 0.21
		{0, 10, 0, 0.277533},
		{10, 10, 0.722467, 1},
		{1, 10, 0.017876, 0.404150},
	} {
		if low, high := WilsonInterval(c.hits, c.n, 0.95); math.Abs(low-c.low) > 1e-5 || math.Abs(high-c.high) > 1e-5 {
			t.Errorf("%d of %d: got [%v, %v], want [%v, %v]", c.hits, c.n, low, high, c.low, c.high)
		}
	}
	for _, bad := range [][2]int{{0, 0}, {-1, 5}, {6, 5}} {
		if low, high := WilsonInterval(bad[0], bad[1], 0.95); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("%d of %d: got [%v, %v], want NaN", bad[0], bad[1], low, high)
		}
	}
	for _, c := range []struct {
		p    float64
		n    int
		want float64
	}{{0.78, 120, 0.074}, {0.80, 200, 0.055}, {0.5, 18, 0.231}} {
		if got := ProportionMargin(c.p, c.n, 0.95); math.Abs(got-c.want) > 5e-4 {
			t.Errorf("p=%v, n=%d: got +-%v, want %v", c.p, c.n, got, c.want)
		}
	}
	if got := ProportionMargin(1.1, 5, 0.95); !math.IsNaN(got) {
		t.Errorf("p=1.1: got %v", got)
	}
}

// A metric of which each question has 0 or 1 has the interval of a proportion, and never one without width.
func TestMetricInterval(t *testing.T) {
	for _, c := range []struct {
		values    []float64
		low, high float64
	}{
		{[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 0.722467, 1},
		{[]float64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, 0.277533},
		{[]float64{0, 0, 0, 0, 1, 0, 0, 0, 0, 0}, 0.017876, 0.404150},
		{[]float64{0.5, 0.5, 0.5}, 0.5, 0.5},
		{[]float64{1}, math.NaN(), math.NaN()},
		{nil, math.NaN(), math.NaN()},
		{[]float64{1, math.NaN()}, math.NaN(), math.NaN()},
	} {
		if low, high := MetricInterval(c.values, 0.95, 100, 1); !near(low, c.low) || !near(high, c.high) {
			t.Errorf("%v: got [%v, %v], want [%v, %v]", c.values, low, high, c.low, c.high)
		}
	}
	graded := []float64{1, 0.5, 0, 1, 1, 0.25}
	low, high := BootstrapMean(graded, 0.9, 500, 7)
	if l, h := MetricInterval(graded, 0.9, 500, 7); l != low || h != high {
		t.Errorf("%v: got [%v, %v], want the bootstrap's [%v, %v]", graded, l, h, low, high)
	}
}

func near(got, want float64) bool {
	return math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) < 1e-5
}

// The Wilson interval's coverage is computed exactly, by adding up the binomial probabilities of all outcomes. It
// oscillates around the confidence, so its mean over p is what is checked.
func TestWilsonIntervalCovers(t *testing.T) {
	for _, n := range []int{12, 18, 120} {
		total, points := 0.0, 0
		for p := 0.05; p < 0.96; p += 0.005 {
			points++
			for hits := range n + 1 {
				if low, high := WilsonInterval(hits, n, 0.95); low <= p && p <= high {
					total += binomialCDF(hits, n, p) - binomialCDF(hits-1, n, p)
				}
			}
		}
		if got := total / float64(points); math.Abs(got-0.95) > 0.01 {
			t.Errorf("n=%d: covers %.4f on average", n, got)
		}
	}
}

func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		gained, lost int
		want         float64
	}{
		{2, 0, 0.5}, {0, 2, 0.5}, {0, 0, 1}, {5, 5, 1}, {6, 0, 1. / 32}, {10, 2, 2 * (1 + 12 + 66) / 4096.}, {-1, 0, math.NaN()},
	} {
		if got := McNemar(c.gained, c.lost); !same(got, c.want) {
			t.Errorf("%d gained, %d lost: got %v, want %v", c.gained, c.lost, got, c.want)
		}
	}
}

func TestMinSamples(t *testing.T) {
	for _, c := range []struct {
		p, confidence float64
		want          int
	}{
		{0.5, 0.95, 6},
		{0.9, 0.95, 36},
		{0.99, 0.95, 368},
		{0.01, 0.95, 368},
		{0.999, 0.95, 3688},
		{0.99, 0.99, 528},
		{0.5, 0.1, 2},
		{0, 0.95, math.MaxInt},
		{1, 0.95, math.MaxInt},
		{0.5, 1, math.MaxInt},
		{math.NaN(), 0.95, math.MaxInt},
	} {
		if got := MinSamples(c.p, c.confidence); got != c.want {
			t.Errorf("p=%v at %v: got %d, want %d", c.p, c.confidence, got, c.want)
		}
	}
}

// QuantileRanks exist exactly from MinSamples on, each tail is within its half, and neither end could be moved in.
func TestQuantileRanksAreExact(t *testing.T) {
	for _, p := range []float64{0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999} {
		for _, confidence := range []float64{0.9, 0.95, 0.99} {
			least := MinSamples(p, confidence)
			for _, n := range []int{1, least - 1, least, least + 1, 2*least + 3, 5000} {
				t.Run(fmt.Sprintf("p=%v/confidence=%v/n=%d", p, confidence, n), func(t *testing.T) {
					low, high, ok := QuantileRanks(n, p, confidence)
					if ok != (n >= least) {
						t.Fatalf("ok=%v, but at least %d samples are needed", ok, least)
					}
					if !ok {
						return
					}
					// The probabilities of 0..n samples below the quantile, added up from logarithms.
					pmf := make([]float64, n+1)
					for k := range pmf {
						a, _ := math.Lgamma(float64(n + 1))
						b, _ := math.Lgamma(float64(k + 1))
						c, _ := math.Lgamma(float64(n - k + 1))
						pmf[k] = math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
					}
					tail := (1 - confidence) / 2
					if below := sum(pmf[:low]); below > tail+1e-9 || below+pmf[low] < tail-1e-9 {
						t.Errorf("low rank %d: P(fewer below) = %v, with one more %v; want the last within %v", low, below, below+pmf[low], tail)
					}
					if above := sum(pmf[high:]); above > tail+1e-9 || above+pmf[high-1] < tail-1e-9 {
						t.Errorf("high rank %d: P(as many below) = %v, with one more %v; want the last within %v", high, above, above+pmf[high-1], tail)
					}
				})
			}
		}
	}
	// For very many samples the ranks are those of the normal approximation.
	const n = 100_000_000
	low, high, ok := QuantileRanks(n, 0.99, 0.95)
	margin := 1.959964 * math.Sqrt(n*0.99*0.01)
	if !ok || math.Abs(float64(low)-(0.99*n-margin)) > 3 || math.Abs(float64(high)-(0.99*n+margin)) > 3 {
		t.Errorf("n=%d: got %d, %d, %v; want about %.0f +- %.0f", n, low, high, ok, 0.99*n, margin)
	}
	for _, bad := range [][2]float64{{0, 0.95}, {1, 0.95}, {math.NaN(), 0.95}, {0.5, 0}, {0.5, 1}} {
		if _, _, ok := QuantileRanks(1000, bad[0], bad[1]); ok {
			t.Errorf("p=%v at %v: ok", bad[0], bad[1])
		}
	}
}

func TestPercentile(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, n := range []int{1, 5, 6, 100, 367, 368, 5000} {
		h := hdrhistogram.New(1, int64(time.Hour), 3)
		samples := make([]int64, n)
		for i := range samples {
			samples[i] = 50_000 + int64(20_000*rng.ExpFloat64())
			if err := h.RecordValue(samples[i]); err != nil {
				t.Fatal(err)
			}
		}
		slices.Sort(samples)
		// at checks that got is the sample of that rank, rounded up within the histogram's precision.
		at := func(what string, got time.Duration, rank int) {
			t.Helper()
			if want := samples[rank-1]; int64(got) < want || float64(got) > 1.001*float64(want)+1 {
				t.Errorf("n=%d, %s: got %d, want %d, of rank %d", n, what, got, want, rank)
			}
		}
		for _, p := range []float64{0.07, 0.5, 0.9, 0.95, 0.99, 0.999} {
			value, low, high, ok := Percentile(h, p)
			at(fmt.Sprint(p), value, int(math.Ceil(math.Round(p*float64(n)*1e6)/1e6)))
			if ok != (n >= MinSamples(p, 0.95)) {
				t.Errorf("n=%d, p=%v: ok=%v", n, p, ok)
			}
			if !ok {
				if low != 0 || high != 0 {
					t.Errorf("n=%d, p=%v: an interval [%v, %v] without ok", n, p, low, high)
				}
				continue
			}
			lowRank, highRank, _ := QuantileRanks(n, p, 0.95)
			at(fmt.Sprint(p, " low"), low, lowRank)
			at(fmt.Sprint(p, " high"), high, highRank)
		}
	}
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	if value, _, _, ok := Percentile(h, 0.5); ok || value != 0 {
		t.Errorf("empty: got %v, ok=%v", value, ok)
	}
	if err := h.RecordValue(5); err != nil {
		t.Fatal(err)
	}
	for _, p := range []float64{0, 1, -1, math.NaN()} {
		if value, _, _, ok := Percentile(h, p); ok || value != 0 {
			t.Errorf("p=%v: got %v, ok=%v", p, value, ok)
		}
	}
}

func TestPercentileIntervalCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	const runs, n = 400, 500
	truth := time.Duration(1e6 * -math.Log(0.05)) // p95 of an exponential latency with mean 1 ms
	covered := 0
	for range runs {
		h := hdrhistogram.New(1, int64(time.Minute), 3)
		for range n {
			if err := h.RecordValue(int64(1e6 * rng.ExpFloat64())); err != nil {
				t.Fatal(err)
			}
		}
		if _, low, high, ok := Percentile(h, 0.95); ok && low <= truth && truth <= high {
			covered++
		}
	}
	if got := float64(covered) / runs; got < 0.92 {
		t.Errorf("95%% intervals cover %.3f", got)
	}
}
