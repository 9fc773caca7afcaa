package machine

import (
	"math"
	"slices"
	"time"
)

const (
	calibrationRuns  = 9
	calibrationSteps = 1 << 17
)

// Calibrate times a fixed piece of arithmetic and gives the median of nine runs of a fraction of a millisecond each: four
// chains of multiply and add, each step waiting for the one before. It touches no memory and makes no calls, so it
// changes only with the clock speed and with what else runs on the core. It gives 0 should the arithmetic come out wrong.
func Calibrate() time.Duration {
	var runs [calibrationRuns]time.Duration
	for i := range runs {
		begin := time.Now()
		sum := multiplyAdd(calibrationSteps)
		runs[i] = time.Since(begin)
		if math.Abs(sum-4) > 1e-9 {
			return 0
		}
	}
	slices.Sort(runs[:])
	return runs[calibrationRuns/2]
}

// multiplyAdd brings four values closer to 1 with every step and returns their sum. It is not inlined so that it is
// not optimised away.
//
//go:noinline
func multiplyAdd(steps int) float64 {
	const keep, pull = 0.9990234375, 0.0009765625 // exact in binary, and they add up to 1
	a, b, c, d := 0.0, 0.5, 1.5, 2.0
	for range steps {
		a = a*keep + pull
		b = b*keep + pull
		c = c*keep + pull
		d = d*keep + pull
	}
	return a + b + c + d
}
