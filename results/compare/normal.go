package compare

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// normalQuantile is the z with the given probability between -z and z.
func normalQuantile(confidence float64) float64 {
	return distuv.UnitNormal.Quantile(1 - (1-confidence)/2)
}

// normalTails is the probability beyond -z and z.
func normalTails(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// studentTails is the two-sided p-value of the mean of values against 0 by Student's t. Values that are all equal, and
// not 0, give 0; a single one gives 1.
func studentTails(values []float64, against float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return 1
	}
	mean := mean(values) - against
	squares := 0.0
	for _, v := range values {
		d := v - against - mean
		squares += d * d
	}
	if mean == 0 {
		return 1
	}
	if squares <= 1e-24*n { // all equal, but for rounding
		return 0
	}
	t := mean / math.Sqrt(squares/(n-1)/n)
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Survival(math.Abs(t))
}

// exactProportion is the interval of a proportion of which hits of n were seen that covers it with at least the
// confidence, whatever it is (Clopper and Pearson, Biometrika 1934). A gate wants no interval that is sometimes too
// narrow, as Wilson's is.
func exactProportion(hits, n int, confidence float64) (low, high float64) {
	tail := (1 - confidence) / 2
	low, high = 0, 1
	if hits > 0 {
		low = mathext.InvRegIncBeta(float64(hits), float64(n-hits+1), tail)
	}
	if hits < n {
		high = mathext.InvRegIncBeta(float64(hits+1), float64(n-hits), 1-tail)
	}
	return low, high
}

// proportionTails is the two-sided p-value of hits of n against the proportion p that belongs to exactProportion: twice
// the smaller tail of the binomial distribution.
func proportionTails(hits, n int, p float64) float64 {
	upTo := func(k int) float64 {
		switch {
		case k < 0 || p >= 1 && k < n:
			return 0
		case k >= n || p <= 0:
			return 1
		}
		return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
	}
	return min(1, 2*min(upTo(hits), 1-upTo(hits-1)))
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
