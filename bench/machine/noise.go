package machine

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Noise is what disturbed a stretch of time. What this system does not tell is NaN.
type Noise struct {
	Elapsed time.Duration
	// StealFraction is the share of the time of all cores that the hypervisor gave to other virtual machines, in [0,1].
	// Linux only. It is counted in ticks of 10 ms, so short stretches are coarse; NaN if no tick went by.
	StealFraction float64
	// OtherFraction is the share of the time of all cores that other processes took. Linux only, coarse like the above.
	OtherFraction float64
	// OwnFraction is the share of the time of all cores that this process took, its children left out. NaN where no tick
	// went by.
	OwnFraction float64
	// CalibrationRatio is the time of Calibrate after the stretch over that before it: 1 is an unchanged machine, more
	// is a slower one.
	CalibrationRatio float64
	Calibration      time.Duration // before the stretch, to compare with other stretches
	// InvoluntarySwitches counts how often a thread of this process lost its core though it had work to do.
	InvoluntarySwitches int64
	// ClockRatio is ClockRatio() at the beginning or the end of the stretch, whichever was lower.
	ClockRatio float64
}

// The limits above which Warnings speaks.
const (
	quietSteal       = 0.01
	quietOther       = 0.05
	quietCalibration = 0.05 // away from 1
	quietSwitches    = 100  // a second and core
	quietClock       = 0.9
)

// Warnings says what was too noisy and what to do about it; none means that the stretch was quiet as far as is known.
// The figures are in n: a warning names only the limit, so that the same trouble in many stretches is one warning. Shares
// of time must exceed theirs by what the counters may be off by; see Reasons.
func (n Noise) Warnings() []string {
	var w []string
	coarse := n.coarse()
	if n.StealFraction > quietSteal+coarse {
		w = append(w, fmt.Sprintf("other virtual machines took over %v%% of the CPU time: measure again, or on a dedicated machine", 100*quietSteal))
	}
	if n.OtherFraction > quietOther+coarse {
		w = append(w, fmt.Sprintf("other processes took over %v%% of the CPU time: stop them and measure again", 100*quietOther))
	}
	if math.Abs(n.CalibrationRatio-1) > quietCalibration {
		w = append(w, fmt.Sprintf("the same arithmetic took over %v%% more or less time after the measurement than before: let the machine cool down or fix its clock speed, and measure again", 100*quietCalibration))
	}
	if n.switchRate() > quietSwitches {
		w = append(w, fmt.Sprintf("threads lost their core over %d times a second and core: use fewer clients or stop other processes", quietSwitches))
	}
	if n.ClockRatio < quietClock {
		w = append(w, fmt.Sprintf("the cores run at less than %v%% of their highest clock speed: set the governor to performance", 100*quietClock))
	}
	return w
}

// coarse is the share of the stretch that the system's counters may be off by.
func (n Noise) coarse() float64 {
	if n.Elapsed <= 0 {
		return math.Inf(1) // a stretch without length shows nothing
	}
	return tickSlack.Seconds() / n.Elapsed.Seconds()
}

// switchRate is involuntary switches a second and core.
func (n Noise) switchRate() float64 {
	return float64(n.InvoluntarySwitches) / n.Elapsed.Seconds() / float64(runtime.NumCPU())
}

// Sampler watches one stretch of time.
type Sampler struct {
	source      noiseSource
	calibration time.Duration
	clock       float64
	before      counters
}

// counters are sums since some earlier instant.
type counters struct {
	now                time.Duration
	steal, busy, total float64       // seconds of all cores; NaN where unknown
	own                time.Duration // CPU time of this process
	switches           int64
}

// noiseSource is where a Sampler looks; tests pass their own.
type noiseSource struct {
	calibrate func() time.Duration
	counters  func() counters
	clock     func() float64
}

// StartNoise begins a stretch, after calibrations of a few milliseconds that are not part of it.
func StartNoise() *Sampler {
	start := time.Now()
	return startNoise(noiseSource{
		calibrate: Calibrate,
		counters: func() counters {
			c := readCounters()
			c.now = time.Since(start)
			return c
		},
		clock: ClockRatio,
	})
}

func startNoise(source noiseSource) *Sampler {
	s := &Sampler{source: source, calibration: settled(source.calibrate)}
	s.clock = source.clock()
	s.before = source.counters()
	return s
}

// settled calibrates until two results in a row agree, at most mostSettling times, and gives the last: a core that was
// idle is slower by a third for the first milliseconds, measured on a virtual machine.
func settled(calibrate func() time.Duration) time.Duration {
	const mostSettling, agree = 8, 0.03
	last := calibrate()
	for range mostSettling - 1 {
		before := last
		last = calibrate()
		if math.Abs(float64(last-before)) <= agree*float64(before) {
			break
		}
	}
	return last
}

// Stop ends the stretch, calibrates again and says what went on in between. It may be called again for a longer one.
func (s *Sampler) Stop() Noise {
	clock := min(s.clock, s.source.clock()) // NaN if either is
	after := s.source.counters()
	n := Noise{
		Elapsed:             after.now - s.before.now,
		StealFraction:       math.NaN(),
		OtherFraction:       math.NaN(),
		OwnFraction:         math.NaN(),
		CalibrationRatio:    math.NaN(),
		Calibration:         s.calibration,
		InvoluntarySwitches: after.switches - s.before.switches,
		ClockRatio:          clock,
	}
	if total := after.total - s.before.total; total > 0 {
		n.StealFraction = max(0, after.steal-s.before.steal) / total
		own := (after.own - s.before.own).Seconds()
		n.OwnFraction = own / total
		// Ticks are coarser than the process's own time, so the difference may come out below zero.
		n.OtherFraction = max(0, after.busy-s.before.busy-own) / total
	}
	if s.calibration > 0 {
		n.CalibrationRatio = float64(s.source.calibrate()) / float64(s.calibration)
	}
	return n
}

// ownUsage is the CPU time and the involuntary context switches of this process.
func ownUsage() (used time.Duration, switches int64) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, 0 // cannot happen: the arguments are valid
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), int64(u.Nivcsw)
}
