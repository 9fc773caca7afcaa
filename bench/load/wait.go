package load

import "time"

// Wait returns when the clock that it belongs to has reached until, or soon after.
type Wait func(until time.Duration)

// nap is how long a client sleeps at most before it looks whether it should stop.
const nap = 50 * time.Millisecond

// wait waits for an arrival. False means that the block was stopped meanwhile.
//
// It sleeps until shortly before and watches the clock for the last stretch of at most spin, since a sleeping client
// wakes some 25 us late. At r arrivals a second this costs r*spin of a core's time: 10% at 1,000 a second. It does so
// only on a core that would be idle, that is while queries under way and clients that watch are not more than there
// are cores: on a machine that is busy the engine needs the core more, and clients sleep to the end and wake late.
// Block.Overslept is what lateness remains.
func (c *openClient) wait(at time.Duration) bool {
	for now := c.now; now < at; now = c.Clock() {
		left := at - now
		switch {
		case c.stop.Load():
			return false
		case c.Wait != nil:
			c.Wait(now + min(left, nap))
		case c.onCore:
		case left > spin:
			c.sleeper.sleep(min(left-spin, nap))
			c.turn.last = c.Clock()
		case !c.enter():
			c.sleeper.sleep(left)
		}
	}
	return true
}

// enter takes a core to watch the clock on, and to send the query from afterwards, if one is idle.
func (c *openClient) enter() bool {
	if c.active.Add(1) > c.cores {
		c.active.Add(-1)
		return false
	}
	c.onCore = true
	return true
}

// sending counts the client among those that are under way, if enter has not.
func (c *openClient) sending() {
	if !c.onCore {
		c.active.Add(1)
		c.onCore = true
	}
}

// answered ends what enter or sending began.
func (c *openClient) answered() {
	c.active.Add(-1)
	c.onCore = false
}
