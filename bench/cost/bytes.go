package cost

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const gib = 1 << 30

// byteUnit is the number of bytes in a unit.
func byteUnit(s string) (float64, bool) {
	switch s {
	case "B":
		return 1, true
	case "KiB":
		return 1 << 10, true
	case "MiB":
		return 1 << 20, true
	case "GiB":
		return gib, true
	case "TiB":
		return 1 << 40, true
	case "KB", "kB":
		return 1e3, true
	case "MB":
		return 1e6, true
	case "GB":
		return 1e9, true
	case "TB":
		return 1e12, true
	}
	return 0, false
}

// parseBytes reads a size of at least one byte with its unit, such as "16GiB" or "1.5 TB".
func parseBytes(s string) (int64, error) {
	end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		return 0, fmt.Errorf("%q has no unit: write for example 16GiB", s)
	}
	unit, ok := byteUnit(strings.TrimSpace(s[end:]))
	if !ok {
		return 0, fmt.Errorf("%q does not end in a unit: use B, KiB, MiB, GiB, TiB, kB, MB, GB or TB", s)
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return 0, fmt.Errorf("%q does not begin with a number", s)
	}
	size := math.Round(n * unit)
	if size < 1 || size >= 1<<62 {
		return 0, fmt.Errorf("%q is not a possible size of memory", s)
	}
	return int64(size), nil
}

// formatBytes prints a size in GiB, or in MiB below one of them.
func formatBytes(n int64) string {
	if n < gib {
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/gib)
}
