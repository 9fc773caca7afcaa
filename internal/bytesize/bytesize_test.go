package bytesize

import (
	"math"
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"8GiB": 8 << 30, "1.5GB": 15e8, "512 MiB": 512 << 20, "10B": 10, "1kB": 1000, "1KB": 1000, "0B": 0} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
		if back, err := Parse(Format(got)); err != nil || back != got {
			t.Errorf("%d is written as %s", got, Format(got))
		}
	}
	for text, want := range map[string]string{
		"": "not a size with a unit", "8": "not a size with a unit", "GiB": "not a size", "-1GiB": "not a size", "1e3B": "not a size",
		"8 GiB x": "not a size", "1.2.3GiB": "not a size", "8gib": `unknown unit "gib": use KiB`, "99999999TiB": "more than 8192 TiB",
		strings.Repeat("9", 400) + "B": "out of range",
	} {
		if n, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is read as %d, %v, want %q", text, n, err, want)
		}
	}
	if got := Format(math.MaxInt32); got != "2147483647B" {
		t.Error(got)
	}
}
