package cell

import (
	"math"
	"time"

	"frontier/bench/machine"
)

// noiseWatch watches what disturbs a visit.
type noiseWatch struct{ sampler *machine.Sampler }

func startNoise() noiseWatch { return noiseWatch{machine.StartNoise()} }

func (w noiseWatch) stop() Noise {
	s := w.sampler.Stop()
	n := Noise{Warnings: s.Warnings(), Steal: known(s.StealFraction), Clock: known(s.ClockRatio), Calibration: s.Calibration}
	for _, reason := range s.Reasons() {
		n.Reasons = append(n.Reasons, string(reason))
	}
	if !math.IsNaN(s.CalibrationRatio) {
		n.After = time.Duration(float64(s.Calibration) * s.CalibrationRatio)
	}
	return n
}

// known is nil for what the system did not tell.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}
