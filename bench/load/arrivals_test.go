package load

import (
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// due is the first n arrivals of a schedule.
func due(a Arrivals, rate float64, seed uint64, n int) []time.Duration {
	times := make([]time.Duration, 0, n)
	for at := range Schedule(a, rate, seed) {
		if len(times) == n {
			break
		}
		times = append(times, at)
	}
	return times
}

func TestConstantArrivals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(MinRate, MaxRate).Draw(t, "rate")
		for k, at := range due(Constant, rate, 1, 1000) {
			if want := float64(k) / rate * 1e9; math.Abs(float64(at)-want) > 0.5+1e-12*want {
				t.Fatalf("arrival %d is due after %v, want %v ns", k, at, want)
			}
		}
	})
}

// The gaps of Poisson arrivals are exponential and independent, so counts in windows have their mean as variance. All
// bounds are five standard errors or more.
func TestPoissonArrivals(t *testing.T) {
	const n = 200_000
	for _, rate := range []float64{MinRate, 400, 1e5} {
		times := due(Poisson, rate, 42, n)
		mean := 1e9 / rate
		last, previous := time.Duration(0), 0.0
		var sum, square, product float64
		var over [4]int
		windows := make([]float64, n/10)
		for _, at := range times {
			if at <= last {
				t.Fatalf("rate %v: an arrival after %v follows one after %v", rate, at, last)
			}
			gap := float64(at-last) / mean
			sum, square, product = sum+gap, square+gap*gap, product+(gap-1)*(previous-1)
			for i := range over {
				if gap > float64(i)+0.5 {
					over[i]++
				}
			}
			if w := int(float64(at) / mean / 10); w < len(windows) {
				windows[w]++
			}
			last, previous = at, gap
		}
		near := func(what string, got, want, tolerance float64) {
			t.Helper()
			if math.Abs(got-want) > tolerance {
				t.Errorf("rate %v: %s is %v, want %v within %v", rate, what, got, want, tolerance)
			}
		}
		root := math.Sqrt(n)
		near("the mean gap", sum/n, 1, 5/root)
		near("the mean square", square/n, 2, 5*math.Sqrt(20)/root)
		near("the covariance of neighbours", product/n, 0, 5/root)
		for i, count := range over {
			p := math.Exp(-float64(i) - 0.5)
			near("the share of long gaps", float64(count)/n, p, 5*math.Sqrt(p*(1-p))/root)
		}
		var variance float64
		full := windows[:len(windows)*9/10] // the last ones may be short of arrivals
		for _, count := range full {
			variance += (count - 10) * (count - 10) / float64(len(full))
		}
		near("the variance of counts in windows of 10", variance, 10, 5*10*math.Sqrt(2.1/float64(len(full))))
	}
}

func TestScheduleFollowsSeed(t *testing.T) {
	a := due(Poisson, 100, 1, 100)
	if !slices.Equal(a, due("", 100, 1, 100)) || slices.Equal(a, due(Poisson, 100, 2, 100)) {
		t.Error("the schedule does not follow the seed")
	}
}

// Clients that take arrivals at the same time take each once, and the very ones that a single client would take.
func TestScheduleIsShared(t *testing.T) {
	for _, a := range []Arrivals{Poisson, Constant} {
		const clients, each = 4, 5000
		s := newSchedule(a, 1e6, 3)
		var taken [clients][]time.Duration
		var wg sync.WaitGroup
		for i := range taken {
			wg.Go(func() {
				for range each {
					taken[i] = append(taken[i], s.take())
				}
				if !slices.IsSorted(taken[i]) {
					t.Errorf("%s: a client went back in time", a)
				}
			})
		}
		wg.Wait()
		all := slices.Concat(taken[:]...)
		slices.Sort(all)
		if !slices.Equal(all, due(a, 1e6, 3, clients*each)) {
			t.Errorf("%s: arrivals were lost or taken twice", a)
		}
	}
}
