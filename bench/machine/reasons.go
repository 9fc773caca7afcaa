package machine

import (
	"math"
	"time"
)

// Reason names a disturbance that passes, so that the same stretch measured again may be free of it.
type Reason string

// The reasons to measure a stretch again.
const (
	Stolen    Reason = "steal"       // other virtual machines had the cores
	Crowded   Reason = "others"      // other processes had cores, and none was left idle for us
	Shifted   Reason = "calibration" // the same arithmetic took another time before and after
	Preempted Reason = "switches"    // threads of ours lost their core over and over
)

// The limits above which a stretch is worth measuring again. They are far above those of Warnings: a warning costs a
// reader a glance, a repetition costs the time of the stretch. A governor that keeps the clock low does not pass, so it
// is no reason.
const (
	noisySteal       = 0.05
	noisyOther       = 0.15
	noisyFull        = 0.9  // of the time of all cores, taken by us and others: below it some core was idle
	noisyCalibration = 0.15 // away from 1
	noisySwitches    = 500  // a second and core
	// tickSlack is what the counters of a core may be off by: a tick of 10 ms at either end of the stretch.
	tickSlack = 20 * time.Millisecond
)

// Noisy says whether something disturbed the stretch that makes it worth measuring again.
func (n Noise) Noisy() bool { return len(n.Reasons()) > 0 }

// Reasons are why the stretch should be measured again, in a fixed order; none means that it can stand. What this
// system does not tell is no reason. Shares of time must exceed their limit by the two ticks of 10 ms that the system's
// counters may be off by, so a stretch of 100 ms needs 25% of steal and one of 1 s needs 7%.
func (n Noise) Reasons() []Reason {
	var reasons []Reason
	coarse := n.coarse()
	if n.StealFraction > noisySteal+coarse {
		reasons = append(reasons, Stolen)
	}
	if n.OtherFraction > noisyOther+coarse && n.OtherFraction+n.OwnFraction > noisyFull {
		reasons = append(reasons, Crowded)
	}
	if math.Abs(n.CalibrationRatio-1) > noisyCalibration {
		reasons = append(reasons, Shifted)
	}
	if n.Elapsed > 0 && n.switchRate() > noisySwitches {
		reasons = append(reasons, Preempted)
	}
	return reasons
}
