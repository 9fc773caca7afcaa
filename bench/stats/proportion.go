package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// WilsonInterval is the confidence interval of a proportion of which hits of n were seen (Wilson, JASA 1927). Unlike
// the normal approximation it holds for small n and near 0 and 1. It is NaN unless 0 <= hits <= n, n > 0 and the
// confidence is within (0,1).
func WilsonInterval(hits, n int, confidence float64) (low, high float64) {
	if n < 1 || hits < 0 || hits > n || !(confidence > 0 && confidence < 1) {
		return math.NaN(), math.NaN()
	}
	z := normalQuantile(confidence)
	p, total := float64(hits)/float64(n), float64(n)
	centre := (p + z*z/(2*total)) / (1 + z*z/total)
	margin := z / (1 + z*z/total) * math.Sqrt(p*(1-p)/total+z*z/(4*total*total))
	// At the ends of the scale the ends are exact; rounding must not move them.
	low, high = max(centre-margin, 0), min(centre+margin, 1)
	if hits == 0 {
		low = 0
	}
	if hits == n {
		high = 1
	}
	return low, high
}

// MetricInterval is the confidence interval of the mean of a metric over questions: WilsonInterval if each has 0 or 1,
// otherwise BootstrapMean. A bootstrap of nothing but hits has no width, as if no other question could be missed; Wilson's
// interval then holds for any metric within [0,1], whose mean is at least the share of its ones. It is NaN for fewer than
// 2 values, and where those are.
func MetricInterval(values []float64, confidence float64, resamples int, seed uint64) (low, high float64) {
	hits := 0
	for _, v := range values {
		switch v {
		case 0:
		case 1:
			hits++
		default:
			return BootstrapMean(values, confidence, resamples, seed)
		}
	}
	if len(values) < 2 {
		return math.NaN(), math.NaN()
	}
	return WilsonInterval(hits, len(values), confidence)
}

// ProportionMargin is the half-width of the confidence interval that a proportion of about p will have over n
// observations, by the normal approximation: for planning how many are needed. For what was observed use
// WilsonInterval. It is NaN unless p is within [0,1], n > 0 and the confidence is within (0,1).
func ProportionMargin(p float64, n int, confidence float64) float64 {
	if !(p >= 0 && p <= 1) || n < 1 || !(confidence > 0 && confidence < 1) {
		return math.NaN()
	}
	return normalQuantile(confidence) * math.Sqrt(p*(1-p)/float64(n))
}

// McNemar is the exact two-sided p-value for a paired change of a binary outcome, of which gained went from miss to hit
// and lost from hit to miss (McNemar, Psychometrika 1947, with the binomial in place of chi squared). Without any
// change it is 1. It is NaN for negative counts.
func McNemar(gained, lost int) float64 {
	if gained < 0 || lost < 0 {
		return math.NaN()
	}
	n := gained + lost
	if n == 0 {
		return 1
	}
	return min(2*binomialCDF(min(gained, lost), n, 0.5), 1)
}

// normalQuantile is the z with the given probability between -z and z.
func normalQuantile(confidence float64) float64 {
	return distuv.UnitNormal.Quantile(1 - (1-confidence)/2)
}
