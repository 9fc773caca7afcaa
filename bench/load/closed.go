package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Closed is a closed loop: a number of clients, each of which sends its next query as soon as its last was answered.
type Closed struct {
	Clients int // at least 1
	// Order is the queries to send, from the first to the last and over again, whichever client is free taking the next.
	Order []int
	Start int // position in Order of the first query: 0, or Next of the block before
	// Warmup is how long to send queries before anything is recorded; the recorded ones go on where the warm-up stopped.
	Warmup time.Duration
	// MinTime is how long to send recorded queries. No query is sent after it, unless EachOnce asks for more.
	MinTime time.Duration
	// MaxTime, if not 0, is when to stop even if EachOnce is not satisfied. A query that is under way is never cut off.
	MaxTime time.Duration
	// EachOnce goes on until every query of Order was sent once after warm-up. Of several blocks of one point it is enough
	// that the first asks for it.
	EachOnce bool
	// Timeout, if not 0, is the longest latency of an answer that counts. An engine within this process cannot be
	// interrupted, so a query that takes longer is waited for and then counts as failed with an error that is
	// context.DeadlineExceeded, whatever it answered. Its latency is that which it had.
	Timeout time.Duration
	Keeper  *Keeper // says whose answers are kept already; nil keeps none
	Clock   Clock   // nil means Monotonic
}

func (c *Closed) validate() error {
	switch {
	case c.Clients < 1:
		return fmt.Errorf("%d clients: there must be at least 1", c.Clients)
	case len(c.Order) == 0:
		return errors.New("there are no queries")
	case c.Warmup < 0 || c.MinTime < 0 || c.MaxTime < 0 || c.Timeout < 0:
		return fmt.Errorf("a negative time: warm-up %v, at least %v, at most %v, timeout %v", c.Warmup, c.MinTime, c.MaxTime, c.Timeout)
	case c.MinTime == 0 && !c.EachOnce:
		return errors.New("without a least time, and without asking for each query once, nothing would be sent")
	case c.MaxTime != 0 && c.MaxTime < c.MinTime:
		return fmt.Errorf("at most %v is less than at least %v", c.MaxTime, c.MinTime)
	}
	for i, q := range c.Order {
		if q < 0 || (c.Keeper != nil && q >= len(c.Keeper.kept)) {
			return fmt.Errorf("position %d of the order holds query %d, which is not among those that are kept", i, q)
		}
	}
	return nil
}

// RunClosed sends load to t as c says and returns what it measured. Every client runs in a goroutine of its own; which
// thread that is on is left to the scheduler, as in a server. The time of a query is taken right before and after
// Target.Do, so neither recording nor Target.Keep is part of it; both are part of the wall time, and Overhead says how
// much recording takes. The harness allocates nothing and takes no lock per query.
//
// When ctx is done, no further query is sent, and what was measured until then is returned together with the cause.
// A panic in Target.Do is not recovered: the process dies of it and prints the stack. A cell is a process of its own,
// and an index that panicked cannot be trusted with another query.
func RunClosed(ctx context.Context, t Target, c Closed) (*Block, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("closed-loop load: %w", err)
	}
	b := c.run(ctx, t)
	if ctx.Err() != nil {
		return b, fmt.Errorf("closed-loop load: stopped after %d queries: %w", b.Samples, context.Cause(ctx))
	}
	return b, nil
}

// run is RunClosed for a valid c.
func (c Closed) run(ctx context.Context, t Target) *Block {
	if c.Clock == nil {
		c.Clock = Monotonic()
	}
	s := &shared{Closed: c, target: t, late: timeoutError(c.Timeout)}
	s.next.Store(int64(mod(c.Start, len(c.Order))))
	// One flag is cheaper to look at per query than a context, whose Err takes a lock.
	defer context.AfterFunc(ctx, func() { s.stop.Store(true) })()
	if ctx.Err() != nil {
		s.stop.Store(true) // AfterFunc may come too late to stop the first query
	}

	clients := make([]client, c.Clients)
	for i := range clients {
		clients[i] = client{shared: s, id: i, block: Block{Histogram: newHistogram()}}
	}
	s.each(clients, (*client).warm)
	s.first = s.next.Load()
	s.begin = c.Clock()
	s.each(clients, (*client).measure)

	b := &Block{Histogram: newHistogram(), Clients: c.Clients}
	end := s.begin
	for i := range clients {
		// A client's histogram has the geometry of the sum's, so nothing can be dropped.
		_ = b.add(&clients[i].block)
		end = max(end, clients[i].end)
	}
	b.Wall = end - s.begin
	b.Next = mod(int(s.first+b.Samples), len(c.Order))
	b.Covered = b.Samples >= int64(len(c.Order))
	return b
}

func mod(a, n int) int { return ((a % n) + n) % n }

// shared is what the clients of one block have in common. All but next and stop is fixed while they run.
type shared struct {
	Closed
	target Target
	first  int64         // position at which the recorded queries begin
	begin  time.Duration // when they begin
	late   error         // of a query that took longer than Timeout; nil if there is none

	_    [64]byte // next is written for every query: it gets a cache line of its own
	next atomic.Int64
	_    [64]byte
	stop atomic.Bool
}

// timeoutError is the error of all queries that took longer than timeout, made once since nothing is allocated per query.
func timeoutError(timeout time.Duration) error {
	if timeout == 0 {
		return nil
	}
	return fmt.Errorf("it took longer than the timeout of %v: %w", timeout, context.DeadlineExceeded)
}

// each runs do in a goroutine for every client and waits for them.
func (s *shared) each(clients []client, do func(*client)) {
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() { do(&clients[i]) })
	}
	wg.Wait()
}

// done says whether no further query should be recorded, elapsed after begin.
func (s *shared) done(elapsed time.Duration) bool {
	if s.stop.Load() {
		return true
	}
	if elapsed < s.MinTime {
		return false
	}
	if s.MaxTime != 0 && elapsed >= s.MaxTime {
		return true
	}
	return !s.EachOnce || s.next.Load()-s.first >= int64(len(s.Order))
}

// take is the next query of the order, and how many were taken before it since the block began.
func (s *shared) take() (query int, before int64) {
	at := s.next.Add(1) - 1
	return s.Order[at%int64(len(s.Order))], at - s.first
}

type client struct {
	*shared
	id    int
	block Block
	end   time.Duration // of the last query
	turn  yielder
	_     [64]byte // clients lie side by side and write to their blocks all the time
}

// warm sends queries without looking at their answers. Errors will come again when they count.
func (c *client) warm() {
	if c.Warmup == 0 {
		return
	}
	begin := c.Clock()
	for now := begin; !c.stop.Load() && now-begin < c.Warmup; now = c.Clock() {
		c.turn.yield(now)
		query, _ := c.take()
		_ = c.target.Do(c.id, query)
	}
}

// measure sends and records queries until the block is done.
func (c *client) measure() {
	c.end = c.begin
	for !c.done(c.end - c.begin) {
		query, taken := c.take()
		if c.EachOnce && taken >= int64(len(c.Order)) && c.end-c.begin >= c.MinTime {
			return // another client took the last query of the pass between done and take
		}
		c.turn.yield(c.end)
		before := c.Clock()
		err := c.target.Do(c.id, query)
		c.end = c.Clock()
		took := max(c.end-before, 0)
		if c.late != nil && took > c.Timeout {
			err = c.late
		}
		c.block.record(took, err)
		if c.Keeper != nil && c.Keeper.claim(query) {
			c.target.Keep(c.id, query, took, err)
		}
	}
}
