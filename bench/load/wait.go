package load

import (
	"runtime"
	"time"
)

// Wait returns when the clock that it belongs to has reached until.
type Wait func(until time.Duration)

// spin is how long before its time a waiting client stops sleeping and watches the clock instead.
const spin = time.Millisecond

// preciseWait sleeps, and watches the clock for the last stretch.
func preciseWait(clock Clock) Wait {
	return func(until time.Duration) {
		for now := clock(); now < until; now = clock() {
			if left := until - now; left > spin {
				time.Sleep(left - spin)
			} else {
				runtime.Gosched()
			}
		}
	}
}
