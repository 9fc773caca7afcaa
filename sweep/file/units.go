package file

import (
	"errors"
	"fmt"
	"time"
)

// parseDuration reads a duration with its unit, such as 30s, 1m30s or 200ms. It is not negative.
func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration with a unit, such as 200ms, 30s or 10m", s)
	}
	if d < 0 {
		return 0, errors.New("must not be negative")
	}
	return d, nil
}
