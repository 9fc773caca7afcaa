package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// RateSearch looks for the highest rate of arrivals at which a service level holds.
type RateSearch struct {
	// Start is the first rate to try. The QPS of a closed loop is a good one: an open loop holds less, and rarely less
	// than half of it.
	Start float64
	// Lowest and Highest bound the rates that are tried. 0 means MinRate and MaxRate.
	Lowest, Highest float64
	// Resolution is how far apart, as a share of the lower one, the two rates may be between which the answer lies: 0.05
	// is 5%.
	Resolution float64
	// Trials is the most that are made, repetitions included; at least 1.
	Trials int
	// Budget is how long trials are begun; one that is under way is not cut off. 0 means no limit.
	Budget time.Duration
	Clock  Clock // of the budget; nil means Monotonic
}

// Trial is what one stretch of load at one rate showed.
type Trial struct {
	Rate float64
	// Holds says that the service level was kept: say p99 <= 20 ms, recall >= 0.95 and no arrival dropped.
	Holds bool
	Why   string // what was not kept, for messages
	Block *Block // what was measured; may be nil
}

// FoundRate is what FindRate came to.
type FoundRate struct {
	Best *Trial // the one of the highest rate that held; nil if none did
	// Fails is the lowest rate that failed, twice. It is above Best's, and infinite if no rate failed.
	Fails  float64
	Trials []Trial // all, in the order in which they were made
	End    RateEnd
}

// RateEnd is why a search ended.
type RateEnd string

const (
	// RateResolved: Best and Fails are as near to each other as asked.
	RateResolved RateEnd = "resolved"
	// RateAboveHighest: the highest rate allowed holds.
	RateAboveHighest RateEnd = "holds at the highest rate"
	// RateBelowLowest: the lowest rate allowed does not hold.
	RateBelowLowest RateEnd = "fails at the lowest rate"
	// RateOutOfBudget: trials or time were used up before. The answer lies between Best and Fails all the same.
	RateOutOfBudget RateEnd = "out of budget"
)

func (s *RateSearch) validate() error {
	switch {
	case !(s.Lowest >= MinRate && s.Lowest <= s.Highest && s.Highest <= MaxRate):
		return fmt.Errorf("rates from %v to %v: they must lie within %v to %v", s.Lowest, s.Highest, MinRate, MaxRate)
	case !(s.Start >= s.Lowest && s.Start <= s.Highest):
		return fmt.Errorf("the first rate, %v, is not within %v to %v", s.Start, s.Lowest, s.Highest)
	case !(s.Resolution > 0 && s.Resolution <= 1):
		return fmt.Errorf("a resolution of %v: it must be more than 0 and at most 1", s.Resolution)
	case s.Trials < 1:
		return fmt.Errorf("%d trials: there must be at least 1", s.Trials)
	case s.Budget < 0:
		return fmt.Errorf("a negative budget: %v", s.Budget)
	}
	return nil
}

// FindRate looks for the highest rate that holds. It doubles the rate, or halves it if that of the start fails, until
// it has one that holds and one that fails, and then tries the geometric mean of the two until they are near enough.
//
// A failed trial counts only if a second one at the same rate fails too, since a single stall of the machine fails any
// rate. A rate that holds half of the time is thus taken to hold three times of four. It is assumed that a service
// level that fails at one rate fails at all higher ones; where this is not so, the answer is one of the rates at which
// it begins to fail.
//
// If try fails or ctx is done, what was found until then is returned with the error.
func FindRate(ctx context.Context, s RateSearch, try func(ctx context.Context, rate float64) (Trial, error)) (*FoundRate, error) {
	if s.Lowest == 0 {
		s.Lowest = MinRate
	}
	if s.Highest == 0 {
		s.Highest = MaxRate
	}
	if s.Clock == nil {
		s.Clock = Monotonic()
	}
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("search for a rate: %w", err)
	}
	f := &finder{RateSearch: s, try: try, begin: s.Clock(), found: &FoundRate{Fails: math.Inf(1)}}
	err := f.search(ctx)
	if errors.Is(err, errBudget) {
		f.found.End, err = RateOutOfBudget, nil
	}
	if err != nil {
		err = fmt.Errorf("search for a rate: %w", err)
	}
	return f.found, err
}

var errBudget = errors.New("the budget is used up")

type finder struct {
	RateSearch
	try   func(context.Context, float64) (Trial, error)
	begin time.Duration
	found *FoundRate
}

func (f *finder) search(ctx context.Context) error {
	for rate := f.Start; ; rate = f.next() {
		holds, err := f.decide(ctx, rate)
		if err != nil {
			return err
		}
		switch {
		case holds && rate >= f.Highest:
			f.found.End = RateAboveHighest
			return nil
		case !holds && rate <= f.Lowest:
			f.found.End = RateBelowLowest
			return nil
		case f.found.Best != nil && f.found.Fails <= f.found.Best.Rate*(1+f.Resolution):
			f.found.End = RateResolved
			return nil
		}
	}
}

// next is the rate to try after that of the last trial was decided.
func (f *finder) next() float64 {
	switch {
	case f.found.Best == nil:
		return max(f.found.Fails/2, f.Lowest)
	case math.IsInf(f.found.Fails, 1):
		return min(f.found.Best.Rate*2, f.Highest)
	default:
		return math.Sqrt(f.found.Best.Rate * f.found.Fails)
	}
}

// decide tries a rate, and once more if it fails.
func (f *finder) decide(ctx context.Context, rate float64) (bool, error) {
	for range 2 {
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case len(f.found.Trials) >= f.Trials || (f.Budget > 0 && f.Clock()-f.begin >= f.Budget):
			return false, errBudget
		}
		trial, err := f.try(ctx, rate)
		if err != nil {
			return false, fmt.Errorf("at %.6g arrivals a second: %w", rate, err)
		}
		trial.Rate = rate
		f.found.Trials = append(f.found.Trials, trial)
		if trial.Holds {
			f.found.Best = &trial
			return true, nil
		}
	}
	f.found.Fails = rate
	return false, nil
}
