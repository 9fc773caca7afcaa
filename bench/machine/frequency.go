package machine

import "time"

const (
	frequencyRuns  = 15
	frequencySteps = 1 << 14
	chainLength    = 16 // operations a step of dependentChain, each waiting for the one before
)

// EstimateFrequency is the clock speed of a core in Hz while it is busy, as the best of a few runs of a chain of additions
// and exclusive ors, of which every processor that we know does one a cycle. It needs nothing of the operating system, so
// it also works where a hypervisor hides the clock. It takes about a millisecond.
func EstimateFrequency() float64 {
	best := 0.0
	for range frequencyRuns {
		begin := time.Now()
		a, b := dependentChain(1, 2, frequencySteps)
		took := time.Since(begin).Seconds()
		if (a != 0 || b != 0) && took > 0 { // looks at the answer, so that it has to be computed
			best = max(best, frequencySteps*chainLength/took)
		}
	}
	return best
}

// dependentChain does not add constants, because some processors add them up before they run.
//
//go:noinline
func dependentChain(a, b uint64, steps int) (uint64, uint64) {
	for range steps {
		a += b
		b ^= a
		a += b
		b ^= a
		a += b
		b ^= a
		a += b
		b ^= a
		a += b
		b ^= a
		a += b
		b ^= a
		a += b
		b ^= a
		a += b
		b ^= a
	}
	return a, b
}
