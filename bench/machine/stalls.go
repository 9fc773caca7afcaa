package machine

import (
	"context"
	"runtime"
	"time"
)

// stallLimit is the shortest gap that counts as a stall: longer than an interrupt of the timer takes.
const stallLimit = 50 * time.Microsecond

// Stalls are the gaps in which a thread that did nothing but read the time was not running, whoever took its core: the
// hypervisor, another process or an interrupt. A hypervisor that does not report steal is found out here.
type Stalls struct {
	WatchedSeconds float64 `json:"watched_seconds"`
	Count          int     `json:"count"`           // gaps over 50 us
	Share          float64 `json:"share"`           // of the watched time that lay in them, in [0,1]
	LongestSeconds float64 `json:"longest_seconds"` // the longest gap of any length
}

// MeasureStalls keeps one thread busy for d. It ends early, with the error of ctx, when that ends.
func MeasureStalls(ctx context.Context, d time.Duration) (Stalls, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	s := watchStalls(d, func() time.Duration { return time.Since(start) }, ctx.Done())
	return s, ctx.Err()
}

func watchStalls(d time.Duration, now func() time.Duration, stop <-chan struct{}) Stalls {
	var s Stalls
	var lost, longest time.Duration
	first := now()
	last := first
	for last-first < d {
		select {
		case <-stop:
			return Stalls{}
		default:
		}
		t := now()
		gap := t - last
		if gap > stallLimit {
			s.Count++
			lost += gap
		}
		longest = max(longest, gap)
		last = t
	}
	if elapsed := (last - first).Seconds(); elapsed > 0 {
		s.WatchedSeconds, s.Share = elapsed, lost.Seconds()/elapsed
	}
	s.LongestSeconds = longest.Seconds()
	return s
}
