package load

import "time"

// Clock is the time since some fixed instant. It never goes back, and several goroutines may call it at once.
type Clock func() time.Duration

// Monotonic is the clock of this machine. It reads only the monotonic clock, which takes half as long as time.Now.
func Monotonic() Clock {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
