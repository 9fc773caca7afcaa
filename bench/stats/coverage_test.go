package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// coverageCase is an interval of nominal 95% whose coverage is found by simulation: docs/measurement.md has the results.
type coverageCase struct {
	name string
	// low and high bound the coverage in percent. Of hard cases they are no promise: what is known to fall short is
	// printed all the same, and bounded so that a change shows.
	low, high float64
	// covers draws one sample and says whether its interval holds the truth.
	covers func(rng *rand.Rand, seed uint64) bool
}

// BenchmarkCoverage prints the coverage of each interval over 10,000 samples (300 with -short, where the bounds are as
// much wider as chance makes them) and fails where it is out of its bounds.
func BenchmarkCoverage(b *testing.B) {
	repetitions, slack := 10_000, 0.0
	if testing.Short() {
		repetitions, slack = 300, 5.5 // percent: over four standard errors at 95%
	}
	cases := append(meanCases(), percentileCases()...)
	for _, c := range append(cases, blockCases()...) {
		b.Run(c.name, func(b *testing.B) {
			var percent float64
			for b.Loop() {
				rng := rand.New(rand.NewPCG(17, 4))
				covered := 0
				for i := range repetitions {
					covered += b2i(c.covers(rng, uint64(i)))
				}
				percent = 100 * float64(covered) / float64(repetitions)
			}
			b.ReportMetric(percent, "%covered")
			if percent < c.low-slack || percent > c.high+slack {
				b.Errorf("covers %.2f%% of %d samples, want %g to %g", percent, repetitions, c.low, c.high)
			}
		})
	}
}

func meanCases() []coverageCase {
	gamma4 := func(r *rand.Rand) float64 { // skewness 1
		return r.ExpFloat64() + r.ExpFloat64() + r.ExpFloat64() + r.ExpFloat64()
	}
	recall := func(r *rand.Rand) float64 { // of ten, each found with 0.9: mean 0.9, skewness -0.8
		found := 0
		for range 10 {
			found += b2i(r.Float64() < 0.9)
		}
		return float64(found) / 10
	}
	reciprocal := func(r *rand.Rand) float64 { return []float64{1, 1, 1, 1. / 2, 1. / 3, 0}[r.IntN(6)] }
	logNormal := func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) } // skewness 6.2
	hit := func(r *rand.Rand) float64 { return float64(b2i(r.Float64() < 0.95)) }
	bootstrap := func(values []float64, seed uint64) (low, high float64) {
		return BootstrapMean(values, 0.95, 2000, seed)
	}
	student := func(values []float64, _ uint64) (low, high float64) {
		_, low, high = MeanInterval(values, 0.95)
		return low, high
	}
	wilson := func(values []float64, _ uint64) (low, high float64) {
		return WilsonInterval(int(sum(values)), len(values), 0.95)
	}
	of := func(name string, n int, truth float64, value func(*rand.Rand) float64, interval func([]float64, uint64) (float64, float64), low, high float64) coverageCase {
		return coverageCase{fmt.Sprintf("mean/%s/n=%d", name, n), low, high, func(r *rand.Rand, seed uint64) bool {
			low, high := interval(draw(n, func() float64 { return value(r) }), seed)
			return low <= truth && truth <= high
		}}
	}
	return []coverageCase{
		of("recall", 200, 0.9, recall, bootstrap, 93.5, 96.5),
		of("reciprocal-rank", 200, (3+1./2+1./3)/6, reciprocal, bootstrap, 93.5, 96.5),
		of("skew-1", 200, 4, gamma4, bootstrap, 93.5, 96.5),
		of("exponential", 200, 1, (*rand.Rand).ExpFloat64, bootstrap, 93.5, 96.5),
		of("exponential-student", 200, 1, (*rand.Rand).ExpFloat64, student, 93.5, 96.5),
		// Hard: few values, long tails, and hits, of which so few counts are possible that coverage goes in steps.
		of("recall", 50, 0.9, recall, bootstrap, 93, 96.5),
		of("exponential", 50, 1, (*rand.Rand).ExpFloat64, bootstrap, 92, 95),
		of("exponential", 20, 1, (*rand.Rand).ExpFloat64, bootstrap, 88, 95),
		of("lognormal", 50, math.Exp(0.5), logNormal, bootstrap, 85, 93),
		of("lognormal-student", 50, math.Exp(0.5), logNormal, student, 84, 92),
		of("lognormal", 200, math.Exp(0.5), logNormal, bootstrap, 90, 95),
		of("lognormal", 500, math.Exp(0.5), logNormal, bootstrap, 91.5, 96),
		of("hits-bootstrap", 50, 0.95, hit, bootstrap, 80, 96),
		of("hits-wilson", 50, 0.95, hit, wilson, 93.5, 98),
		of("hits-wilson", 200, 0.95, hit, wilson, 93.5, 98),
	}
}

