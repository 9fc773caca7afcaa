package machine

import "math"

func readCounters() counters {
	c := counters{steal: math.NaN(), busy: math.NaN(), total: math.NaN()}
	c.own, c.switches = ownUsage()
	return c
}

// ClockRatio is NaN: macOS does not tell the clock speed.
func ClockRatio() float64 { return math.NaN() }
