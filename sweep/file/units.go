package file

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"
)

// byteUnits are the units of sizes; the first that divides a size is the one it is printed with.
func byteUnits() []struct {
	name string
	size int64
} {
	return []struct {
		name string
		size int64
	}{
		{"TiB", 1 << 40},
		{"GiB", 1 << 30},
		{"MiB", 1 << 20},
		{"KiB", 1 << 10},
		{"TB", 1e12},
		{"GB", 1e9},
		{"MB", 1e6},
		{"kB", 1e3},
		{"KB", 1e3},
		{"B", 1},
	}
}

var sizePattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)$`)

// ParseSize reads a number of bytes with its unit: 8GiB, 1.5GB, 512 MiB.
func ParseSize(s string) (int64, error) {
	m := sizePattern.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q is not a size with a unit, such as 8GiB or 500MB", s)
	}
	number, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", s, err)
	}
	for _, u := range byteUnits() {
		if u.name == m[2] {
			if bytes := math.Round(number * float64(u.size)); bytes < 1<<53 {
				return int64(bytes), nil
			}
			return 0, fmt.Errorf("size %q is more than 8192 TiB", s)
		}
	}
	return 0, fmt.Errorf("size %q has the unknown unit %q: use KiB, MiB, GiB, TiB, kB, MB, GB or TB", s, m[2])
}

// FormatSize writes a size so that ParseSize reads the same number.
func FormatSize(bytes int64) string {
	for _, u := range byteUnits() {
		if bytes != 0 && bytes%u.size == 0 {
			return strconv.FormatInt(bytes/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(bytes, 10) + "B"
}

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
