package stats

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// MinSamples is how many independent samples a p-quantile needs for a confidence interval to exist whose two tails each
// have at most half of 1-confidence: the smallest n with max(p, 1-p)^n <= (1-confidence)/2. At a confidence of 0.95 the
// median needs 6, p99 368, p99.9 3,688. For p or a confidence outside of (0,1) no number is enough: math.MaxInt.
func MinSamples(p, confidence float64) int {
	if !(p > 0 && p < 1 && confidence > 0 && confidence < 1) {
		return math.MaxInt
	}
	tail := (1 - confidence) / 2
	// log1p keeps the digits of p near 0, where 1-p would lose them.
	perSample := max(math.Log(p), math.Log1p(-p))
	n := math.Ceil(math.Log(tail) / perSample)
	if n >= math.MaxInt {
		return math.MaxInt
	}
	return max(int(n), 1)
}

// QuantileRanks is the ranks, from 1, of the two of n sorted independent samples that enclose the p-quantile of their
// distribution, whatever it is, with at least the confidence; each end errs with at most half of the rest (exact, by the
// binomial distribution; Conover, Practical Nonparametric Statistics, section 3.2). It is not ok where n is too small
// for that, or p or the confidence is outside of (0,1).
func QuantileRanks(n int, p, confidence float64) (low, high int, ok bool) {
	if n < 1 || n < MinSamples(p, confidence) {
		return 0, 0, false
	}
	tail := (1 - confidence) / 2
	// The number of samples at or below the quantile is binomial. The largest low with P(count < low) <= tail ...
	low = sort.Search(n, func(i int) bool { return binomialCDF(i, n, p) > tail })
	// ... and the smallest high with P(count >= high) <= tail.
	high = 1 + sort.Search(n, func(i int) bool { return binomialSurvival(i, n, p) <= tail })
	if low < 1 || high > n {
		return 0, 0, false
	}
	return low, high, true
}

// binomialCDF is P(X <= k) for X binomial over n trials of probability p in (0,1).
func binomialCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}

// binomialSurvival is P(X > k), to full relative precision where it is small.
func binomialSurvival(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 1
	case k >= n:
		return 0
	}
	return mathext.RegIncBeta(float64(k+1), float64(n-k), p)
}
