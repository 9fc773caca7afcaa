package gate

import (
	"fmt"
	"math"
	"slices"

	"frontier/results/compare"
)

// manyCases are so many questions that no rule of sense is out of their reach.
const manyCases = 500

// limitKey is what a limit depends on: the number of questions, and how many of them can change.
type limitKey struct {
	rule              *Rule
	cases, changeable int
}

// limited notes a limit of a rule at a point. What it is, "" for none, is found once for equal numbers of questions.
func (j *judge) limited(r *Rule, point string, cases, changeable int, find func() string) {
	key := limitKey{r, cases, changeable}
	text, asked := j.asked[key]
	if !asked {
		text = find()
		j.asked[key] = text
	}
	j.judged[r]++
	if text == "" {
		return
	}
	i := slices.IndexFunc(j.limits[r], func(l limit) bool { return l.text == text })
	if i < 0 {
		i = len(j.limits[r])
		j.limits[r] = append(j.limits[r], limit{text: text, example: point})
	}
	j.limits[r][i].points++
}

// limit is what a rule can never do at some points.
type limit struct {
	text, example string
	points        int
}

// texts are the limits of a rule, with the number of points if it is not so at all of them.
func (j *judge) texts(r *Rule) []string {
	var out []string
	for _, l := range j.limits[r] {
		if l.points < j.judged[r] {
			l.text += fmt.Sprintf(" (at %d of %d points, such as %s)", l.points, j.judged[r], l.example)
		}
		out = append(out, l.text)
	}
	return out
}

// limitChange notes what a rule about a change can never do with the questions that there are: it is asked what it would
// decide in the worst case, in which every question gets the worst value, or in the best.
func (j *judge) limitChange(d *Decision, diff *compare.Difference) {
	r := d.Rule
	if diff.Method != compare.ByCase || r.Metric.Column.Unit != "fraction" || r.Share || diff.Cases > manyCases {
		return
	}
	value := 0.0
	if r.Metric.Higher() == r.Kind.required() {
		value = 1
	}
	j.limited(r, d.Point, diff.Cases, diff.Changeable(value), func() string { return j.cannotChange(r, diff, value) })
}

func (j *judge) cannotChange(r *Rule, diff *compare.Difference, value float64) string {
	extreme, err := diff.Extreme(value, compare.Options{Confidence: j.policy.Confidence, Seed: seed})
	if err != nil {
		return "" // then the difference itself could not be had either
	}
	var d Decision
	h := view(extreme, r.Metric.Higher())
	if r.Kind.required() {
		h.require(&d, extreme, r.Bound)
	} else {
		h.allow(&d, extreme, r.Bound)
	}
	switch {
	case d.candidate != "" && d.P <= (1-j.policy.Confidence)*(1+1e-9):
		return ""
	case r.Kind.required():
		return fmt.Sprintf("it can never pass: even if all %d questions got the best value, the change would not be shown at %s; add questions of this kind", diff.Cases, percent(j.policy.Confidence))
	}
	return fmt.Sprintf("it can never fail: even if all %d questions got the worst value, a change by more than %s would not be shown at %s; use max_count, or add questions of this kind", diff.Cases, r.boundText(), percent(j.policy.Confidence))
}

// limitBound notes what a rule about NEW alone can never do with as many questions.
func (j *judge) limitBound(d *Decision, l *compare.Level) {
	if l.Method != compare.ByCase || d.Rule.Metric.Column.Unit != "fraction" || l.Cases > manyCases {
		return
	}
	j.limited(d.Rule, d.Point, l.Cases, 0, func() string { return j.cannotHold(d.Rule, l) })
}

func (j *judge) cannotHold(r *Rule, l *compare.Level) string {
	var undecided []int
	pass, fail := false, false
	for hits := range l.Cases + 1 {
		var d Decision
		hold(&d, compare.Proportion(hits, l.Cases, compare.Options{Confidence: j.policy.Confidence}), r)
		switch {
		case d.candidate == Broken && d.P <= (1-j.policy.Confidence)*(1+1e-9):
			fail = true
		case d.Outcome == Kept:
			pass = true
		default:
			undecided = append(undecided, hits)
		}
	}
	what := "it can never fail"
	switch {
	case pass && fail:
		return ""
	case !pass && !fail:
		what = "it can neither pass nor fail"
	case !pass:
		what = "it can never pass"
	}
	text := fmt.Sprintf("%s with %d questions at %s", what, l.Cases, percent(j.policy.Confidence))
	if l.Binary && len(undecided) > 0 {
		text += fmt.Sprintf(": %d to %d hits of %d are all inconclusive", undecided[0], undecided[len(undecided)-1], l.Cases)
	}
	if needed := enough(r, j.policy.Confidence); needed > 0 {
		text += fmt.Sprintf("; %d questions could, or use max_count", needed)
	}
	return text
}

// enough is the least number of questions with which the rule could both pass and fail, or 0 if no number is.
func enough(r *Rule, confidence float64) int {
	if r.Bound <= 0 || r.Bound >= 1 {
		return 0
	}
	// With nothing but hits the exact interval reaches down to tail^(1/n), and with none up to 1-tail^(1/n).
	tail := math.Log((1 - confidence) / 2)
	return int(math.Ceil(max(tail/math.Log(r.Bound), tail/math.Log(1-r.Bound))))
}

func percent(share float64) string { return fmt.Sprintf("%g%%", math.Round(share*1e6)/1e4) }
