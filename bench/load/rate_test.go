package load

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// below holds at rates up to limit.
func below(limit float64) func(context.Context, float64) (Trial, error) {
	return func(_ context.Context, rate float64) (Trial, error) { return Trial{Holds: rate <= limit}, nil }
}

func rates(f *FoundRate) (all []float64) {
	for _, trial := range f.Trials {
		all = append(all, trial.Rate)
	}
	return all
}

func TestFindRateBrackets(t *testing.T) {
	s := RateSearch{Start: 100, Lowest: 10, Highest: 1000, Resolution: 0.5, Trials: 100}
	for name, test := range map[string]struct {
		limit float64
		tried []float64
		best  float64 // 0: none
		fails float64
		end   RateEnd
	}{
		"up":        {500, []float64{100, 200, 400, 800, 800, math.Sqrt(400 * 800), math.Sqrt(400 * 800)}, 400, math.Sqrt(400 * 800), RateResolved},
		"down":      {60, []float64{100, 100, 50, math.Sqrt(5000), math.Sqrt(5000)}, 50, math.Sqrt(5000), RateResolved},
		"unlimited": {1e6, []float64{100, 200, 400, 800, 1000}, 1000, math.Inf(1), RateAboveHighest},
		"none":      {1, []float64{100, 100, 50, 50, 25, 25, 12.5, 12.5, 10, 10}, 0, 10, RateBelowLowest},
	} {
		f, err := FindRate(context.Background(), s, below(test.limit))
		if err != nil {
			t.Fatal(name, err)
		}
		best := 0.0
		if f.Best != nil {
			best = f.Best.Rate
		}
		if !slices.Equal(rates(f), test.tried) || best != test.best || f.Fails != test.fails || f.End != test.end {
			t.Errorf("%s: best %v, fails %v, %s, tried %v", name, best, f.Fails, f.End, rates(f))
		}
	}
}

// Whatever the start, the limit and the budget are, the limit is between the two ends, and these are as near as asked
// unless it is said why they are not.
func TestFindRateEncloses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lowest := rapid.Float64Range(MinRate, 1000).Draw(t, "lowest")
		s := RateSearch{
			Lowest: lowest, Highest: rapid.Float64Range(lowest, MaxRate).Draw(t, "highest"),
			Resolution: rapid.Float64Range(0.001, 1).Draw(t, "resolution"), Trials: rapid.IntRange(1, 60).Draw(t, "trials"),
		}
		s.Start = rapid.Float64Range(s.Lowest, s.Highest).Draw(t, "start")
		limit := rapid.Float64Range(s.Lowest/2, s.Highest*2).Draw(t, "limit")
		f, err := FindRate(context.Background(), s, below(limit))
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Trials) > s.Trials || (f.Best != nil && f.Best.Rate > limit) || f.Fails <= limit {
			t.Fatalf("limit %v: %+v", limit, f)
		}
		switch f.End {
		case RateResolved:
			if f.Fails > f.Best.Rate*(1+s.Resolution) {
				t.Fatalf("%v and %v are further apart than %v", f.Best.Rate, f.Fails, s.Resolution)
			}
		case RateAboveHighest:
			if f.Best.Rate != s.Highest {
				t.Fatalf("best %v, highest %v", f.Best.Rate, s.Highest)
			}
		case RateBelowLowest:
			if f.Best != nil || f.Fails != s.Lowest {
				t.Fatalf("%+v", f)
			}
		case RateOutOfBudget:
			// A trial is missing either for the next rate or for the second time at the last one.
			if len(f.Trials) != s.Trials {
				t.Fatalf("out of budget after %d trials of %d", len(f.Trials), s.Trials)
			}
		default:
			t.Fatalf("ended for %q", f.End)
		}
	})
}

func TestFindRateRepeatsFailures(t *testing.T) {
	s := RateSearch{Start: 100, Resolution: 0.5, Trials: 3}
	for name, test := range map[string]struct {
		holds []bool
		best  float64
		fails float64
	}{
		"a failure that does not repeat": {[]bool{false, true, true}, 200, math.Inf(1)},
		"a failure that repeats":         {[]bool{false, false, true}, 50, 100},
		"a failure that could not":       {[]bool{true, true, false}, 200, math.Inf(1)},
	} {
		n := 0
		f, err := FindRate(context.Background(), s, func(context.Context, float64) (Trial, error) {
			n++
			return Trial{Holds: test.holds[n-1]}, nil
		})
		if err != nil || n != 3 || f.End != RateOutOfBudget || f.Best.Rate != test.best || f.Fails != test.fails {
			t.Errorf("%s: %+v, best %+v, %v", name, f, f.Best, err)
		}
	}
}

