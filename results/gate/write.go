package gate

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"frontier/results/compare"
)

// Formats are the names that Write takes.
func Formats() []string { return []string{"text", "markdown", "github", "junit", "json"} }

// CheckFormat is an error, with the nearest name, if Write has no such format.
func CheckFormat(format string) error {
	if slices.Contains(Formats(), format) {
		return nil
	}
	return fmt.Errorf("unknown format %q%s; the formats are %s", format, didYouMean(format, Formats()), strings.Join(Formats(), ", "))
}

// Write writes the result: text for a terminal, coloured if asked; markdown for the comment on a change; github as
// annotations of GitHub Actions; junit as XML for other systems; json by ResultSchema.
func (r *Result) Write(w io.Writer, format string, colour bool) error {
	if err := CheckFormat(format); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case "text":
		r.text(out, paint(colour))
	case "markdown":
		r.markdown(out)
	case "github":
		r.github(out)
	case "junit":
		err = r.junit(out)
	case "json":
		err = r.json(out)
	}
	if err != nil {
		return fmt.Errorf("write the gate's result as %s: %w", format, err)
	}
	return out.Flush()
}

// headline is the verdict in one line.
func (r *Result) headline() string {
	fails, warns := r.Count(Fail), r.Count(Warn)
	text := fmt.Sprintf("%d decisions (%d rules, %d points): ", len(r.Decisions), len(r.Policy.Rules), r.Matched())
	switch {
	case fails > 0 && warns > 0:
		return text + fmt.Sprintf("%d failed, %d to look at", fails, warns)
	case fails > 0:
		return text + fmt.Sprintf("%d failed", fails)
	case warns > 0:
		return text + fmt.Sprintf("none failed, %d to look at", warns)
	}
	return text + "all passed"
}

// of are the decisions of a rule with a verdict, in their order.
func (r *Result) of(rule *Rule, verdict Action) []*Decision {
	var out []*Decision
	for i := range r.Decisions {
		if d := &r.Decisions[i]; d.Rule == rule && d.Verdict == verdict {
			out = append(out, d)
		}
	}
	return out
}

// figures are the numbers of a decision: "0.912 -> 0.861, -0.051 (99%: -0.08 to -0.026), 185 questions, 14 lost, 2 won".
func (r *Result) figures(d *Decision) string {
	m := d.Rule.Metric
	if math.IsNaN(d.New) {
		return ""
	}
	var parts []string
	value := m.Format
	if d.Rule.Kind == MaxCount {
		value = func(v float64) string { return fmt.Sprintf("%g", v) }
	}
	if math.IsNaN(d.Base) {
		parts = append(parts, value(d.New))
	} else {
		parts = append(parts, value(d.Base)+" -> "+value(d.New))
	}
	certain := d.Low == d.High
	if !math.IsNaN(d.Change) {
		format := func(v float64) string { return m.FormatChange(v, d.Relative) }
		text := format(d.Change)
		if interval := m.FormatInterval(d.Low, d.High, format); interval != "" && !certain {
			text += fmt.Sprintf(" (%s: %s)", percent(r.Policy.Confidence), interval)
		}
		parts = append(parts, text)
	} else if interval := m.FormatInterval(d.Low, d.High, value); interval != "" && !certain {
		parts[0] += fmt.Sprintf(" (%s: %s)", percent(r.Policy.Confidence), interval)
	}
	if d.Cases > 0 {
		what := "questions"
		if d.Method == compare.ByBlock {
			what = "pairs of blocks"
		}
		parts = append(parts, fmt.Sprintf("%d %s", d.Cases, what))
	}
	if len(d.Won)+len(d.Lost) > 0 {
		parts = append(parts, fmt.Sprintf("%d lost, %d won", len(d.Lost), len(d.Won)))
	}
	return strings.Join(parts, ", ")
}

// pointName is the point for people.
func (d *Decision) pointName() string {
	if d.Point == "" {
		return "no point"
	}
	return d.Point
}

// vanished is a point that is missing under several rules for the same reason, told once.
type vanished struct {
	point, why string
	verdict    Action
	rules      int
}

// vanishedPoints are the points that are missing, each once, and what follows at worst.
func (r *Result) vanishedPoints() []vanished {
	var out []vanished
	for i := range r.Decisions {
		d := &r.Decisions[i]
		if d.Outcome != Missing || d.Point == "" {
			continue
		}
		at := slices.IndexFunc(out, func(v vanished) bool { return v.point == d.Point })
		if at < 0 {
			at = len(out)
			out = append(out, vanished{d.Point, d.Why, d.Verdict, 0})
		}
		out[at].rules++
		if d.Verdict == Fail || out[at].verdict == Pass {
			out[at].verdict = d.Verdict
		}
	}
	return out
}

// told says whether the decision is told with its point, not with its rule.
func (d *Decision) told() bool { return d.Outcome == Missing && d.Point != "" }
