package embedders

import "math"

// idf is the inverse document frequency of a term that df of n texts have, as in BM25: positive for every df up to n.
func idf(n, df int) float64 {
	return math.Log1p((float64(n) - float64(df) + 0.5) / (float64(df) + 0.5))
}

// damped is the weight of a term that a text has tf times; the tenth time says less than the second.
func damped(tf int) float64 { return 1 + math.Log(float64(tf)) }

// normalize scales v to unit length; the zero vector stays.
func normalize(v []float32) {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}
