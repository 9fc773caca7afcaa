// Package doctor says how fit a machine is for measuring: how it is set up, how quiet it is, how fast its parts are, how
// small a difference can be seen on it, and what to change.
package doctor

import "frontier/bench/machine"

// Report is all that was found out. Numbers are in base units, shares in [0,1]; what cannot be known here is null.
type Report struct {
	Version     int                 `json:"version"` // of this form
	Quick       bool                `json:"quick"`   // measured for a short time, so all figures are coarser
	Machine     machine.Fingerprint `json:"machine"`
	Settings    machine.Settings    `json:"settings"`
	Environment map[string]string   `json:"environment"` // variables that are set and change speed
	Kernels     string              `json:"kernels"`     // variant of frontier's own kernels in use
	Workers     int                 `json:"workers"`     // that Go runs at once: what "all cores" means below
	Engines     []Engine            `json:"engines"`
	Measured    *Measured           `json:"measured"`     // null where nothing was measured ...
	NotMeasured string              `json:"not_measured"` // ... for this reason
	Advice      []Finding           `json:"advice"`       // the worst first
}

// Engine is an engine of this binary, or one that it could have.
type Engine struct {
	Name    string            `json:"name"`
	Version string            `json:"version"`
	Details map[string]string `json:"details"`
	Absent  string            `json:"absent"` // why this binary lacks it, and how to get it
}

// Measured is what was timed.
type Measured struct {
	Idle        Stretch            `json:"idle"` // while this process slept
	Busy        Stretch            `json:"busy"` // while it computed on all cores
	Busiest     []machine.Process  `json:"busiest"`
	Timer       machine.Timer      `json:"timer"`
	Sleep       machine.Sleep      `json:"sleep"`
	Stalls      machine.Stalls     `json:"stalls"`
	Frequency   float64            `json:"frequency_hertz"`               // estimated
	MultiplyAdd Rate               `json:"multiply_add_flops_per_second"` // of frontier's kernel for inner products
	Bandwidth   *BandwidthMeasured `json:"bandwidth"`
	Disk        *machine.Disk      `json:"disk"`
	Floor       machine.Floor      `json:"noise_floor"`
	Failed      []string           `json:"failed"` // parts that could not be measured, and why
}

// Rate is a rate on one core and on all.
type Rate struct {
	One float64 `json:"one_core"`
	All float64 `json:"all_cores"`
}

// BandwidthMeasured is memory bandwidth and the memory that it was measured on.
type BandwidthMeasured struct {
	Bytes int64             `json:"bytes"`
	One   machine.Bandwidth `json:"one_core"`
	All   machine.Bandwidth `json:"all_cores"`
}

// Stretch is what went on during some time.
type Stretch struct {
	Seconds       float64  `json:"seconds"`
	StealFraction *float64 `json:"steal_fraction"`
	OtherFraction *float64 `json:"other_fraction"` // that other processes took of the time of all cores
	Switches      float64  `json:"involuntary_switches_per_second_and_core"`
	ClockRatio    *float64 `json:"clock_ratio"` // clock speed over the highest
}

// Severity says how much a finding matters to measurements.
type Severity string

// The severities, the worst first.
const (
	Bad     Severity = "bad"     // measurements here would mislead
	Warn    Severity = "warn"    // they will be less precise or less fast than they could be
	Unknown Severity = "unknown" // this system does not tell
	OK      Severity = "ok"
)

// Finding is one thing that was looked at, and what to change about it.
type Finding struct {
	Severity Severity `json:"severity"`
	ID       string   `json:"id"`
	Text     string   `json:"finding"`
	Remedy   string   `json:"remedy"` // "" where nothing need be done
}

// environment are the variables that change how fast engines run.
func environment() []string {
	return []string{
		"GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", "KMP_AFFINITY", "LD_PRELOAD", "MALLOC_ARENA_MAX", "MKL_NUM_THREADS",
		"OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND", "OMP_WAIT_POLICY", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
		"OPENBLAS_NUM_THREADS", "OPENBLAS_VERBOSE",
	}
}
