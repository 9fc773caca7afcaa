package stats

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// percentileConfidence is that of the intervals of latency percentiles.
const percentileConfidence = 0.95

// Percentile is the p-quantile (0.99 for p99) of the nanoseconds in h, with its 95% confidence interval by the order
// statistics of QuantileRanks. value is the smallest latency that at least p of all samples do not exceed. All three are
// the upper end of the histogram's bucket, so they are too large by at most its precision, and never too small. The
// interval takes samples as independent, which those of one block are not: PercentileOverBlocks has one that does not.
//
// It is not ok, with low and high 0, where there are fewer samples than MinSamples(p, 0.95): such a percentile
// should not be reported. value is then still the order statistic, or 0 without samples or for p outside of (0,1).
func Percentile(h *hdrhistogram.Histogram, p float64) (value, low, high time.Duration, ok bool) {
	total := h.TotalCount()
	if total < 1 || !(p > 0 && p < 1) {
		return 0, 0, 0, false
	}
	value = valueAtRank(h, quantileRank(total, p))
	lowRank, highRank, ok := QuantileRanks(int(total), p, percentileConfidence)
	if !ok {
		return value, 0, 0, false
	}
	return value, valueAtRank(h, int64(lowRank)), valueAtRank(h, int64(highRank)), true
}

// quantileRank is the rank of the p-quantile of n samples, from 1.
func quantileRank(n int64, p float64) int64 {
	// Rounding may lift an exact product: 0.07*100 is a little above 7.
	return max(int64(math.Ceil(p*float64(n)*(1-1e-15))), 1)
}

// valueAtRank is the rank-th smallest sample, from 1. The histogram turns a percentile into the nearest rank, so the
// percentile of a rank leads back to it.
func valueAtRank(h *hdrhistogram.Histogram, rank int64) time.Duration {
	return time.Duration(h.ValueAtPercentile(100 * float64(rank) / float64(h.TotalCount())))
}
