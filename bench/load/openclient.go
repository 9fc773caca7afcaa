package load

import (
	"sync/atomic"
	"time"
)

// openShared is what the clients of one block have in common. All but the atomics is fixed while they run.
type openShared struct {
	Open
	target   Target
	schedule *schedule
	start    int
	zero     time.Duration // when the schedule begins
	least    time.Duration // how long it is at least, warm-up included
	late     error         // of a query that took longer than Timeout; nil if there is none
	cores    int64

	_      [64]byte     // these are written for every query
	active atomic.Int64 // clients that have a query under way, or watch the clock for their next
	sent   atomic.Int64 // recorded queries
	warmed atomic.Int64 // the others
	_      [64]byte
	stop   atomic.Bool
}

// wants says whether an arrival that is due then is still part of the block.
func (s *openShared) wants(due time.Duration) bool {
	if due < s.least {
		return true
	}
	return s.EachOnce && (s.MaxTime == 0 || due < s.Warmup+s.MaxTime) && s.sent.Load() < int64(len(s.Order))
}

type openClient struct {
	*openShared
	id      int
	sleeper *sleeper // nil if Open.Wait is not
	onCore  bool     // it is counted in active
	block   Block
	now     time.Duration // when it was last free
	end     time.Duration // of its last recorded query
	last    time.Duration // due time of its last recorded arrival
	exit    time.Duration // due time of the arrival that it did not take
	dropped time.Duration // longest wait of a dropped arrival
	turn    yielder
	_       [64]byte // clients lie side by side and write to their blocks all the time
}

// serve takes arrivals, one after the other, until the block is done.
func (c *openClient) serve() {
	c.now = c.Clock()
	for !c.stop.Load() {
		if c.turn.yield(c.now) {
			c.now = c.Clock()
		}
		due := c.schedule.take()
		if !c.wants(due) {
			c.exit = due
			return
		}
		at := c.zero + due
		if c.now-at > c.MaxWait {
			c.drop(due, c.now-at)
			continue
		}
		waited := c.now < at
		if waited && !c.wait(at) {
			return
		}
		if !c.send(due, at, waited) {
			c.exit = due
			return
		}
	}
}

// drop counts an arrival that waited too long.
func (c *openClient) drop(due, wait time.Duration) {
	if due < c.Warmup {
		return
	}
	c.last = due
	c.block.Dropped++
	c.block.Late++
	c.dropped = max(c.dropped, wait)
}

// send sends the next query for an arrival. False means that other clients have sent all queries that were left.
func (c *openClient) send(due, at time.Duration, waited bool) bool {
	n := int64(len(c.Order))
	if due < c.Warmup {
		query := c.Order[(int64(c.start)+n-1-(c.warmed.Add(1)-1)%n)%n]
		c.sending()
		_ = c.target.Do(c.id, query)
		c.now = c.Clock()
		c.answered()
		return true
	}
	before := c.sent.Add(1) - 1
	if before >= n && due >= c.least {
		if c.onCore {
			c.answered()
		}
		return false
	}
	query := c.Order[(int64(c.start)+before)%n]
	c.sending()
	sent := c.Clock()
	err := c.target.Do(c.id, query)
	c.now = c.Clock()
	c.answered()
	c.end, c.last = c.now, due
	if waited {
		c.block.Waited++
		c.block.Overslept += max(sent-at, 0)
	}
	if sent-at > c.Slack {
		c.block.Late++
	}
	took := max(c.now-at, 0)
	if c.late != nil && took > c.Timeout {
		err = c.late
	}
	c.block.serve(max(c.now-sent, 0))
	c.block.record(took, err)
	if c.Keeper != nil && c.Keeper.claim(query) {
		c.target.Keep(c.id, query, took, err)
		c.now = c.Clock()
	}
	return true
}
