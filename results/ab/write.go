package ab

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"frontier/bench/stats"
	"frontier/results"
)

// Write writes r in one of results.Formats. table and markdown are for people: units are scaled and changes signed. csv and
// json are for programs: base units, a line or an object a metric.
func (r *Result) Write(w io.Writer, format string) error {
	if err := results.CheckFormat(format); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case "json":
		err = r.WriteJSON(out)
	case "csv":
		err = r.writeCSV(out)
	case "markdown":
		r.writeMarkdown(out)
	default:
		err = r.writeText(out)
	}
	if err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return out.Flush()
}

var heading = []string{"point", "metric", "base", "new", "change", "interval", "p", "decision"}

// lines are the cells below heading.
func (r *Result) lines() [][]string {
	var lines [][]string
	for _, p := range r.Points {
		name := p.Name()
		if p.Error != "" {
			lines = append(lines, []string{name, "", "", "", "", "", "", "failed: " + strings.ReplaceAll(p.Error, "\n", " ")})
		}
		for _, m := range p.Metrics {
			lines = append(lines, []string{name, m.Name, value(m.Name, m.Base), value(m.Name, m.New), m.change(m.Change), m.interval(), m.p(), string(m.Decision)})
			name = "" // once is enough for the eye
		}
	}
	return lines
}

// Name names the point for people: what tells it from the others of base, and what was changed.
func (p *Point) Name() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p.Key)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, p.Key[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Changed)) {
		parts = append(parts, fmt.Sprintf("%s %s -> %s", name, orNone(p.Changed[name][0]), orNone(p.Changed[name][1])))
	}
	if len(parts) == 0 {
		return p.Base
	}
	return strings.Join(parts, ", ")
}

func orNone(v any) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprint(v)
}

func (m *Metric) change(v float64) string {
	if m.Relative {
		return fmt.Sprintf("%+.1f%%", 100*v)
	}
	return fmt.Sprintf("%+.4f", v)
}

func (m *Metric) interval() string {
	if m.Low == nil || m.High == nil {
		return "exact"
	}
	return m.change(*m.Low) + " to " + m.change(*m.High)
}

func (m *Metric) p() string {
	if m.P == nil {
		return ""
	}
	if *m.P < 0.0005 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", *m.P)
}

// value is a metric for people.
func value(name string, v float64) string {
	c, _ := results.Lookup(name)
	switch c.Unit {
	case "seconds":
		return time.Duration(v * 1e9).Round(roundTo(v)).String()
	case "bytes":
		return strconv.FormatFloat(v, 'f', 0, 64) + " B"
	case "fraction":
		return fmt.Sprintf("%.4f", v)
	}
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return fmt.Sprintf("%.4g", v)
}

// roundTo leaves four digits of a time in seconds.
func roundTo(v float64) time.Duration {
	step := time.Duration(1)
	for float64(step) < v*1e9/1e4 {
		step *= 10
	}
	return step
}

func (r *Result) writeText(w *bufio.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(heading, "\t"))
	for _, line := range r.lines() {
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, note := range r.notes() {
		fmt.Fprintln(w, note)
	}
	return nil
}

// notes say what the decisions rest on.
func (r *Result) notes() []string {
	n := r.Count()
	notes := []string{"", "base and new are over all blocks together; change and interval are those of the ratios within pairs, which the decision rests on.", fmt.Sprintf("%d better, %d same, %d worse, %d inconclusive, from %d pairs of blocks of about %v a point, at a confidence of %v for all decisions together; measured in %v.",
		n[stats.Better], n[stats.Same], n[stats.Worse], n[stats.Inconclusive], r.Pairs, seconds(r.Block), r.Confidence, seconds(r.Seconds).Round(time.Second/10))}
	if n[stats.Inconclusive] > 0 {
		notes = append(notes, "Inconclusive: neither a change beyond the margin nor its absence is shown. More --pairs, a longer --block or a quieter machine (see `frontier doctor`) narrow the interval.")
	}
	noisy := 0
	for _, p := range r.Points {
		if p.Noisy > 0 {
			noisy++
		}
	}
	if noisy > 0 {
		notes = append(notes, fmt.Sprintf("The machine was disturbed while %d of %d points were measured, and not quiet for long enough to leave those pairs out.", noisy, len(r.Points)))
	}
	for _, u := range r.Unmatched {
		notes = append(notes, "Without a partner: "+u)
	}
	for _, warning := range r.Warnings {
		notes = append(notes, "Warning: "+strings.ReplaceAll(warning, "\n", " "))
	}
	return notes
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (r *Result) writeMarkdown(w *bufio.Writer) {
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(w, "| %s ", results.EscapeMarkdown(c)) // a bufio.Writer keeps its first error until Flush
		}
		fmt.Fprintln(w, "|")
	}
	line(heading)
	fmt.Fprintln(w, "|:---|:---|---:|---:|---:|:---|---:|:---|")
	for _, cells := range r.lines() {
		line(cells)
	}
	for _, note := range r.notes() {
		fmt.Fprintln(w, results.EscapeMarkdown(note))
	}
}

func (r *Result) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"base_point_id", "new_point_id", "point", "metric", "base", "new", "relative", "change", "low", "high", "p", "margin", "decision", "error"}) // Flush tells
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	optional := func(v *float64) string {
		if v == nil {
			return ""
		}
		return number(*v)
	}
	for _, p := range r.Points {
		if p.Error != "" {
			_ = out.Write([]string{p.Base, p.New, p.Name(), "", "", "", "", "", "", "", "", "", "", p.Error})
		}
		for _, m := range p.Metrics {
			_ = out.Write([]string{
				p.Base, p.New, p.Name(), m.Name, number(m.Base), number(m.New), strconv.FormatBool(m.Relative),
				number(m.Change), optional(m.Low), optional(m.High), optional(m.P), number(m.Margin), string(m.Decision), "",
			})
		}
	}
	out.Flush()
	return out.Error()
}
