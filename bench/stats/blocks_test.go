package stats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestBlockRatio(t *testing.T) {
	nan := math.NaN()
	// Equal blocks: the t interval of their rates.
	rates, walls := []float64{90, 100, 110, 104}, []float64{2, 2, 2, 2}
	answers := []float64{180, 200, 220, 208}
	_, wantLow, wantHigh := MeanInterval(rates, 0.95)
	ratio, low, high := BlockRatio(answers, walls, 0.95, 0, 0)
	if !same(ratio, 101) || math.Abs(low-wantLow) > 1e-9 || math.Abs(high-wantHigh) > 1e-9 {
		t.Errorf("equal blocks: got %v [%v, %v], want 101 [%v, %v]", ratio, low, high, wantLow, wantHigh)
	}
	// Blocks of unequal length at one rate leave no doubt, few or many.
	for _, n := range []int{3, 20} {
		num, den := make([]float64, n), make([]float64, n)
		for i := range num {
			den[i] = float64(1 + i)
			num[i] = 64 * den[i]
		}
		if ratio, low, high = BlockRatio(num, den, 0.95, 100, 1); ratio != 64 || math.Abs(low-64) > 1e-9 || math.Abs(high-64) > 1e-9 {
			t.Errorf("%d blocks at one rate: got %v [%v, %v]", n, ratio, low, high)
		}
	}
	for _, c := range []struct {
		name       string
		num, den   []float64
		confidence float64
		ratio      float64
	}{
		{"nothing", nil, nil, 0.95, nan},
		{"two blocks", []float64{1, 2}, []float64{1, 1}, 0.95, 1.5},
		{"unequal lengths", []float64{1, 2, 3}, []float64{1, 1}, 0.95, nan},
		{"no time", []float64{1, 2, 3}, []float64{1, 0, 1}, 0.95, nan},
		{"NaN", []float64{1, nan, 3}, []float64{1, 1, 1}, 0.95, nan},
		{"confidence 1", []float64{1, 2, 3}, []float64{1, 1, 1}, 1, 2},
	} {
		ratio, low, high := BlockRatio(c.num, c.den, c.confidence, 100, 1)
		if !same(ratio, c.ratio) || !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("%s: got %v [%v, %v], want %v without an interval", c.name, ratio, low, high, c.ratio)
		}
	}
}

// Blocks that differ as wholes: samples taken as independent would promise far too much.
func TestBlockRatioCountsBlocksAndNotSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	const runs = 600
	for _, n := range []int{3, 8, 20} {
		covered := 0
		for run := range runs {
			num, den := make([]float64, n), make([]float64, n)
			for i := range num {
				den[i] = 1 + rng.Float64()
				num[i] = den[i] * 1000 * (1 + 0.05*rng.NormFloat64())
			}
			if _, low, high := BlockRatio(num, den, 0.95, 300, uint64(run)); low <= 1000 && 1000 <= high {
				covered++
			}
		}
		if got := float64(covered) / runs; got < 0.92 || got > 0.98 {
			t.Errorf("%d blocks: 95%% intervals cover %.3f", n, got)
		}
	}
}

