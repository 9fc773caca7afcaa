package show

import (
	"strings"
	"testing"

	"frontier/results"
)

func TestPlaces(t *testing.T) {
	for text, want := range map[string]place{
		"net/http#0-120": {"net/http", 0, 120}, "a#b#5-9": {"a#b", 5, 9}, "whole": {"whole", -1, -1},
	} {
		if got, err := parsePlace(text); err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"a#", "a#5", "a#9-5", "a#x-7", "a#-1-5"} {
		if got, err := parsePlace(text); err == nil {
			t.Errorf("%s is %+v", text, got)
		}
	}
}

// An excerpt is short, has the mark in it, and marks what it was told to, in code points.
func TestExcerpts(t *testing.T) {
	long := strings.Repeat("wörter ", 200)
	for _, c := range []struct {
		text                 string
		start, end, from, to int
		want                 string
	}{
		{"a bc\nd", 0, 6, 2, 4, "a «bc» d"},
		{"a bc d", 2, 99, 0, 4, "«bc» d"},
		{"größe", 1, 5, 2, 3, "r«ö»ße"},
		{"abc", 0, 3, 0, 0, "abc"},
		{"abc", 5, 9, 0, 0, ""},
	} {
		if got := excerpt(c.text, c.start, c.end, c.from, c.to); got != c.want {
			t.Errorf("%q [%d, %d): %q, want %q", c.text, c.start, c.end, got, c.want)
		}
	}
	for _, from := range []int{0, 700, 1390} {
		got := excerpt(long, 0, 1400, from, from+6)
		if !strings.Contains(got, "«wörter»") && !strings.Contains(got, "«") || len([]rune(got)) > 3*excerptLength {
			t.Errorf("from %d: %q", from, got)
		}
	}
	if got := excerpt(long, 0, 1400, 0, 1400); len([]rune(got)) > 3*excerptLength || !strings.HasSuffix(got, "…") {
		t.Errorf("%d code points: %q", len([]rune(got)), got)
	}
}

// Neighbours stand in for evidence over vectors only: a question to which nothing is relevant has no recall, and one metric
// is not taken for another of the same cut-off.
func TestRecallOf(t *testing.T) {
	for name, c := range map[string]struct {
		metrics map[string]float64
		onText  bool
		want    float64
		ok      bool
	}{
		"evidence":            {map[string]float64{"evidence_recall": 0.5, "recall_at_10": 1, "ann_recall_at_10": 0.9}, true, 0.5, true},
		"largest k":           {map[string]float64{"recall_at_1": 0, "recall_at_10": 0.25, "ann_recall_at_10": 0.9, "ann_recall_dist_at_20": 1}, true, 0.25, true},
		"nothing is relevant": {map[string]float64{"ann_recall_at_10": 0.9}, true, 0, false},
		"vectors":             {map[string]float64{"ann_recall_at_1": 1, "ann_recall_at_10": 0.9, "ann_recall_dist_at_10": 1}, false, 0.9, true},
	} {
		if got, ok := recallOf(results.QueryRow{Metrics: c.metrics}, c.onText); got != c.want || ok != c.ok {
			t.Errorf("%s: %v, %v, want %v, %v", name, got, ok, c.want, c.ok)
		}
	}
}
