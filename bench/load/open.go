package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"time"
)

// Open is an open loop: queries arrive by a schedule, whether or not those before them were answered. Arrivals wait
// in one queue, first come, first served, until a client is free.
type Open struct {
	Rate     float64  // arrivals a second, from MinRate to MaxRate
	Arrivals Arrivals // empty means Poisson
	Seed     uint64   // of the schedule; blocks of one point that are to be independent need different ones
	Clients  int      // at least 1: at most so many queries are under way at once
	// MaxWait is how long an arrival waits for a client. One that has waited longer is dropped: it is not sent, and is
	// counted in Block.Dropped and among the latencies. 0 means DefaultMaxWait.
	MaxWait time.Duration
	// Slack is how long after its schedule an arrival must be sent not to count as late. 0 means DefaultSlack.
	Slack time.Duration

	// Order is the queries to send, from the first to the last and over again. An arrival gets its query when it is
	// sent, so that no query is left out because an arrival was dropped.
	Order []int
	Start int // position in Order of the first recorded query: 0, or Next of the block before
	// Warmup is how long arrivals are not recorded. They come at the same rate, so that the queue is as long as it
	// will be when recording begins. They are the queries before Start in Order, the nearest first.
	Warmup time.Duration
	// MinTime is for how long arrivals are recorded. All that are due before its end are sent or dropped, and no other
	// ones unless EachOnce asks for more.
	MinTime time.Duration
	// MaxTime, if not 0, is when the schedule ends even if EachOnce is not satisfied.
	MaxTime time.Duration
	// EachOnce lets arrivals come until every query of Order was sent once after warm-up.
	EachOnce bool
	// Timeout, if not 0, is the longest latency of an answer that counts, from its scheduled arrival. See Closed.Timeout.
	Timeout time.Duration
	Keeper  *Keeper // says whose answers are kept already; nil keeps none

	Clock Clock // nil means Monotonic
	Wait  Wait  // waits by Clock, and is nil if and only if that is
}

const (
	// DefaultMaxWait is longer than a stall of one or two seconds, which then shows as latency and not as drops, and is
	// how long people keep their attention on a task that does not answer. Under overload a block ends about this long
	// after its schedule.
	DefaultMaxWait = 10 * time.Second
	// DefaultSlack is more than the wake-up of a client takes on a machine that is not busy.
	DefaultSlack = time.Millisecond
)

// validate refuses what cannot run, before any query is sent.
func (o *Open) validate() error {
	switch {
	case !(o.Rate >= MinRate && o.Rate <= MaxRate):
		return fmt.Errorf("%v arrivals a second: the rate must be from %v to %v", o.Rate, MinRate, MaxRate)
	case o.Arrivals != "" && o.Arrivals != Poisson && o.Arrivals != Constant:
		return fmt.Errorf("arrivals are %q: they can be %q or %q", o.Arrivals, Poisson, Constant)
	case o.MaxWait < 0 || o.Slack < 0:
		return fmt.Errorf("a negative time: wait at most %v, slack %v", o.MaxWait, o.Slack)
	case (o.Clock == nil) != (o.Wait == nil):
		return errors.New("a clock and a way to wait by it belong together: only one of them is given")
	}
	rest := Closed{
		Clients: o.Clients, Order: o.Order, Warmup: o.Warmup, MinTime: o.MinTime, MaxTime: o.MaxTime,
		EachOnce: o.EachOnce, Timeout: o.Timeout, Keeper: o.Keeper,
	}
	return rest.validate()
}

// RunOpen sends load to t as o says and returns what it measured. Latency counts from the time at which an arrival was
// due, so that a stall is felt by all that arrive during it, and not only by those that were under way (Tene, "How NOT
// to Measure Latency"). Service time, from the sending, is in Block.Service.
//
// Nothing that was due is left out. A dropped arrival counts as a sample with the longest latency or wait that its
// block saw, so that no percentile looks better for it. A client is busy until it has recorded and kept an answer;
// what that delays counts as latency.
//
// What is said of RunClosed about threads, allocation, ctx and panics holds here too.
func RunOpen(ctx context.Context, t Target, o Open) (*Block, error) {
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("open-loop load: %w", err)
	}
	sleepers := make([]*sleeper, o.Clients)
	for i := range sleepers {
		if o.Wait != nil {
			continue
		}
		var err error
		if sleepers[i], err = newSleeper(); err != nil {
			return nil, fmt.Errorf("open-loop load: client %d of %d: %w", i+1, o.Clients, err)
		}
		defer sleepers[i].close()
	}
	b := o.run(ctx, t, sleepers)
	if ctx.Err() != nil {
		return b, fmt.Errorf("open-loop load: stopped after %d arrivals: %w", b.Samples, context.Cause(ctx))
	}
	return b, nil
}

// The first arrival is due this long after the start, when the clients are up.
const lead = time.Millisecond

// run is RunOpen for a valid o, with a sleeper for each client unless o brings its own way to wait.
func (o Open) run(ctx context.Context, t Target, sleepers []*sleeper) *Block {
	if o.Clock == nil {
		o.Clock = Monotonic()
	}
	if o.Arrivals == "" {
		o.Arrivals = Poisson
	}
	if o.MaxWait == 0 {
		o.MaxWait = DefaultMaxWait
	}
	if o.Slack == 0 {
		o.Slack = DefaultSlack
	}
	s := &openShared{
		Open: o, target: t, schedule: newSchedule(o.Arrivals, o.Rate, o.Seed), late: timeoutError(o.Timeout),
		start: mod(o.Start, len(o.Order)), least: o.Warmup + o.MinTime, cores: int64(runtime.GOMAXPROCS(0)),
	}
	defer context.AfterFunc(ctx, func() { s.stop.Store(true) })()
	if ctx.Err() != nil {
		s.stop.Store(true)
	}
	clients := make([]openClient, o.Clients)
	for i := range clients {
		clients[i] = openClient{
			openShared: s, id: i, sleeper: sleepers[i], exit: math.MaxInt64,
			block: Block{Histogram: newHistogram(), Service: newHistogram()},
		}
	}
	s.zero = o.Clock() + lead
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(clients[i].serve)
	}
	wg.Wait()
	return s.sum(clients)
}

// sum is the block of all clients.
func (s *openShared) sum(clients []openClient) *Block {
	b := &Block{Histogram: newHistogram(), Service: newHistogram(), Clients: s.Clients, Rate: s.Rate, Arrivals: s.Arrivals}
	var worst, exit, last, end time.Duration = 0, math.MaxInt64, 0, 0
	for i := range clients {
		c := &clients[i]
		// A client's histogram has the geometry of the sum's, so nothing can be dropped.
		_ = b.add(&c.block)
		worst, exit = max(worst, c.block.Longest, c.dropped), min(exit, c.exit)
		last, end = max(last, c.last), max(end, c.end)
	}
	sent := b.Samples
	if b.Dropped > 0 {
		b.count(worst, b.Dropped)
	}

	// The block is as long as its schedule, or longer if the last answer came later. A schedule that went on beyond its
	// least time is as long as until the first arrival that was not taken.
	begin, until := s.zero+s.Warmup, s.least
	if last >= s.least {
		until = exit
	}
	switch {
	case b.Samples == 0:
	case s.stop.Load():
		b.Wall = end - begin
	default:
		b.Wall = max(end, s.zero+until) - begin
	}
	b.Wall = max(b.Wall, 0)
	b.Next = mod(s.start+int(sent), len(s.Order))
	b.Covered = sent >= int64(len(s.Order))
	return b
}
