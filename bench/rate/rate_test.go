package rate

import (
	"errors"
	"math"
	"testing"
)

func TestRate(t *testing.T) {
	for r, want := range map[Rate]float64{{2, 4}: .5, {0, 3}: 0, {3, 3}: 1} {
		if got, err := r.Value(); err != nil || got != want {
			t.Errorf("%v is %v, %v; want %v", r, got, err, want)
		}
	}
	if _, err := (Rate{}).Value(); !errors.Is(err, ErrEmpty) {
		t.Errorf("nothing of nothing: %v", err)
	}
	for _, r := range []Rate{{-1, 3}, {4, 3}, {1, 0}, {0, -1}} {
		if got, err := r.Value(); err == nil || errors.Is(err, ErrEmpty) {
			t.Errorf("%v is %v, %v", r, got, err)
		}
	}
	// 18 cases, half of them: ±0.21.
	low, high := (Rate{9, 18}).Interval(0.95)
	if math.Abs((high-low)/2-0.21) > .005 {
		t.Errorf("9 of 18: [%v, %v]", low, high)
	}
	if low, high := (Rate{}).Interval(0.95); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("nothing of nothing: [%v, %v]", low, high)
	}
}

// A published example: 120 cases, of which 20 have no answer. A headline over answerable cases has those for its
// denominator, and is what its slices add up to.
func TestSlicesAddUpToTheHeadline(t *testing.T) {
	sizes := []int{18, 22, 17, 15, 16, 12} // exact entity, paraphrase, long sections, versions, tables, bad wording
	for name, c := range map[string]struct {
		hits []int
		want float64
	}{
		"dense":    {[]int{9, 18, 11, 8, 10, 8}, 0.64},
		"hybrid":   {[]int{14, 17, 12, 10, 10, 9}, 0.72},
		"reranked": {[]int{14, 19, 14, 13, 12, 9}, 0.81},
	} {
		var all Rate
		for i, hits := range c.hits {
			all = all.Add(Rate{hits, sizes[i]})
		}
		if got, err := all.Value(); err != nil || all.Of != 100 || got != c.want {
			t.Errorf("%s: %v is %v, %v; want %v", name, all, got, err, c.want)
		}
	}
}
