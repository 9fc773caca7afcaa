// Package rate keeps a share together with what it is a share of, so that no figure loses its denominator on the way.
package rate

import (
	"errors"
	"fmt"

	"frontier/bench/stats"
)

// ErrEmpty says that there was nothing to count: missing data, which is neither 0 nor a pass.
var ErrEmpty = errors.New("there is nothing to divide by")

// Rate is Hits out of Of.
type Rate struct {
	Hits, Of int
}

// Value is Hits/Of, or ErrEmpty where Of is 0. Counts that cannot be are an error too.
func (r Rate) Value() (float64, error) {
	switch {
	case r.Hits < 0 || r.Hits > r.Of:
		return 0, fmt.Errorf("%d of %d is no rate", r.Hits, r.Of)
	case r.Of == 0:
		return 0, ErrEmpty
	}
	return float64(r.Hits) / float64(r.Of), nil
}

// Interval is Wilson's confidence interval; NaN where Value is an error.
func (r Rate) Interval(confidence float64) (low, high float64) {
	return stats.WilsonInterval(r.Hits, r.Of, confidence)
}

// Add is the rate over what both are rates of, which must not overlap.
func (r Rate) Add(s Rate) Rate { return Rate{r.Hits + s.Hits, r.Of + s.Of} }

// String is "2 of 4".
func (r Rate) String() string { return fmt.Sprintf("%d of %d", r.Hits, r.Of) }
