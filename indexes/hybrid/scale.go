package hybrid

import (
	"fmt"
	"math"

	"frontier/indexes"
)

// scale makes the scores of one list comparable with those of another.
type scale struct {
	zero, unit float64 // a score becomes (score-zero)/unit; of a list of equal scores unit is 0, and equal
	equal      float64
	missing    float64 // what a row gets that the list does not have
}

func (s scale) of(score float32) float64 {
	if s.unit == 0 {
		return s.equal
	}
	return (float64(score) - s.zero) / s.unit
}

// scaleOf finds the scale of a list. See Convex for what is missing, and for lists of equal scores.
func scaleOf(norm string, list []indexes.Hit) (scale, error) {
	if len(list) == 0 {
		return scale{}, nil
	}
	low, high, sum := math.Inf(1), math.Inf(-1), 0.0
	for _, hit := range list {
		v := float64(hit.Score)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return scale{}, fmt.Errorf("row %d has the score %v, by which a list cannot be scaled: use rrf, which looks at ranks alone", hit.ID, v)
		}
		low, high, sum = min(low, v), max(high, v), sum+v
	}
	if norm == NormMinMax {
		return scale{zero: low, unit: high - low, equal: 1}, nil
	}
	if low == high {
		return scale{missing: -1}, nil
	}
	mean := sum / float64(len(list))
	squares := 0.0
	for _, hit := range list {
		d := float64(hit.Score) - mean
		squares += d * d
	}
	deviation := math.Sqrt(squares / float64(len(list)))
	return scale{zero: mean, unit: deviation, missing: (low - mean) / deviation}, nil
}
