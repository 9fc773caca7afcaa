package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// MeanInterval is the mean of values with its confidence interval by Student's t: for few values that are themselves
// sums over much, such as the answers a second in each round, and so nearly normal. The interval is NaN for fewer than
// 2 values or a confidence outside of (0,1), the mean for none.
func MeanInterval(values []float64, confidence float64) (mean, low, high float64) {
	n := float64(len(values))
	mean = sum(values) / n
	if n < 2 || !(confidence > 0 && confidence < 1) {
		return mean, math.NaN(), math.NaN()
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	margin := studentQuantile(1-(1-confidence)/2, len(values)-1) * math.Sqrt(squares/(n-1)/n)
	return mean, mean - margin, mean + margin
}

func studentQuantile(p float64, freedom int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(freedom)}.Quantile(p)
}
