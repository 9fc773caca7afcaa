package load

import "time"

// spin is a guess: it was not measured how long sleeps overrun on macOS. Block.Overslept tells.
const spin = 100 * time.Microsecond

// sleeper sleeps by the runtime's timers, which are as precise as kqueue is.
type sleeper struct{}

func newSleeper() (*sleeper, error) { return &sleeper{}, nil }

// sleep may return early: callers look at the clock.
func (*sleeper) sleep(d time.Duration) { time.Sleep(d) }

func (*sleeper) close() {}
