package machine

import (
	"context"
	"slices"
	"time"
)

// Sleep is how precisely this machine wakes a goroutine up. An open loop of load sends late by as much.
type Sleep struct {
	AskedSeconds  float64 `json:"asked_seconds"`
	MedianSeconds float64 `json:"late_median_seconds"` // that it woke up later than asked
	WorstSeconds  float64 `json:"late_worst_seconds"`
}

// MeasureSleep sleeps times times for the asked time. It stops early, with the error of ctx, when that ends.
func MeasureSleep(ctx context.Context, asked time.Duration, times int) (Sleep, error) {
	late := make([]time.Duration, 0, times)
	for range max(1, times) {
		if err := ctx.Err(); err != nil {
			return Sleep{}, err
		}
		begin := time.Now()
		time.Sleep(asked)
		late = append(late, time.Since(begin)-asked)
	}
	slices.Sort(late)
	return Sleep{asked.Seconds(), late[len(late)/2].Seconds(), late[len(late)-1].Seconds()}, nil
}
