package cell

import (
	"math"
	"time"

	"frontier/bench/machine"
)

// noise gathers what disturbed the visits to one point.
type noise struct {
	sampler          *machine.Sampler
	stolen           float64 // core-fraction seconds that the hypervisor took
	known            time.Duration
	fastest, slowest time.Duration // of the calibration kernel
	clock            *float64      // the lowest that was read
	warnings         []string
}

func (n *noise) start() { n.sampler = machine.StartNoise() }

func (n *noise) stop() {
	s := n.sampler.Stop()
	if !math.IsNaN(s.StealFraction) {
		n.stolen += s.StealFraction * s.Elapsed.Seconds()
		n.known += s.Elapsed
	}
	if !math.IsNaN(s.ClockRatio) && (n.clock == nil || s.ClockRatio < *n.clock) {
		n.clock = &s.ClockRatio
	}
	n.calibrated(s.Calibration)
	if !math.IsNaN(s.CalibrationRatio) {
		n.calibrated(time.Duration(float64(s.Calibration) * s.CalibrationRatio))
	}
	if w := s.Warnings(); len(w) > 0 {
		n.warnings = w // those of the last noisy visit stand for all
	}
}

func (n *noise) calibrated(took time.Duration) {
	if took <= 0 {
		return
	}
	if n.fastest == 0 || took < n.fastest {
		n.fastest = took
	}
	n.slowest = max(n.slowest, took)
}

// steal is the share of processor time that the machine took away, over all visits; nil where it cannot be read.
func (n *noise) steal() *float64 {
	if n.known == 0 {
		return nil
	}
	share := n.stolen / n.known.Seconds()
	return &share
}

// spread is how much slower the calibration kernel was at its slowest than at its fastest; nil if it never ran.
func (n *noise) spread() *float64 {
	if n.fastest == 0 {
		return nil
	}
	s := float64(n.slowest)/float64(n.fastest) - 1
	return &s
}
