package machine

import (
	"errors"
	"slices"
	"time"
)

// Timer is what reading the time costs here. Each query that is timed reads it twice.
type Timer struct {
	ReadSeconds       float64 `json:"read_seconds"`       // one reading, as the median of batches
	ResolutionSeconds float64 `json:"resolution_seconds"` // the smallest step between two readings that differ
}

const (
	timerBatches = 21
	timerReads   = 5_000
)

// MeasureTimer reads the time a hundred thousand times, which takes a few milliseconds. It is an error where the time
// does not move, since nothing can be measured there.
func MeasureTimer() (Timer, error) {
	start := time.Now()
	return measureTimer(func() time.Duration { return time.Since(start) })
}

func measureTimer(now func() time.Duration) (Timer, error) {
	var batches [timerBatches]time.Duration
	smallest := time.Duration(0)
	for i := range batches {
		first := now()
		last := first
		for range timerReads {
			t := now()
			if step := t - last; step > 0 && (smallest == 0 || step < smallest) {
				smallest = step
			}
			last = t
		}
		batches[i] = last - first
	}
	slices.Sort(batches[:])
	middle := batches[timerBatches/2]
	if smallest == 0 || batches[0] < 0 {
		return Timer{}, errors.New("the clock of this machine does not go forward, so that nothing can be timed")
	}
	return Timer{ReadSeconds: middle.Seconds() / timerReads, ResolutionSeconds: smallest.Seconds()}, nil
}
