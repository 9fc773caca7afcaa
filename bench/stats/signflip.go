package stats

import "math"

// SignFlip is the two-sided p-value of a paired randomisation test of the mean (Fisher, The Design of Experiments, 1935,
// section 21): how often the sum of the differences would be as far from 0 as it is if each sign were a coin's. If the
// two sides of a pair were measured in an order that was drawn at random, or stand for one query under two systems,
// that is what "no difference" means; nothing is assumed about the distribution, and drift of the machine does not
// matter.
//
// Up to 30 differences that are not 0 all sign flips are counted. Above that it is estimated from so many random flips,
// with the values as they are counted as one of them, so that p is at least 1/(resamples+1) and the test errs no more
// often than p says (Phipson and Smyth, SAGMB 2010). For differences of -1, 0 and 1 it is McNemar's exact test.
//
// It is 1 if all differences are 0, and NaN without differences, for differences that are NaN or infinite, and where
// random flips are needed and resamples is below 1.
func SignFlip(differences []float64, resamples int, seed uint64) float64 {
	values, ok := nonZero(differences)
	switch {
	case !ok || len(differences) == 0:
		return math.NaN()
	case len(values) == 0:
		return 1
	case len(values) <= exactPairs:
		return min(1, 2*min(aboveZero(values, 1, 0, 0), aboveZero(values, -1, 0, 0)))
	case resamples < 1:
		return math.NaN()
	}
	// Flipping a subset changes the sum by twice that of the subset, so it ends up as far from 0, or further, where the
	// subset adds up to nothing between 0 and the sum.
	total, rounding := sum(values), 0.0
	for _, v := range values {
		rounding += math.Abs(v) * 1e-13
	}
	inner, outer := min(total, 0)+rounding, max(total, 0)-rounding
	subsets := newRandomSubsets(values, seed)
	extreme := 1
	for range resamples {
		if s, _ := subsets.next(); s <= inner || s >= outer {
			extreme++
		}
	}
	return float64(extreme) / float64(resamples+1)
}

// aboveZero is the one-sided p-value of the sign-flip test for a mean of sign*values above 0.
func aboveZero(values []float64, sign float64, resamples int, seed uint64) float64 {
	signed := make([]float64, len(values))
	size := 0.0
	for i, v := range values {
		signed[i] = sign * v
		size += math.Abs(v)
	}
	if len(values) <= exactPairs {
		return math.Ldexp(float64(subsetsUpToZero(signed)), -len(values))
	}
	subsets := newRandomSubsets(signed, seed)
	extreme := 1
	for range resamples {
		if s, _ := subsets.next(); s <= size*1e-13 {
			extreme++
		}
	}
	return float64(extreme) / float64(resamples+1)
}

// nonZero is the values but for zeros, whose sign says nothing. It is not ok if one is NaN or infinite.
func nonZero(values []float64) (rest []float64, ok bool) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		if v != 0 {
			rest = append(rest, v)
		}
	}
	return rest, true
}
