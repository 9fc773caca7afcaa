package load

import (
	"iter"
	"math"
	"sync/atomic"
	"time"

	"frontier/internal/splitmix"
)

// Arrivals is how the arrivals of an open loop are spread over time.
type Arrivals string

const (
	// Poisson arrivals come independently of each other, as from very many users: their gaps are exponential. An empty
	// Arrivals means it.
	Poisson Arrivals = "poisson"
	// Constant arrivals have equal gaps, as from a timer. They hardly ever meet, so queues are shorter than users make them.
	Constant Arrivals = "constant"
)

// The rates that a schedule can have, in arrivals a second: gaps are kept in whole nanoseconds.
const (
	MinRate = 1e-3
	MaxRate = 1e7
)

// Schedule is when the arrivals of an open loop of this rate and seed are due, counted from its start: the very times
// that RunOpen uses, so that what it measured can be held against a computation. It has no end.
func Schedule(a Arrivals, rate float64, seed uint64) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		s := newSchedule(a, rate, seed)
		for yield(s.take()) {
		}
	}
}

// schedule hands out arrivals to any number of clients, each arrival once, in order, without a lock.
type schedule struct {
	constant bool
	gap      float64 // mean, in nanoseconds
	seed     uint64

	_ [64]byte // state is written for every arrival: it gets a cache line of its own
	// state is the number of arrivals that were taken if they are constant, else when the last one was due.
	state atomic.Int64
	_     [64]byte
}

func newSchedule(a Arrivals, rate float64, seed uint64) *schedule {
	return &schedule{constant: a == Constant, gap: 1e9 / rate, seed: splitmix.Mix(seed)}
}

// take is when the next arrival is due.
func (s *schedule) take() time.Duration {
	if s.constant {
		// A multiple and not a sum, which would add up what is rounded off.
		return time.Duration(math.Round(float64(s.state.Add(1)-1) * s.gap))
	}
	for {
		last := s.state.Load()
		if due := last + s.after(last); s.state.CompareAndSwap(last, due) {
			return time.Duration(due)
		}
	}
}

// after is the gap that follows an arrival. It is random by a hash of the arrival's own time, which no other arrival
// shares. So the time of the last arrival is all the state that there is, and one atomic word holds it.
func (s *schedule) after(last int64) int64 {
	uniform := (float64(splitmix.Mix(s.seed+uint64(last))>>11) + 0.5) * 0x1p-53 // in (0, 1)
	return max(int64(math.Round(-math.Log(uniform)*s.gap)), 1)
}
