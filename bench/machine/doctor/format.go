package doctor

import (
	"fmt"
	"math"
	"strconv"
)

// size is bytes for people.
func size(n int64) string {
	const kib = 1 << 10
	switch f := float64(n); {
	case f < kib:
		return fmt.Sprintf("%d B", n)
	case f < kib*kib:
		return fmt.Sprintf("%.3g KiB", f/kib)
	case f < kib*kib*kib:
		return fmt.Sprintf("%.4g MiB", f/kib/kib)
	default:
		return fmt.Sprintf("%.4g GiB", f/kib/kib/kib)
	}
}

// seconds is a time for people.
func seconds(s float64) string {
	switch a := math.Abs(s); {
	case a < 1e-6:
		return figures(s*1e9) + " ns"
	case a < 1e-3:
		return figures(s*1e6) + " us"
	case a < 1:
		return figures(s*1e3) + " ms"
	}
	return figures(s) + " s"
}

// rate is a number a second with its unit, by thousands.
func rate(perSecond float64, unit string) string {
	switch {
	case perSecond < 1e6:
		return figures(perSecond/1e3) + " k" + unit
	case perSecond < 1e9:
		return figures(perSecond/1e6) + " M" + unit
	}
	return figures(perSecond/1e9) + " G" + unit
}

// percent is a share for people, to a hundredth of a percent.
func percent(share float64) string {
	p := 100 * share
	decimals := 2
	switch {
	case p >= 9.95:
		decimals = 0
	case p >= 0.995:
		decimals = 1
	}
	return strconv.FormatFloat(p, 'f', decimals, 64) + "%"
}

// figures are three significant figures of anything below 100, and whole numbers above.
func figures(f float64) string {
	if math.Abs(f) < 99.5 {
		return strconv.FormatFloat(f, 'g', 3, 64)
	}
	return strconv.FormatFloat(f, 'f', 0, 64)
}

// unreadable is what is printed for what is not known.
const unreadable = "not readable"

// orUnreadable shows a value that may not be known.
func orUnreadable[T any](value *T, show func(T) string) string {
	if value == nil {
		return unreadable
	}
	return show(*value)
}

func wordOr(s string) string {
	if s == "" {
		return unreadable
	}
	return s
}
