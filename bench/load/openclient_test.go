package load

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// Clients watch the clock only on cores that would be idle.
func TestClientsShareCores(t *testing.T) {
	s := &openShared{cores: 2}
	a, b, c := &openClient{openShared: s}, &openClient{openShared: s}, &openClient{openShared: s}
	a.sending() // sends at once
	if !b.enter() || c.enter() {
		t.Error("of two cores one is in use: one client can watch the clock, and not two")
	}
	b.sending() // sends what it watched for, and still is on one core
	if c.enter() || s.active.Load() != 2 {
		t.Errorf("%d are active", s.active.Load())
	}
	c.sending() // sends all the same, since its arrival is due
	if s.active.Load() != 3 {
		t.Errorf("%d are active", s.active.Load())
	}
	a.answered()
	b.answered()
	if !a.enter() || b.enter() {
		t.Error("one core is in use, and one client watches")
	}
	a.answered()
	c.answered()
	if s.active.Load() != 0 {
		t.Errorf("%d are active, and none should be", s.active.Load())
	}
}

// counting counts what reaches it, from any number of clients.
type counting struct {
	sent   [500]atomic.Int64
	kept   atomic.Int64
	within atomic.Int64
	most   atomic.Int64
}

func (c *counting) Do(_, query int) error {
	within := c.within.Add(1)
	for most := c.most.Load(); within > most && !c.most.CompareAndSwap(most, within); most = c.most.Load() {
	}
	c.sent[query].Add(1)
	c.within.Add(-1)
	return nil
}

func (c *counting) Keep(int, int, time.Duration, error) { c.kept.Add(1) }

// Clients on the clock of the machine: whatever they do to each other, every arrival of the schedule is sent or
// dropped once, queries are sent equally often give or take one, and each first answer is kept once.
func TestOpenManyClients(t *testing.T) {
	target, keeper := &counting{}, NewKeeper(500)
	o := Open{Rate: 50_000, Seed: 9, Clients: 4, Order: Order(500, 1), MinTime: 20 * time.Millisecond, EachOnce: true, Keeper: keeper, MaxWait: time.Hour}
	b, err := RunOpen(context.Background(), target, o)
	if err != nil {
		t.Fatal(err)
	}
	var planned int64
	for at := range Schedule(o.Arrivals, o.Rate, o.Seed) {
		if at >= o.MinTime {
			break
		}
		planned++
	}
	if b.Samples != planned || b.Dropped != 0 || keeper.Left() != 0 || target.kept.Load() != 500 || target.most.Load() > 4 {
		t.Errorf("%d samples, want %d; %d left, %d kept, %d at once", b.Samples, planned, keeper.Left(), target.kept.Load(), target.most.Load())
	}
	for q := range target.sent {
		if n, least := target.sent[q].Load(), planned/500; n < least || n > least+1 {
			t.Errorf("query %d was sent %d times, want %d or one more", q, n, least)
		}
	}
	if b.Wall < o.MinTime || b.Total < b.ServiceTotal || b.Waited > b.Samples {
		t.Errorf("%+v", b)
	}
}

// Clients that wait for an arrival beyond the least time when the last query is sent do not go past it.
func TestOpenEachOnceIsOnePass(t *testing.T) {
	order := Order(50, 3)
	for seed := range uint64(100) {
		b, err := RunOpen(context.Background(), nothing{}, Open{Rate: 1e6, Seed: seed, Clients: 4, Order: order, EachOnce: true, MaxWait: time.Hour})
		if err != nil || b.Samples != 50 || b.Next != 0 || !b.Covered || b.Wall <= 0 {
			t.Fatalf("%+v, %v", b, err)
		}
	}
}

func TestOverheadOpen(t *testing.T) {
	if got := OverheadOpen(); got <= 0 || got > time.Millisecond {
		t.Errorf("an overhead of %v cannot be right", got)
	}
}

// At a low rate clients sleep, wake and sleep again with the timers of the machine.
func TestOpenSleeps(t *testing.T) {
	b, err := RunOpen(context.Background(), nothing{}, Open{Rate: 100, Arrivals: Constant, Clients: 3, Order: []int{0}, MinTime: 100 * time.Millisecond, MaxWait: time.Hour})
	if err != nil || b.Samples != 10 || b.Wall < 100*time.Millisecond {
		t.Errorf("%+v, %v", b, err)
	}
}

// Ten times the arrivals must not cost one allocation more, waited for or not.
func TestOpenAllocatesNothingPerQuery(t *testing.T) {
	for _, arrivals := range []Arrivals{Poisson, Constant} {
		run := func(queries int) float64 {
			order, keeper := Order(queries, 1), NewKeeper(queries)
			return testing.AllocsPerRun(3, func() {
				b, err := RunOpen(context.Background(), nothing{}, Open{Rate: 100_000, Arrivals: arrivals, Clients: 1, Order: order, EachOnce: true, Keeper: keeper, Timeout: time.Nanosecond, MaxWait: time.Hour})
				if err != nil || b.Samples != int64(queries) {
					t.Fatal(b, err)
				}
			})
		}
		if few, many := run(200), run(5000); many-few > 2 {
			t.Errorf("%s: %v allocations for 200 queries and %v for 5,000", arrivals, few, many)
		}
	}
	c, err := newSleeper()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if n := testing.AllocsPerRun(20, func() { c.sleep(10 * time.Microsecond) }); n != 0 {
		t.Errorf("%v allocations for a sleep", n)
	}
}
