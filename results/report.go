package results

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
)

//go:embed report.html
var reportHTML string

// reportRows is how many rows the report lists at most; browsers choke on more, and the Parquet file has them all.
const reportRows = 2000

// Report writes one self-contained HTML page: what was measured, the frontier as picture and table, all points,
// failures and warnings with their remedies, how costs were computed, and how to trace each number. m may be nil where
// there is no manifest, such as for rows of several runs.
func Report(w io.Writer, rows []Row, m *Manifest, objs []Objective) error {
	page, err := newPage(rows, m, objs)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	t, err := template.New("report").Parse(reportHTML)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := out.WriteTo(w); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// page is what the template shows.
type page struct {
	Title      string
	Subtitle   string
	Facts      []fact
	Machine    []fact
	Protocol   []string
	Objectives string
	Headlines  []string
	Picture    template.HTML // "" if there is nothing to plot
	Frontier   *sheet
	FrontierOf string
	Overlap    string
	Points     *sheet
	Shown      int
	Total      int
	Failures   []Failure
	Warnings   []warning
	Cost       []string
	Traces     []trace
	Sweep      string
}

type fact struct{ Name, Value string }

type warning struct {
	Text   string
	Points int // 0 if it is about the run
}

type trace struct{ What, Query string }

func newPage(rows []Row, m *Manifest, objs []Objective) (*page, error) {
	on, _, err := Frontier(rows, objs)
	if err != nil {
		return nil, err
	}
	p := &page{Title: "Retrieval sweep", Total: len(rows), Objectives: objectivesText(objs)}
	if p.Picture, err = svg(rows, objs); err != nil {
		return nil, err
	}
	order := ByObjectives(rows, objs)
	var front, listed []Row
	for _, i := range order {
		if on[i] {
			front = append(front, rows[i])
		}
		if len(listed) < reportRows {
			listed = append(listed, rows[i])
		}
	}
	p.Shown = len(listed)
	p.FrontierOf = fmt.Sprintf("%d of %d", len(front), len(rows))
	columns := objectivesFirst(DefaultColumns(rows, objs), objs)
	if p.Frontier, err = newSheet(front, without(columns, "status", "error")); err != nil {
		return nil, err
	}
	p.markFrontier(front, objs[0])
	if p.Points, err = newSheet(listed, append([]string{"point_id"}, columns...)); err != nil {
		return nil, err
	}
	p.Headlines = headlines(front, objs)
	p.Failures = failuresOf(rows, m)
	p.Warnings = warningsOf(rows, m)
	p.describe(rows, m)
	p.Cost = costText(rows, m)
	p.Traces = traces(front, objs[0])
	return p, nil
}

// objectivesFirst moves the objectives to the left edge, where they are seen without scrolling.
func objectivesFirst(columns []string, objs []Objective) []string {
	var out []string
	for _, o := range objs {
		out = append(out, o.Column)
	}
	at := slices.Index(columns, "engine") + 1
	return slices.Concat(columns[:at], out, without(columns[at:], out...))
}

func without(columns []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return slices.Contains(names, c) })
}

func objectivesText(objs []Objective) string {
	var parts []string
	for _, o := range objs {
		if o.Direction == Higher {
			parts = append(parts, "high "+heading(o.Column))
		} else {
			parts = append(parts, "low "+heading(o.Column))
		}
	}
	return strings.Join(parts, ", ")
}

func svg(rows []Row, objs []Objective) (template.HTML, error) {
	if _, _, err := axes(objs); err != nil {
		return "", nil // a single objective of time: the tables say all
	}
	var b bytes.Buffer
	err := Plot(&b, rows, objs, "svg")
	if errors.Is(err, ErrNothingToPlot) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text := b.String()
	start := strings.Index(text, "<svg")
	if start < 0 {
		return "", errors.New("the picture is not SVG")
	}
	return template.HTML(text[start:]), nil // drawn by us; the canvas escapes its texts
}

