package machine

import (
	"context"
	"sync"
	"time"
)

// rateSlices are how many stretches a rate is taken over. The best one counts: noise only ever slows down.
const rateSlices = 5

// bestRate runs pass over and over on all workers at once for d in all, and gives what they got done a second in the best
// of a few stretches. pass does a piece of work, best of under a millisecond, and says how much it was.
func bestRate(ctx context.Context, workers int, d time.Duration, pass func(worker int) float64) (float64, error) {
	best := 0.0
	for range rateSlices {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		rates := make([]float64, workers)
		var ready, done sync.WaitGroup
		ready.Add(workers)
		for w := range workers {
			done.Go(func() {
				ready.Done()
				ready.Wait()
				begin, work := time.Now(), 0.0
				for {
					work += pass(w)
					if took := time.Since(begin); took >= d/rateSlices && took > 0 {
						rates[w] = work / took.Seconds()
						return
					}
				}
			})
		}
		done.Wait()
		total := 0.0
		for _, r := range rates {
			total += r
		}
		best = max(best, total)
	}
	return best, nil
}
