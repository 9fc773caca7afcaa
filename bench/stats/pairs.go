package stats

import (
	"fmt"
	"math"
)

// MinPairs is the fewest pairs with which a sign-flip test can decide at the confidence: of n pairs the smallest
// two-sided p is 2/2^n, where all differences point the same way, and that must be at most 1-confidence. 5 pairs for
// 0.9, 6 for 0.95, 8 for 0.99; 3 pairs cannot go under p = 0.25. Where m comparisons are corrected for one another by
// Holm, ask for MinPairs(1-(1-confidence)/m). For a confidence outside of (0,1) no number is enough: math.MaxInt.
func MinPairs(confidence float64) int {
	if !(confidence > 0 && confidence < 1) {
		return math.MaxInt
	}
	// The subtraction is off by a rounding, which must not cost a pair.
	limit := (1 - confidence) * (1 + 1e-9)
	n := 1
	for math.Ldexp(2, -n) > limit {
		n++
	}
	return n
}

// TooFewPairsError says that no outcome of so few pairs could decide anything.
type TooFewPairsError struct {
	Pairs, Needed int
	Confidence    float64
}

func (e *TooFewPairsError) Error() string {
	return fmt.Sprintf("%d pairs cannot decide at a confidence of %g: even if all point the same way p is %.3g; measure at least %d pairs",
		e.Pairs, e.Confidence, math.Ldexp(2, -e.Pairs), e.Needed)
}