// markFrontier puts a first column that says which rows the measurement cannot tell from the best one.
func (p *page) markFrontier(front []Row, first Objective) {
	if len(front) == 0 {
		return
	}
	p.Frontier.Head = slices.Insert(p.Frontier.Head, 0, "by "+heading(first.Column))
	p.Frontier.Right = slices.Insert(p.Frontier.Right, 0, false)
	same, intervals := 0, 0
	_, _, bestHas := front[0].Interval(first.Column)
	for i, r := range front {
		_, _, has := r.Interval(first.Column)
		if has {
			intervals++
		}
		text := "behind the best"
		switch {
		case i == 0:
			text = "best"
		case front[0][first.Column] == r[first.Column]:
			text = "equal to the best"
			same++
		case overlap(front[0], r, first.Column):
			text = "not told apart from the best"
			same++
		case !has || !bestHas:
			text = "lower, no interval"
			if first.Direction == Lower {
				text = "higher, no interval"
			}
		}
		p.Frontier.Rows[i] = slices.Insert(p.Frontier.Rows[i], 0, text)
	}
	switch {
	case intervals < len(front):
		p.Overlap = fmt.Sprintf("The rows are in order of %s, but not all have an interval for it: small differences may be chance.", heading(first.Column))
	case same > 0:
		p.Overlap = fmt.Sprintf("The rows are in order of %s, but %d of them equal the best or have a 95%% interval that reaches into its: the measurement does not tell them apart, so choose among them by the other objectives, or measure more.", heading(first.Column), same)
	default:
		p.Overlap = fmt.Sprintf("The 95%% interval of the best %s overlaps with no other's.", heading(first.Column))
	}
}

// headlines state the ends of the frontier in words.
func headlines(front []Row, objs []Objective) []string {
	if len(front) == 0 {
		return nil
	}
	var out []string
	for _, o := range objs {
		order := ByObjectives(front, append([]Objective{o}, objs...))
		best := front[order[0]]
		var others []string
		for _, other := range objs {
			if other != o {
				others = append(others, heading(other.Column)+" "+quantity(best, other))
			}
		}
		text := fmt.Sprintf("Best %s: %s by %s", heading(o.Column), quantity(best, o), describePoint(best))
		if len(others) > 0 {
			text += ", at " + strings.Join(others, ", ")
		}
		out = append(out, text+".")
	}
	return out
}

// quantity is a value with its interval and its unit.
func quantity(r Row, o Objective) string {
	s := &sheet{Rows: [][]string{{""}}}
	col, _ := Lookup(o.Column)
	unit := s.numbers([]Row{r}, o.Column, col, 0)
	return strings.TrimSpace(s.Rows[0][0] + " " + unit)
}

func describePoint(r Row) string {
	parts := []string{r.Text("engine")}
	for _, name := range []string{"m", "nlist", "ef_search", "nprobe"} {
		if v, ok := r.Number(name); ok {
			parts = append(parts, fmt.Sprintf("%s %g", heading(name), v))
		}
	}
	if e := r.Text("embedder"); e != "" {
		parts = append(parts, "on "+e)
	}
	if v, ok := r.Number("chunk_size"); ok {
		parts = append(parts, fmt.Sprintf("with chunks of %g %s", v, r.Text("chunk_unit")))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

func failuresOf(rows []Row, m *Manifest) []Failure {
	if m != nil && len(m.Failures) > 0 {
		return m.Failures
	}
	var out []Failure
	for _, r := range rows {
		if r.Text("status") == "ok" {
			continue
		}
		f := Failure{CellID: r.Text("cell_id"), Status: r.Text("status"), Error: r.Text("error"), Points: 1}
		i := slices.IndexFunc(out, func(o Failure) bool {
			return o.CellID == f.CellID && o.Status == f.Status && o.Error == f.Error
		})
		if i >= 0 {
			out[i].Points++
			continue
		}
		out = append(out, f)
	}
	return out
}

// warningsOf gathers the warnings of the run and of its points, equal ones once.
func warningsOf(rows []Row, m *Manifest) []warning {
	var out []warning
	if m != nil {
		for _, w := range m.Warnings {
			out = append(out, warning{Text: w})
		}
	}
	count := map[string]int{}
	var texts []string
	for _, r := range rows {
		list, _ := r["warnings"].([]string)
		for _, w := range list {
			if count[w] == 0 {
				texts = append(texts, w)
			}
			count[w]++
		}
	}
	for _, text := range texts {
		out = append(out, warning{text, count[text]})
	}
	return out
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
