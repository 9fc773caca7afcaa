package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Format is a value of the metric for people: "0.912", "1.23 ms", "12.4 MiB". NaN is "none".
func (m Metric) Format(v float64) string {
	if math.IsNaN(v) {
		return "none"
	}
	switch m.Column.Unit {
	case "seconds":
		return scaled(v, []unit{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}})
	case "bytes":
		return scaled(v, []unit{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}})
	case "usd":
		return "$" + strconv.FormatFloat(v, 'f', 2, 64)
	case "queries/s":
		return digits(v) + "/s"
	case "fraction", "":
		return trimmed(v)
	}
	return digits(v)
}

// FormatChange is a change with its sign: "+0.05" or "-12.3%".
func (m Metric) FormatChange(v float64, relative bool) string {
	switch {
	case math.IsNaN(v):
		return "unknown"
	case relative:
		return signed(strconv.FormatFloat(round(v*100, 3-int(math.Ceil(math.Log10(max(math.Abs(v*100), 1e-9))))), 'f', -1, 64)) + "%"
	case m.Column.Unit == "fraction" || m.Column.Unit == "":
		return signed(trimmed(v))
	}
	return signed(m.Format(v))
}

// round keeps decimals, at least one and at most three.
func round(v float64, decimals int) float64 {
	scale := math.Pow10(min(max(decimals, 1), 3))
	return math.Round(v*scale) / scale
}

// trimmed has up to four decimals and no zeros at the end.
func trimmed(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64)
}

// digits has four significant ones, or those of the whole number.
func digits(v float64) string {
	if v == math.Trunc(v) || math.Abs(v) >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func signed(text string) string {
	if text == "-0" {
		text = "0"
	}
	if strings.HasPrefix(text, "-") || text == "0" || strings.HasPrefix(text, "0 ") {
		return text
	}
	return "+" + text
}

type unit struct {
	size float64
	name string
}

// scaled takes the largest unit, of those in falling order, that leaves the value at 1 or more.
func scaled(v float64, units []unit) string {
	for i, u := range units {
		if math.Abs(v) >= u.size || i == len(units)-1 && v != 0 {
			return strconv.FormatFloat(v/u.size, 'g', 4, 64) + " " + u.name
		}
	}
	return "0 " + units[0].name
}

// FormatInterval is the interval of a change or of a value, "" where there is none.
func (m Metric) FormatInterval(low, high float64, format func(float64) string) string {
	if math.IsNaN(low) || math.IsNaN(high) {
		return ""
	}
	return fmt.Sprintf("%s to %s", format(low), format(high))
}
