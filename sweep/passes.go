package sweep

import (
	"fmt"
	"math"
	"time"

	"frontier/sweep/file"
)

// longPass is from when on a pass over all questions is told of before it begins.
const longPass = time.Minute

// passTime is what asking each of so many questions once takes at the rate of an open loop.
func passTime(l file.Load, questions int) time.Duration {
	return time.Duration(min(float64(questions)/l.Rate*float64(time.Second), math.MaxInt64/4)) // a Duration ends at 292 years
}

// checkPasses refuses a rate of arrivals at which no first visit can end in time, and tells what others take: the first
// visit to a point asks every question once, whatever max_time is.
func (r *runner) checkPasses(questions int) error {
	for i, l := range r.file.Measure.Load {
		if l.Mode != file.Open {
			continue
		}
		pass := passTime(l, questions).Round(time.Second)
		says := fmt.Sprintf("at %g arrivals a second, asking each of the %d questions once takes about %v", l.Rate, questions, pass)
		if limit := r.file.Limits.CellTime; limit > 0 && pass > limit {
			return fault(r.file, l.Pos, fmt.Sprintf("measure.load[%d].open.rate", i), says+fmt.Sprintf(", over limits.cell_time (%v)", limit), "raise the rate or the limit, or ask fewer questions")
		}
		if pass > max(longPass, r.file.Measure.MaxTime) {
			r.warn(says + ", for every point: raise the rate, or ask fewer questions, if that is too long")
		}
	}
	return nil
}