func TestFindRateBudget(t *testing.T) {
	now := time.Duration(0)
	s := RateSearch{Start: 100, Resolution: 0.01, Trials: 1000, Budget: 10 * time.Second, Clock: func() time.Duration { return now }}
	f, err := FindRate(context.Background(), s, func(ctx context.Context, rate float64) (Trial, error) {
		now += 3 * time.Second
		return below(350)(ctx, rate)
	})
	if err != nil || f.End != RateOutOfBudget || !slices.Equal(rates(f), []float64{100, 200, 400, 400}) || f.Best.Rate != 200 || f.Fails != 400 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestFindRateKeepsWhatItFound(t *testing.T) {
	s := RateSearch{Start: 100, Resolution: 0.1, Trials: 100}
	broken := errors.New("the engine died")
	f, err := FindRate(context.Background(), s, func(ctx context.Context, rate float64) (Trial, error) {
		if rate > 300 {
			return Trial{}, broken
		}
		return below(1e6)(ctx, rate)
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "at 400 arrivals") || f.Best.Rate != 200 {
		t.Errorf("%+v, %v", f, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	f, err = FindRate(ctx, s, func(ctx context.Context, rate float64) (Trial, error) {
		cancel(broken)
		return below(1e6)(ctx, rate)
	})
	if !errors.Is(err, broken) || f.Best.Rate != 100 || len(f.Trials) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestFindRateValidates(t *testing.T) {
	good := RateSearch{Start: 100, Resolution: 0.1, Trials: 10}
	for name, change := range map[string]func(*RateSearch){
		"first rate":   func(s *RateSearch) { s.Start = 0 },
		"NaN":          func(s *RateSearch) { s.Start = math.NaN() },
		"rates from 5": func(s *RateSearch) { s.Lowest, s.Highest = 5, 4 },
		"resolution":   func(s *RateSearch) { s.Resolution = 0 },
		"trials":       func(s *RateSearch) { s.Trials = 0 },
		"budget":       func(s *RateSearch) { s.Budget = -1 },
	} {
		s := good
		change(&s)
		if _, err := FindRate(context.Background(), s, below(1)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// waitAtMost is the probability that an arrival waits at most t in a queue with Poisson arrivals at rate, and one server
// that takes d for each: Erlang's formula of 1909, whose terms alternate but stay small for t of a few d.
func waitAtMost(rate, d, t float64) float64 {
	sum := 0.0
	for k := 0; float64(k)*d <= t; k++ {
		x := rate * (t - float64(k)*d)
		logGamma, _ := math.Lgamma(float64(k) + 1)
		term := math.Exp(x - logGamma)
		if k > 0 {
			term *= math.Pow(-x, float64(k))
		}
		sum += term
	}
	return (1 - rate*d) * sum
}

// The highest rate at which the 99th percentile of a queue stays below a limit is known in closed form. The search finds
// it from blocks of the open loop.
func TestFindRateOfAQueue(t *testing.T) {
	const service, limit = time.Millisecond, 6 * time.Millisecond
	low, high := 1.0, 999.0
	for range 60 {
		mid := (low + high) / 2
		if waitAtMost(mid, service.Seconds(), (limit-service).Seconds()) >= 0.99 {
			low = mid
		} else {
			high = mid
		}
	}
	seed := uint64(0)
	f, err := FindRate(context.Background(), RateSearch{Start: 1000, Resolution: 0.03, Trials: 40}, func(_ context.Context, rate float64) (Trial, error) {
		seed++
		b := newVirtual(fixed(service)).open(t, Open{Rate: rate, Seed: seed, MinTime: 150 * time.Second})
		p99 := time.Duration(b.Histogram.ValueAtQuantile(99))
		return Trial{Holds: p99 <= limit && b.Dropped == 0, Block: b}, nil
	})
	if err != nil || f.End != RateResolved {
		t.Fatal(f, err)
	}
	// Within the resolution, and 3% for what 150 s leave open about a percentile.
	if f.Best.Rate < 0.94*low || f.Best.Rate > 1.03*low || f.Best.Block.Rate != f.Best.Rate {
		t.Errorf("found %v, fails at %v, want %v", f.Best.Rate, f.Fails, low)
	}
	t.Logf("found %.1f in %d trials, fails at %.1f; exact %.1f", f.Best.Rate, len(f.Trials), f.Fails, low)
}
