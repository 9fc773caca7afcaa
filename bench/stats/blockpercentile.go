package stats

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// BlockPercentile is a percentile of the latencies of several blocks.
type BlockPercentile struct {
	// Value is the percentile of all samples together, as Percentile gives it; 0 without samples.
	Value time.Duration
	// Low and High are the interval, 0 where there is none.
	Low, High time.Duration
	// Enough says that there are MinSamples(p, confidence). Otherwise the percentile should not be reported at all.
	Enough bool
	// Interval says that Low and High are known: Enough, at least 3 Blocks, and these alike enough to tell within a factor
	// of 10.
	Interval bool
	Blocks   int // that have samples
}

// PercentileOverBlocks is the p-quantile of the nanoseconds in all blocks together, with an interval for the quantile
// that one would find over very many blocks. It holds two intervals. That of QuantileRanks is all that matters where
// blocks are alike. The other one is for what differs between them: Student's t around the logarithm of the quantile,
// with the standard error that leaving out one block after the other gives (the jackknife over clusters: Shao and Tu,
// The Jackknife and Bootstrap, 1995, section 2.2). The range of the blocks' own percentiles would miss the truth one
// time in four with 3 blocks, and only grow as blocks are added; this keeps its confidence and narrows. Blocks are taken as
// independent: drift that is slower than the run is in no interval.
//
// With fewer than MinSamples(p, confidence) samples, and for p or a confidence outside of (0,1), there is not Enough.
func PercentileOverBlocks(blocks []*hdrhistogram.Histogram, p, confidence float64) BlockPercentile {
	if !(p > 0 && p < 1 && confidence > 0 && confidence < 1) {
		return BlockPercentile{}
	}
	all := map[int64]int64{}
	var single []tally
	for _, b := range blocks {
		if b.TotalCount() == 0 {
			continue
		}
		counts := map[int64]int64{}
		for _, bar := range b.Distribution() {
			if bar.Count > 0 {
				counts[bar.To] += bar.Count
				all[bar.To] += bar.Count
			}
		}
		single = append(single, newTally(counts))
	}
	out := BlockPercentile{Blocks: len(single)}
	if len(single) == 0 {
		return out
	}
	whole := newTally(all)
	out.Value = time.Duration(whole.quantile(p))
	low, high, enough := QuantileRanks(int(whole.total()), p, confidence)
	out.Enough, out.Interval = enough, enough && len(single) >= minBlocks
	if !out.Interval {
		return out
	}
	out.Low, out.High = time.Duration(whole.atRank(int64(low))), time.Duration(whole.atRank(int64(high)))
	if out.Value > 0 {
		margin := studentQuantile(1-(1-confidence)/2, len(single)-1) * whole.jackknife(single, p)
		if !(margin <= widest) {
			out.Interval, out.Low, out.High = false, 0, 0
			return out
		}
		out.Low = min(out.Low, time.Duration(math.Floor(float64(out.Value)*math.Exp(-margin))))
		out.High = max(out.High, time.Duration(min(math.Ceil(float64(out.Value)*math.Exp(margin)), math.MaxInt64/2)))
	}
	return out
}

// widest is the logarithm of the largest factor by which an interval may reach beyond its percentile. Blocks that differ by
// more, as those of a queue that comes and goes, say that it is not known, and not what it may be.
var widest = math.Log(10)

// tally is samples by value.
type tally struct {
	values []int64 // ascending, each once
	upTo   []int64 // how many samples are at most that value
}

func newTally(counts map[int64]int64) tally {
	t := tally{values: make([]int64, 0, len(counts))}
	for v := range counts {
		t.values = append(t.values, v)
	}
	slices.Sort(t.values)
	var n int64
	for _, v := range t.values {
		n += counts[v]
		t.upTo = append(t.upTo, n)
	}
	return t
}

// total is how many samples there are, at least one.
func (t tally) total() int64 { return t.upTo[len(t.upTo)-1] }

// atMost is how many samples are at most v.
func (t tally) atMost(v int64) int64 {
	i, found := slices.BinarySearch(t.values, v)
	if found {
		return t.upTo[i]
	}
	if i == 0 {
		return 0
	}
	return t.upTo[i-1]
}

// atRank is the rank-th smallest sample, from 1.
func (t tally) atRank(rank int64) int64 {
	i, _ := slices.BinarySearch(t.upTo, rank)
	return t.values[min(i, len(t.values)-1)]
}

func (t tally) quantile(p float64) int64 { return t.atRank(quantileRank(t.total(), p)) }

// quantileWithout is the quantile of the samples that are not in part.
func (t tally) quantileWithout(part tally, p float64) int64 {
	rank := quantileRank(t.total()-part.total(), p)
	i := sort.Search(len(t.values)-1, func(i int) bool { return t.upTo[i]-part.atMost(t.values[i]) >= rank })
	return t.values[i]
}

// jackknife is the standard error of the logarithm of the quantile.
func (t tally) jackknife(blocks []tally, p float64) float64 {
	logs := make([]float64, len(blocks))
	for i, b := range blocks {
		// A latency of 0 is one below the histogram's unit.
		logs[i] = math.Log(float64(max(t.quantileWithout(b, p), 1)))
	}
	n := float64(len(blocks))
	mean, squares := sum(logs)/n, 0.0
	for _, l := range logs {
		squares += (l - mean) * (l - mean)
	}
	return math.Sqrt(squares * (n - 1) / n)
}
