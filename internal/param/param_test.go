package param

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var specs = []Spec{
	{Name: "M", Type: Int, Default: int64(16), Min: 2, Max: 512, Doc: "Links of a node."},
	{Name: "k1", Type: Float, Default: 1.2, Doc: "Saturation."},
	{Name: "analyzer", Type: String, Default: "en", Enum: []string{"en", "standard"}, Doc: "How text becomes terms."},
	{Name: "stem", Type: Bool, Default: true, Doc: "Whether to strip endings."},
	{Name: "overlap", Type: Amount, Default: "0", Doc: "What chunks share."},
	{Name: "size", Type: Int, Min: 1, Doc: "Size of a chunk."},
}

func TestComplete(t *testing.T) {
	got, err := Complete(specs, Values{"size": 400.0, "overlap": 40, "k1": int64(2)})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"M":16,"analyzer":"en","k1":2,"overlap":"40","size":400,"stem":true}`
	if got.Canonical() != want {
		t.Errorf("%s, want %s", got.Canonical(), want)
	}
	if got.Int("size") != 400 || got.Float("k1") != 2 || got.Str("overlap") != "40" || !got.Bool("stem") {
		t.Errorf("typed access differs from %v", got)
	}
}

func TestCompleteRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		given       Values
		param, says string
	}{
		"missing":         {Values{}, "size", "required"},
		"unknown":         {Values{"sizes": 1}, "sizes", `did you mean "size"`},
		"too small":       {Values{"size": 1, "M": 1}, "M", "2 to 512"},
		"in full":         {Values{"size": 1, "M": 1 << 21}, "M", "2097152 is out of range"},
		"too large":       {Values{"size": 1, "M": 513}, "M", "out of range"},
		"not whole":       {Values{"size": 1.5}, "size", "whole number"},
		"NaN":             {Values{"size": 1, "k1": math.NaN()}, "k1", "finite"},
		"wrong type":      {Values{"size": "x"}, "size", `the string "x"`},
		"not in the enum": {Values{"size": 1, "analyzer": "standart"}, "analyzer", `did you mean "standard"`},
		"not a boolean":   {Values{"size": 1, "stem": 1}, "stem", "true or false"},
		"not an amount":   {Values{"size": 1, "overlap": "10 %"}, "overlap", "percentage"},
		"negative amount": {Values{"size": 1, "overlap": -3}, "overlap", "percentage"},
	} {
		_, err := Complete(specs, c.given)
		var wrong *Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if wrong.Param != c.param || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q does not name %s and say %q", name, err, c.param, c.says)
		}
	}
}

// The canonical text parses back to the same values, whatever they are.
func TestCanonicalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, err := Complete(specs, Values{
			"M": rapid.IntRange(2, 512).Draw(t, "M"), "k1": rapid.Float64Range(0, 1e9).Draw(t, "k1"),
			"analyzer": rapid.SampledFrom(specs[2].Enum).Draw(t, "analyzer"), "stem": rapid.Bool().Draw(t, "stem"),
			"overlap": rapid.StringMatching(`[0-9]{1,4}%?`).Draw(t, "overlap"), "size": rapid.IntRange(1, 1<<40).Draw(t, "size"),
		})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(specs, v.Canonical())
		if err != nil {
			t.Fatal(err)
		}
		if again.Canonical() != v.Canonical() {
			t.Errorf("%s became %s", v.Canonical(), again.Canonical())
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"ef_construction", "ef_search", "M"}
	for given, want := range map[string]string{"efSearch": "ef_search", "efconstruction": "ef_construction", "m": "M", "banana": "", "k": "", "": ""} {
		if got := Nearest(given, known); got != want {
			t.Errorf("nearest to %s is %q, want %q", given, got, want)
		}
	}
}
