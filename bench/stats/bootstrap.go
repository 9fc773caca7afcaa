// Package stats puts intervals around what is measured: means over queries, proportions, percentiles of latency, rates
// over rounds. Everything is deterministic, by a seed where chance is used. Confidences are fractions, such as 0.95;
// what cannot be computed is NaN or not ok, never a number that looks like an answer.
package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// BootstrapMean is a confidence interval of the mean of the population that values are a sample of, such as a metric
// over queries. It resamples values with replacement, and reads the interval off the resampled means by the
// bias-corrected and accelerated method (BCa: Efron, JASA 1987), which allows for skew, at t quantiles in place of
// normal ones (the expanded percentiles of Hesterberg, The American Statistician 2015), without which intervals over
// few values are too narrow. With 2,000 resamples chance moves each
// end by about 1.5% (one standard deviation) of the width.
//
// It is NaN for fewer than 2 values, for values that are NaN or infinite, for a confidence outside of (0,1) and for no
// resamples. If all values are equal the interval is that value: a sample without variation shows none. For metrics of
// which nearly all values may be 0 or 1, see MetricInterval.
func BootstrapMean(values []float64, confidence float64, resamples int, seed uint64) (low, high float64) {
	n := len(values)
	if n < 2 || uint64(n) > math.MaxUint32 || !(confidence > 0 && confidence < 1) || resamples < 1 {
		return math.NaN(), math.NaN()
	}
	mean := sum(values) / float64(n)
	// The deviations, and not the values, are added up, so that a large mean costs no precision.
	deviations := make([]float64, n)
	furthest := 0.0
	for i, v := range values {
		deviations[i] = v - mean
		furthest = max(furthest, math.Abs(deviations[i]))
	}
	if math.IsNaN(furthest) || math.IsInf(furthest, 0) {
		return math.NaN(), math.NaN()
	}
	if slices.Min(values) == slices.Max(values) {
		return values[0], values[0]
	}
	means := resampledMeans(deviations, resamples, seed)
	slices.Sort(means)

	below, belowOrEqual := searchBelow(means, 0), searchBelow(means, math.SmallestNonzeroFloat64)
	// Half of the resamples that hit the mean exactly count as below it, and none of the two sides may be empty.
	share := (float64(below+belowOrEqual)/2 + 0.5) / float64(resamples+1)
	bias := distuv.UnitNormal.Quantile(share)
	// The acceleration of a mean, in closed form: a sixth of the skewness of the mean. In units of the furthest value
	// no power overflows.
	var second, third float64
	for _, d := range deviations {
		d /= furthest
		second += d * d
		third += d * d * d
	}
	acceleration := third / (6 * math.Pow(second, 1.5))
	z := studentQuantile(1-(1-confidence)/2, n-1) * math.Sqrt(float64(n)/float64(n-1))
	end := func(z float64) float64 {
		z += bias
		denominator := 1 - acceleration*z
		if denominator <= 0 {
			// So far out on the long tail that the expansion fails: the furthest resample stands for it.
			return math.Inf(int(math.Copysign(1, z)))
		}
		return bias + z/denominator
	}
	return mean + quantileSorted(means, distuv.UnitNormal.CDF(end(-z))), mean + quantileSorted(means, distuv.UnitNormal.CDF(end(z)))
}

// Difference is a mean difference with its confidence interval.
type Difference struct{ Mean, Low, High float64 }

// PairedBootstrap is the mean of b[i]-a[i], with an interval as BootstrapMean gives it: the change of a metric from
// run a to run b on the same queries, where a query's difficulty cancels. The slices must be parallel.
func PairedBootstrap(a, b []float64, confidence float64, resamples int, seed uint64) (Difference, error) {
	if len(a) != len(b) {
		return Difference{}, fmt.Errorf("paired bootstrap: %d values against %d; both runs must have answered the same queries, in the same order", len(a), len(b))
	}
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = b[i] - a[i]
	}
	d := Difference{Mean: sum(differences) / float64(len(differences))}
	d.Low, d.High = BootstrapMean(differences, confidence, resamples, seed)
	return d, nil
}

// resampledMeans is the means of resamples draws of len(values) values each, with replacement.
func resampledMeans(values []float64, resamples int, seed uint64) []float64 {
	rng := splitMix(seed)
	n := uint64(len(values))
	means := make([]float64, resamples)
	for i := range means {
		// Each 64 random bits make two indices, the high words of 32-bit products. No index is favoured by more than
		// n in 2^32. Two sums run side by side.
		var s0, s1 float64
		for range n / 2 {
			r := rng.next()
			s0 += values[(r>>32)*n>>32]
			s1 += values[(r&math.MaxUint32)*n>>32]
		}
		if n%2 == 1 {
			s0 += values[(rng.next()>>32)*n>>32]
		}
		means[i] = (s0 + s1) / float64(n)
	}
	return means
}

// splitMix is the generator of Steele, Lea and Flood (OOPSLA 2014). It is inlined, and no output waits for the one
// before it, so that resampling takes half the time that it takes with rand.PCG.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// searchBelow is how many of the sorted values are below x.
func searchBelow(sorted []float64, x float64) int {
	i, _ := slices.BinarySearch(sorted, x)
	return i
}

// quantileSorted is the p-quantile of sorted values, interpolated between the order statistics around p*(n+1).
func quantileSorted(sorted []float64, p float64) float64 {
	at := p*float64(len(sorted)+1) - 1
	if !(at > 0) {
		return sorted[0]
	}
	i := int(at)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}
