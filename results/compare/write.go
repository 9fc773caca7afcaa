package compare

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"frontier/results"
	"frontier/results/ab"
)

// Write writes the comparison in a format of results.Formats: table and markdown for people, csv and json in base units.
// Up to cases questions that changed are listed for each line; all of them in json.
func (c *Comparison) Write(w io.Writer, format string, cases int) error {
	if err := results.CheckFormat(format); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case "table":
		c.sheet().text(out)
		c.changedText(out, cases)
	case "markdown":
		c.sheet().markdown(out)
		c.changedMarkdown(out, cases)
	case "csv":
		err = c.baseUnits().csv(out)
	case "json":
		err = c.json(out)
	}
	if err != nil {
		return fmt.Errorf("write the comparison as %s: %w", format, err)
	}
	return out.Flush()
}

// sheet is the comparison for people.
func (c *Comparison) sheet() *sheet {
	s := &sheet{
		head:  []string{"point", "metric", "slice", "BASE", "NEW", "change", fmt.Sprintf("%g%% interval", math.Round(c.Confidence*1e4)/100), "n", "won", "lost", "finding"},
		right: []bool{false, false, false, true, true, true, false, true, true, true, false},
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		row := []string{l.Pair.Label, l.Metric.Name, l.Slice.String()}
		if l.Diff == nil {
			row = append(row, "", "", "", "", "", "", "", string(l.Finding))
			s.rows = append(s.rows, row)
			continue
		}
		d := l.Diff
		change := func(v float64) string { return l.Metric.FormatChange(v, d.Relative) }
		interval, n, won, lost := "", "", "", ""
		if d.Method != Exactly {
			interval = l.Metric.FormatInterval(d.Low, d.High, change)
		}
		if d.Cases > 0 {
			n = strconv.Itoa(d.Cases)
		}
		if d.Method == ByCase {
			won, lost = strconv.Itoa(len(d.Won)), strconv.Itoa(len(d.Lost))
		}
		s.rows = append(s.rows, append(row, l.Metric.Format(d.Base), l.Metric.Format(d.New), change(d.Change), interval, n, won, lost, string(l.Finding)))
	}
	return s
}

// changed are the lines whose questions are worth listing: of each point the first metric in which some changed.
func (c *Comparison) changed() []*Line {
	var out []*Line
	seen := map[string]bool{}
	for i := range c.Lines {
		l := &c.Lines[i]
		if l.Diff == nil || len(l.Diff.Won)+len(l.Diff.Lost) == 0 || len(l.Slice) > 0 || seen[l.Pair.Label] {
			continue
		}
		seen[l.Pair.Label] = true
		out = append(out, l)
	}
	return out
}

func (c *Comparison) changedText(w *bufio.Writer, most int) {
	if most < 1 {
		return
	}
	for _, l := range c.changed() {
		fmt.Fprintf(w, "\n%s, %s\n", l.Pair.Label, l.Metric.Name)
		if len(l.Diff.Lost) > 0 {
			fmt.Fprintf(w, "  lost %d: %s\n", len(l.Diff.Lost), Abridged(l.Diff.Lost, most))
		}
		if len(l.Diff.Won) > 0 {
			fmt.Fprintf(w, "  won %d: %s\n", len(l.Diff.Won), Abridged(l.Diff.Won, most))
		}
	}
}

func (c *Comparison) changedMarkdown(w *bufio.Writer, most int) {
	if most < 1 {
		return
	}
	for i, l := range c.changed() {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "* %s, %s", Escape(l.Pair.Label), Escape(l.Metric.Name))
		if len(l.Diff.Lost) > 0 {
			fmt.Fprintf(w, "; lost %d: %s", len(l.Diff.Lost), Escape(Abridged(l.Diff.Lost, most)))
		}
		if len(l.Diff.Won) > 0 {
			fmt.Fprintf(w, "; won %d: %s", len(l.Diff.Won), Escape(Abridged(l.Diff.Won, most)))
		}
		fmt.Fprintln(w)
	}
}

// baseUnits is the comparison for programs.
func (c *Comparison) baseUnits() *sheet {
	s := &sheet{head: []string{"point", "metric", "slice", "base", "new", "change", "relative", "low", "high", "p", "p_holm", "n", "won", "lost", "method", "finding"}}
	number := func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		row := []string{l.Pair.Label, l.Metric.Name, l.Slice.String()}
		if d := l.Diff; d != nil {
			row = append(row, number(d.Base), number(d.New), number(d.Change), strconv.FormatBool(d.Relative), number(d.Low), number(d.High), number(d.P), number(l.PHolm),
				strconv.Itoa(d.Cases), strconv.Itoa(len(d.Won)), strconv.Itoa(len(d.Lost)), string(d.Method))
		} else {
			row = append(row, "", "", "", "", "", "", "", "", "", "", "", "")
		}
		s.rows = append(s.rows, append(row, string(l.Finding)))
	}
	return s
}

type (
	comparisonJSON struct {
		Base        string           `json:"base"`
		New         string           `json:"new"`
		Confidence  float64          `json:"confidence"`
		MatchedBy   []string         `json:"matched_by"`
		OnlyBase    []string         `json:"only_base"`
		OnlyNew     []string         `json:"only_new"`
		Differences []differenceJSON `json:"differences"`
		Residue     []Residue        `json:"residue"`
		Warnings    []string         `json:"warnings"`
	}
	differenceJSON struct {
		Point    string      `json:"point"`
		Key      results.Row `json:"key"`
		Metric   string      `json:"metric"`
		Slice    Slice       `json:"slice"`
		Finding  Finding     `json:"finding"`
		Why      string      `json:"why,omitempty"`
		Method   Method      `json:"method,omitempty"`
		Base     *float64    `json:"base"`
		New      *float64    `json:"new"`
		Change   *float64    `json:"change"`
		Relative bool        `json:"relative"`
		Low      *float64    `json:"low"`
		High     *float64    `json:"high"`
		P        *float64    `json:"p"`
		PHolm    *float64    `json:"p_holm"`
		Cases    int         `json:"n"`
		Won      []string    `json:"won"`
		Lost     []string    `json:"lost"`
	}
)

func (c *Comparison) json(w *bufio.Writer) error {
	base, next := c.Only()
	out := comparisonJSON{
		Base: c.Matching.Base.Name, New: c.Matching.New.Name, Confidence: c.Confidence, MatchedBy: c.Matching.Columns,
		OnlyBase: List(base), OnlyNew: List(next), Differences: []differenceJSON{}, Residue: List(c.Residue), Warnings: List(c.Warnings),
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		one := differenceJSON{Point: l.Pair.Label, Key: l.Pair.Key, Metric: l.Metric.Name, Slice: List(l.Slice), Finding: l.Finding, Why: l.Why, Won: []string{}, Lost: []string{}}
		if d := l.Diff; d != nil {
			one.Method, one.Relative, one.Cases, one.Won, one.Lost = d.Method, d.Relative, d.Cases, List(d.Won), List(d.Lost)
			one.Base, one.New, one.Change, one.Low, one.High = ab.Finite(d.Base), ab.Finite(d.New), ab.Finite(d.Change), ab.Finite(d.Low), ab.Finite(d.High)
			one.P, one.PHolm = ab.Finite(d.P), ab.Finite(l.PHolm)
		}
		out.Differences = append(out.Differences, one)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

// List is items as they are written to JSON: never null.
func List[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
