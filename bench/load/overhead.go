package load

import (
	"context"
	"slices"
	"time"
)

// Overhead is what the harness itself takes per query: the wall time per query of one client whose target does
// nothing, the median of five runs of 4 ms. Of a latency it is an upper bound of the error: recording and taking the
// next query are within it, but not within the time of a query.
func Overhead() time.Duration { return overhead(Monotonic()) }

func overhead(clock Clock) time.Duration {
	var runs [5]time.Duration
	order := Order(1024, 1)
	for i := range runs {
		c := Closed{
			Clients: 1, Order: order, Warmup: time.Millisecond, MinTime: 4 * time.Millisecond,
			Keeper: NewKeeper(len(order)), Clock: clock,
		}
		b := c.run(context.Background(), nothing{})
		runs[i] = b.Wall / time.Duration(max(b.Samples, 1))
	}
	slices.Sort(runs[:])
	return runs[len(runs)/2]
}

// OverheadOpen is the same for an open loop whose arrivals are all due, so that none is waited for. What waiting adds is
// in Block.Overslept.
func OverheadOpen() time.Duration { return overheadOpen(Monotonic()) }

func overheadOpen(clock Clock) time.Duration {
	var runs [5]time.Duration
	order := Order(1024, 1)
	for i := range runs {
		o := Open{
			Rate: MaxRate, Clients: 1, Order: order, Warmup: time.Millisecond, MinTime: 4 * time.Millisecond,
			MaxWait: time.Hour, Keeper: NewKeeper(len(order)), Clock: clock,
			Wait: func(until time.Duration) {
				for clock() < until {
				}
			},
		}
		b := o.run(context.Background(), nothing{}, make([]*sleeper, 1))
		runs[i] = b.Wall / time.Duration(max(b.Samples, 1))
	}
	slices.Sort(runs[:])
	return runs[len(runs)/2]
}

// nothing is the target that answers at once.
type nothing struct{}

func (nothing) Do(int, int) error                   { return nil }
func (nothing) Keep(int, int, time.Duration, error) {}