func histogramOf(t testing.TB, samples ...int64) *hdrhistogram.Histogram {
	t.Helper()
	h := hdrhistogram.New(1, int64(time.Minute), 3)
	for _, s := range samples {
		if err := h.RecordValue(s); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func TestPercentileOverBlocksOfEqualBlocksIsThatOfOrderStatistics(t *testing.T) {
	// In three blocks each with the same samples, leaving out one changes nothing.
	samples := make([]int64, 200)
	for i := range samples {
		samples[i] = int64(100 + i)
	}
	h := histogramOf(t, samples...)
	blocks := []*hdrhistogram.Histogram{h, h, h}
	all := histogramOf(t)
	for _, b := range blocks {
		all.Merge(b)
	}
	for _, p := range []float64{0.5, 0.9, 0.99} {
		got := PercentileOverBlocks(blocks, p, 0.95)
		value, low, high, ok := Percentile(all, p)
		if !ok || !got.Enough || !got.Interval || got.Blocks != 3 || got.Value != value || got.Low != low || got.High != high {
			t.Errorf("p=%v: got %+v, want %v [%v, %v]", p, got, value, low, high)
		}
	}
}

func TestPercentileOverBlocksHoldsWhatDiffersBetweenThem(t *testing.T) {
	// Blocks without noise at 100, 110 and 121, each of 6 samples: of the 12 that are left without one of them, the median
	// is the sixth.
	block := func(v int64) *hdrhistogram.Histogram {
		samples := make([]int64, 6)
		for i := range samples {
			samples[i] = v
		}
		return histogramOf(t, samples...)
	}
	got := PercentileOverBlocks([]*hdrhistogram.Histogram{block(100), block(110), block(121)}, 0.5, 0.95)
	logs := []float64{math.Log(110), math.Log(100), math.Log(100)} // without the first, second, third
	mean := (logs[0] + logs[1] + logs[2]) / 3
	squares := 0.0
	for _, l := range logs {
		squares += (l - mean) * (l - mean)
	}
	margin := 4.30265273 * math.Sqrt(squares*2/3)
	low, high := 110*math.Exp(-margin), 110*math.Exp(margin)
	if got.Value != 110 || math.Abs(float64(got.Low)-low) > 1 || math.Abs(float64(got.High)-high) > 1 {
		t.Errorf("got %+v, want 110 [%v, %v]", got, low, high)
	}
}

// Blocks so different that an interval would reach from nothing to hours have none.
func TestPercentileOverBlocksThatDifferWildly(t *testing.T) {
	blocks := []*hdrhistogram.Histogram{histogramOf(t, 1, 1, 1), histogramOf(t, 1, 1, 1e10), histogramOf(t, 1e10, 1e10, 1e10)}
	if got := PercentileOverBlocks(blocks, 0.5, 0.95); got.Interval || !got.Enough || got.Low != 0 || got.High != 0 || got.Value != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestPercentileOverBlocksEdges(t *testing.T) {
	many := make([]int64, 130)
	for i := range many {
		many[i] = int64(1000 + i)
	}
	full, zero := histogramOf(t, many...), histogramOf(t, 0, 0, 0)
	of := func(h ...*hdrhistogram.Histogram) []*hdrhistogram.Histogram { return h }
	for _, c := range []struct {
		name             string
		blocks           []*hdrhistogram.Histogram
		p, confidence    float64
		enough, interval bool
		filled           int
	}{
		{"no blocks", nil, 0.5, 0.95, false, false, 0},
		{"no samples", of(histogramOf(t), histogramOf(t)), 0.5, 0.95, false, false, 0},
		{"too few for p99", of(full, full), 0.99, 0.95, false, false, 2},
		{"enough for p99", of(full, full, full), 0.99, 0.95, true, true, 3},
		{"enough for p99, not at that confidence", of(full, full, full), 0.99, 0.99, false, false, 3},
		{"two blocks say nothing of how blocks differ", of(full, full), 0.5, 0.95, true, false, 2},
		{"nor do two and an empty one", of(full, histogramOf(t), full), 0.5, 0.95, true, false, 2},
		{"a p of 1", of(full, full, full), 1, 0.95, false, false, 0},
		{"a confidence of 0", of(full, full, full), 0.5, 0, false, false, 0},
		{"zeros", of(zero, zero, zero), 0.5, 0.95, true, true, 3},
	} {
		got := PercentileOverBlocks(c.blocks, c.p, c.confidence)
		if got.Enough != c.enough || got.Interval != c.interval || got.Blocks != c.filled {
			t.Errorf("%s: got %+v, want enough=%v interval=%v %d blocks", c.name, got, c.enough, c.interval, c.filled)
		}
		if got.Interval && !(got.Low <= got.Value && got.Value <= got.High) || !got.Interval && (got.Low != 0 || got.High != 0) {
			t.Errorf("%s: %+v is not an interval", c.name, got)
		}
	}
}

// blockLatencies is blocks of latencies around 1 ms, log-normal within and between blocks.
func blockLatencies(rng *rand.Rand, h []*hdrhistogram.Histogram, each int, between, within float64) error {
	for _, b := range h {
		b.Reset()
		level := between * rng.NormFloat64()
		for range each {
			if err := b.RecordValue(int64(1e6 * math.Exp(level+within*rng.NormFloat64()))); err != nil {
				return err
			}
		}
	}
	return nil
}

func newBlocks(n int) []*hdrhistogram.Histogram {
	blocks := make([]*hdrhistogram.Histogram, n)
	for i := range blocks {
		blocks[i] = hdrhistogram.New(1000, int64(time.Second), 3)
	}
	return blocks
}

func TestPercentileOverBlocksCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	const runs, between, within = 200, 0.05, 0.1
	blocks := newBlocks(3)
	own, samples := 0, 0
	for range runs {
		if err := blockLatencies(rng, blocks, 60, between, within); err != nil {
			t.Fatal(err)
		}
		truth := time.Duration(1e6)
		if got := PercentileOverBlocks(blocks, 0.5, 0.95); got.Low <= truth && truth <= got.High {
			own++
		}
		all := hdrhistogram.New(1000, int64(time.Second), 3)
		for _, b := range blocks {
			all.Merge(b)
		}
		if _, low, high, _ := Percentile(all, 0.5); low <= truth && truth <= high {
			samples++
		}
	}
	if got, other := float64(own)/runs, float64(samples)/runs; got < 0.91 || other > 0.8 {
		t.Errorf("intervals over 3 blocks cover %.3f, those of independent samples %.3f; want at least 0.91 and far less", got, other)
	}
}

func BenchmarkPercentileOverBlocks(b *testing.B) {
	blocks := newBlocks(10)
	if err := blockLatencies(rand.New(rand.NewPCG(2, 3)), blocks, 1000, 0.02, 0.3); err != nil {
		b.Fatal(err)
	}
	var got BlockPercentile
	for b.Loop() {
		got = PercentileOverBlocks(blocks, 0.99, 0.95)
	}
	if truth := 1e6 * math.Exp(2.326348*math.Hypot(0.02, 0.3)); !got.Interval || float64(got.Low) > 1.02*truth || float64(got.High) < 0.98*truth || float64(got.High) > 1.3*truth {
		b.Fatalf("wrong answer %+v, want about %v", got, time.Duration(truth))
	}
}
