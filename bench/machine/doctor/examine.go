package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"frontier/bench/machine"
	"frontier/internal/kernels"
)

// Options say what to look at.
type Options struct {
	Root     string // the folder that holds proc and sys: "/" but in tests
	CacheDir string // the folder whose disk is measured
	Engines  []Engine
	Getenv   func(string) string
	Quick    bool // measure for about two seconds, in place of seven to eleven
	// Lock takes the lock that keeps sweeps from measuring meanwhile, as machine.TryLock does. Where it is not ok a sweep
	// is measuring, and nothing is timed: that would spoil its figures as much as these.
	Lock func() (release func(), ok bool, err error)
}

// times are how long each part is measured.
type times struct {
	idle, one, all, stalls, bandwidth, block, disk time.Duration
	sleeps, pairs                                  int
	diskBytes                                      int64
}

func fullTimes() times {
	return times{
		idle: time.Second, one: 400 * time.Millisecond, all: time.Second, stalls: time.Second, bandwidth: 300 * time.Millisecond,
		block: 150 * time.Millisecond, disk: time.Second, sleeps: 100, pairs: 10, diskBytes: 32 << 20,
	}
}

func quickTimes() times {
	return times{
		idle: 250 * time.Millisecond, one: 50 * time.Millisecond, all: 250 * time.Millisecond, stalls: 200 * time.Millisecond,
		bandwidth: 50 * time.Millisecond, block: 20 * time.Millisecond, disk: 200 * time.Millisecond, sleeps: 20, pairs: 10, diskBytes: 4 << 20,
	}
}

// The experiment of the noise floor.
const (
	floorConfidence = 0.99
	floorSeed       = 1
)

// Examine looks at this machine, for seven to eleven seconds, or two if quick. It is an error if ctx ends, and where nothing can
// be measured at all: the clock stands still, or arithmetic comes out wrong. Parts that cannot be measured are in the
// report.
func Examine(ctx context.Context, o Options) (*Report, error) {
	t := fullTimes()
	if o.Quick {
		t = quickTimes()
	}
	return examine(ctx, o, t)
}

func examine(ctx context.Context, o Options, t times) (*Report, error) {
	r := &Report{
		Version: 1, Quick: o.Quick, Machine: machine.Read(), Settings: machine.ReadSettings(o.Root), Environment: map[string]string{},
		Kernels: kernels.Variant(), Workers: runtime.GOMAXPROCS(0), Engines: o.Engines,
	}
	for _, name := range environment() {
		if value := o.Getenv(name); value != "" {
			r.Environment[name] = value
		}
	}
	release, free, err := o.Lock()
	switch {
	case err != nil:
		r.NotMeasured = err.Error()
	case !free:
		r.NotMeasured = "a sweep is measuring on this machine, and timing something now would spoil its figures as well as these"
	default:
		defer release()
		if r.Measured, err = measure(ctx, o, t, r); err != nil {
			return nil, fmt.Errorf("examining this machine: %w", err)
		}
	}
	r.Advice = advice(r)
	return r, nil
}

func measure(ctx context.Context, o Options, t times, r *Report) (*Measured, error) {
	m := &Measured{Failed: []string{}}
	var err error
	if m.Timer, err = machine.MeasureTimer(); err != nil {
		return nil, err
	}
	if machine.Calibrate() <= 0 {
		return nil, errors.New("the arithmetic that calibrates measurements comes out wrong, or takes no time")
	}
	processes, sampler := machine.WatchProcesses(o.Root), machine.StartNoise()
	if err := pause(ctx, t.idle); err != nil {
		return nil, err
	}
	idle := sampler.Stop()
	m.Idle, m.Busiest = stretch(idle), processes.Busiest(idle.Elapsed, 5)

	if m.Sleep, err = machine.MeasureSleep(ctx, time.Millisecond, t.sleeps); err != nil {
		return nil, err
	}
	m.Frequency = machine.EstimateFrequency()
	if m.MultiplyAdd.One, err = machine.MeasureMultiplyAdd(ctx, 1, t.one); err != nil {
		return nil, err
	}
	sampler = machine.StartNoise()
	if m.MultiplyAdd.All, err = machine.MeasureMultiplyAdd(ctx, r.Workers, t.all); err != nil {
		return nil, err
	}
	m.Busy = stretch(sampler.Stop())
	if m.Stalls, err = machine.MeasureStalls(ctx, t.stalls); err != nil {
		return nil, err
	}
	if m.Bandwidth, err = bandwidth(ctx, r, t.bandwidth); err != nil {
		m.Failed = append(m.Failed, err.Error())
	}
	m.tryDisk(ctx, o.CacheDir, t)
	m.Floor, err = machine.MeasureFloor(ctx, machine.FloorOptions{Pairs: t.pairs, Block: t.block, Confidence: floorConfidence, Seed: floorSeed})
	if err != nil {
		return nil, err
	}
	return m, ctx.Err()
}

// tryDisk measures the disk, or says why it could not.
func (m *Measured) tryDisk(ctx context.Context, dir string, t times) {
	disk, err := machine.MeasureDisk(ctx, dir, t.diskBytes, t.disk)
	if err != nil {
		m.Failed = append(m.Failed, err.Error())
		return
	}
	m.Disk = &disk
}

// bandwidthBytes is four times the last cache, or 256 MiB if that is not known; within 64 MiB and 1 GiB.
func bandwidthBytes(s *machine.Settings) int64 {
	size := int64(256 << 20)
	if s.LastLevelCache != nil {
		size = 4 * *s.LastLevelCache
	}
	return min(max(size, 64<<20), 1<<30)
}

func bandwidth(ctx context.Context, r *Report, d time.Duration) (*BandwidthMeasured, error) {
	b := &BandwidthMeasured{Bytes: bandwidthBytes(&r.Settings)}
	if free := freeMemory(r); free != nil && b.Bytes > *free/4 {
		return nil, fmt.Errorf("memory bandwidth was not measured: it takes %s, and only %s are available", size(b.Bytes), size(*free))
	}
	var err error
	if b.One, err = machine.MeasureBandwidth(ctx, b.Bytes, 1, d); err != nil {
		return nil, err
	}
	if b.All, err = machine.MeasureBandwidth(ctx, b.Bytes, r.Workers, d); err != nil {
		return nil, err
	}
	return b, nil
}

// freeMemory is what can be had, by the system and by the limit of a control group; nil where neither is told.
func freeMemory(r *Report) *int64 {
	free := r.Settings.MemoryAvailable
	if limit := r.Machine.MemoryLimit; limit > 0 && (free == nil || limit < *free) {
		free = &limit
	}
	return free
}

func stretch(n machine.Noise) Stretch {
	return Stretch{
		Seconds: n.Elapsed.Seconds(), StealFraction: known(n.StealFraction), OtherFraction: known(n.OtherFraction),
		Switches:   float64(n.InvoluntarySwitches) / n.Elapsed.Seconds() / float64(runtime.NumCPU()),
		ClockRatio: known(n.ClockRatio),
	}
}

func known(f float64) *float64 {
	if math.IsNaN(f) {
		return nil
	}
	return &f
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