func percentileCases() []coverageCase {
	shapes := []struct {
		name     string
		quantile func(p float64) float64 // of latency in nanoseconds
	}{
		{"exponential", func(p float64) float64 { return -1e6 * math.Log1p(-p) }},
		{"lognormal", func(p float64) float64 { return 1e6 * math.Exp(math.Sqrt2*math.Erfinv(2*p-1)) }},
	}
	var cases []coverageCase
	for _, s := range shapes {
		for _, p := range []float64{0.5, 0.9, 0.99} {
			least := MinSamples(p, 0.95)
			for _, n := range []int{least, least + 1, 2 * least, 1000} {
				h := hdrhistogram.New(1, int64(time.Second), 3)
				truth := s.quantile(p)
				// Both ends are rounded up by at most the histogram's 0.1%, which the lower one must be forgiven.
				cases = append(cases, coverageCase{fmt.Sprintf("p%g/%s/n=%d", 100*p, s.name, n), 94, 100, func(r *rand.Rand, _ uint64) bool {
					h.Reset()
					for range n {
						if h.RecordValue(int64(s.quantile(r.Float64()))) != nil {
							return false
						}
					}
					_, low, high, ok := Percentile(h, p)
					return ok && float64(low) <= truth*1.001 && truth <= float64(high)
				}})
			}
		}
	}
	return cases
}

func blockCases() []coverageCase {
	var cases []coverageCase
	normal := func(r *rand.Rand) float64 { return 1 + 0.05*r.NormFloat64() }
	stalls := func(r *rand.Rand) float64 { return 1.1 - 0.1*r.ExpFloat64() } // rates that stalls cut, skewness -2
	for _, c := range []struct {
		name      string
		n         int
		rate      func(*rand.Rand) float64
		low, high float64
	}{
		{"normal", 3, normal, 93.5, 96.5},
		{"normal", 5, normal, 93.5, 96.5},
		{"normal", 12, normal, 93.5, 96.5},
		{"normal", 30, normal, 93.5, 96.5},
		{"stalls", 3, stalls, 86, 92},
		{"stalls", 12, stalls, 89, 95},
		{"stalls", 30, stalls, 92, 96},
	} {
		cases = append(cases, coverageCase{fmt.Sprintf("qps/%s/blocks=%d", c.name, c.n), c.low, c.high, func(r *rand.Rand, seed uint64) bool {
			answers, walls := make([]float64, c.n), make([]float64, c.n)
			for i := range answers {
				walls[i] = 1 + r.Float64()
				answers[i] = walls[i] * 1000 * c.rate(r)
			}
			_, low, high := BlockRatio(answers, walls, 0.95, 1000, seed)
			return low <= 1000 && 1000 <= high
		}})
	}
	for _, c := range []struct {
		p, between float64
		n, each    int
	}{
		{0.5, 0, 3, 50},
		{0.5, 0.02, 3, 50},
		{0.5, 0.1, 3, 50},
		{0.5, 0.1, 10, 50},
		{0.99, 0, 3, 130},
		{0.99, 0.1, 3, 130},
		{0.99, 0.1, 10, 130},
		{0.99, 0.1, 30, 13},
	} {
		// Latency within a block is log-normal with 0.3, around a level that differs from block to block.
		const within = 0.3
		truth := 1e6 * math.Exp(math.Sqrt2*math.Erfinv(2*c.p-1)*math.Hypot(within, c.between))
		blocks := make([]*hdrhistogram.Histogram, c.n)
		for i := range blocks {
			blocks[i] = hdrhistogram.New(10_000, int64(20*time.Millisecond), 3)
		}
		cases = append(cases, coverageCase{fmt.Sprintf("blocks/p%g/differ=%g/blocks=%dx%d", 100*c.p, c.between, c.n, c.each), 92, 100, func(r *rand.Rand, _ uint64) bool {
			if blockLatencies(r, blocks, c.each, c.between, within) != nil {
				return false
			}
			got := PercentileOverBlocks(blocks, c.p, 0.95)
			return got.Interval && float64(got.Low) <= truth*1.001 && truth <= float64(got.High)
		}})
	}
	return cases
}
