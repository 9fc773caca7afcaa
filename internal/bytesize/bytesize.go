// Package bytesize reads and writes sizes with their units, as files, flags and expressions have them.
package bytesize

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

type unit struct {
	name  string
	bytes int64
}

// units: the first that divides a size is the one it is written with.
func units() []unit {
	return []unit{
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

// Unit is how many bytes a unit stands for, and whether it is one.
func Unit(name string) (bytes int64, ok bool) {
	for _, u := range units() {
		if u.name == name {
			return u.bytes, true
		}
	}
	return 0, false
}

var pattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)$`)

// Parse reads a number of bytes with its unit: 8GiB, 1.5GB, 512 MiB.
func Parse(s string) (int64, error) {
	m := pattern.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q is not a size with a unit, such as 8GiB or 500MB", s)
	}
	number, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", s, err)
	}
	unit, ok := Unit(m[2])
	if !ok {
		return 0, fmt.Errorf("size %q has the unknown unit %q: use KiB, MiB, GiB, TiB, kB, MB, GB or TB", s, m[2])
	}
	bytes := math.Round(number * float64(unit))
	if bytes >= 1<<53 {
		return 0, fmt.Errorf("size %q is more than 8192 TiB", s)
	}
	return int64(bytes), nil
}

// Format writes a size so that Parse reads the same number.
func Format(bytes int64) string {
	for _, u := range units() {
		if bytes != 0 && bytes%u.bytes == 0 {
			return strconv.FormatInt(bytes/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(bytes, 10) + "B"
}
