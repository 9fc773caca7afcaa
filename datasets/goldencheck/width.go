package goldencheck

import (
	"fmt"
	"math"

	"frontier/bench/stats"
	"frontier/datasets"
)

// Slice is a group of cases and what figures over it can show. A width is nil where there is nothing to measure.
type Slice struct {
	Field        string `json:"field"` // "" for all cases
	Value        string `json:"value"`
	Cases        int    `json:"cases"`
	Answerable   int    `json:"answerable"`
	Unanswerable int    `json:"unanswerable"`
	// HalfWidth is that of the interval of a share of one half over the answerable cases: the widest that it can be.
	HalfWidth *float64 `json:"half_width"`
	// SmallestDifference is what two configurations must differ by on these cases, at least, to be told apart; nil where no
	// difference can be.
	SmallestDifference *float64 `json:"smallest_difference"`
	// UnanswerableHalfWidth is HalfWidth over the unanswerable cases: of the share that is rightly withheld.
	UnanswerableHalfWidth *float64 `json:"unanswerable_half_width"`
}

// HalfWidth is half the width of Wilson's interval of a share of one half over n cases, z/(2 sqrt(n + z^2)): no share has a
// wider one. It is NaN unless n > 0 and the confidence is within (0,1).
func HalfWidth(n int, confidence float64) float64 {
	if n < 1 {
		return math.NaN()
	}
	z := 2 * stats.ProportionMargin(0.5, 1, confidence)
	return z / (2 * math.Sqrt(float64(n)+z*z))
}

// SmallestChange is how many cases at least must turn from miss to hit, with none that turns back, for McNemar's exact test
// to tell it from chance: 6 at 0.95. The confidence is within (0,1).
func SmallestChange(confidence float64) int {
	n := 1
	for stats.McNemar(n, 0) > 1-confidence {
		n++
	}
	return n
}

// slices counts the cases of every slice.
func (c *checker) slices() {
	r := c.report
	r.SmallestChange = SmallestChange(c.o.Confidence)
	all := make([]int, len(c.golden.Cases))
	for i := range all {
		all[i] = i
	}
	whole := c.slice(datasets.Slice{}, all)
	r.Answerable, r.Unanswerable = whole.Answerable, whole.Unanswerable
	r.Unjudged = r.Cases - r.Answerable - r.Unanswerable
	r.Slices = []Slice{whole}
	blind := 0
	for _, s := range c.golden.Slices() {
		slice := c.slice(s.Slice, s.Cases)
		if slice.Answerable > 0 && slice.SmallestDifference == nil {
			blind++
		}
		r.Slices = append(r.Slices, slice)
	}
	if whole.Answerable > 0 && whole.SmallestDifference == nil {
		c.find(Finding{
			Severity: Warning, Kind: KindSize, File: r.Files[0], Message: fmt.Sprintf("%d answerable cases are too few to tell any two configurations apart", whole.Answerable),
			Hint: fmt.Sprintf("at least %d cases must change, all in one direction", r.SmallestChange),
		})
	} else if blind > 0 {
		c.find(Finding{
			Severity: Warning, Kind: KindSize, File: r.Files[0], Message: fmt.Sprintf("%d of %d slices have fewer than %d answerable cases: no difference on one of them can be told from chance", blind, len(r.Slices)-1, r.SmallestChange),
			Hint: "read their misses, and decide on larger slices",
		})
	}
}

func (c *checker) slice(s datasets.Slice, cases []int) Slice {
	out := Slice{Field: s.Field, Value: s.Value, Cases: len(cases)}
	for _, i := range cases {
		switch {
		case c.golden.Cases[i].Unanswerable:
			out.Unanswerable++
		case c.answerable(i):
			out.Answerable++
		}
	}
	out.HalfWidth = c.halfWidth(out.Answerable)
	out.UnanswerableHalfWidth = c.halfWidth(out.Unanswerable)
	if change := c.report.SmallestChange; out.Answerable >= change {
		difference := float64(change) / float64(out.Answerable)
		out.SmallestDifference = &difference
	}
	return out
}

func (c *checker) halfWidth(n int) *float64 {
	if n == 0 {
		return nil
	}
	w := HalfWidth(n, c.o.Confidence)
	return &w
}
