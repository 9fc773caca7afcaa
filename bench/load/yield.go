package load

import (
	"runtime"
	"time"
)

// yieldEvery is less than the 10 ms after which the runtime's monitor takes the processor of a goroutine that did not
// give it up, by more than most queries take.
const yieldEvery = 8 * time.Millisecond

// yielder gives way to other goroutines, between queries, before the runtime makes its client do so in the middle of one.
//
// To the runtime a client that sends one query after the other is a goroutine that never ends. Where the engine is C or
// C++, so that it cannot be interrupted, the monitor then takes away the processor during a call, and from that instant
// looks every 20 us, for a millisecond and more, whether there is more to take. It wakes on the core that the engine
// runs on: thousands of times a second with hnswlib, and the p50 of one block differed from that of the next by a
// quarter. After goroutines that gave way by themselves the monitor looks every 10 ms. BenchmarkGivingWay of
// indexes/hnswlib shows both.
type yielder struct{ last time.Duration } // when it last gave way, or slept

// yield is called between two queries, at now. It returns whether it gave way, which takes some 10 us.
func (y *yielder) yield(now time.Duration) bool {
	if now-y.last < yieldEvery {
		return false
	}
	y.last = now
	runtime.Gosched()
	return true
}
