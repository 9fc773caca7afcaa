package stats

import "math"

// Equivalence is the p-value of two one-sided sign-flip tests (Schuirmann, J. Pharmacokinetics and Biopharmaceutics
// 1987): that the mean of the paired differences is above -margin and that it is below margin, of which the larger p
// counts. At most 1-confidence means: the same for all practical purposes. That a difference is not significant never
// means this. It takes the differences as symmetric around their mean, as a shift of all pairs makes them.
//
// It agrees with asking whether the interval of confidence 1-2*(1-confidence) lies within the margin; Compare asks for
// that of the full confidence, which is stricter. Above 30 differences it takes so many random flips, as SignFlip does.
//
// It is NaN without differences, for differences that are NaN or infinite, for a margin that is not above 0, and where
// random flips are needed and resamples is below 1.
func Equivalence(differences []float64, margin float64, resamples int, seed uint64) float64 {
	if _, ok := nonZero(differences); !ok || len(differences) == 0 || !(margin > 0) || math.IsInf(margin, 1) {
		return math.NaN()
	}
	if len(differences) > exactPairs && resamples < 1 {
		return math.NaN()
	}
	above, below := make([]float64, len(differences)), make([]float64, len(differences))
	for i, d := range differences {
		above[i], below[i] = d+margin, d-margin
	}
	return max(aboveZero(above, 1, resamples, seed), aboveZero(below, -1, resamples, seed))
}
