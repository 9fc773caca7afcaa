package goldencheck

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Formats are the names that Report.Write takes.
func Formats() []string { return []string{"table", "json", "csv", "markdown"} }

// finish orders the findings and draws the conclusion from them.
func (r *Report) finish() {
	place := func(f Finding) int { return slices.Index(r.Files, f.File) }
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity, b.Severity), cmp.Compare(place(a), place(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	r.Usable = r.Count(Fault) == 0
}

// Count is the number of findings of a severity.
func (r *Report) Count(severity Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

// Where is "file:line:column", as far as it is known.
func (f Finding) Where() string {
	switch {
	case f.Line > 0 && f.Column > 0:
		return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	case f.Line > 0:
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return f.File
}

// String is one line.
func (f Finding) String() string {
	s := f.Message
	if where := f.Where(); where != "" {
		s = where + ": " + s
	}
	if f.Hint != "" {
		s += "; " + f.Hint
	}
	return strings.ReplaceAll(s, "\n", " ")
}

// Write writes the report: table and markdown for people, json for programs, and csv with one row a slice, a chunking or a
// finding, which the first column tells apart.
func (r *Report) Write(w io.Writer, format string) error {
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case "table":
		err = r.writeTable(out)
	case "markdown":
		r.writeMarkdown(out)
	case "json":
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		err = enc.Encode(r)
	case "csv":
		err = r.writeCSV(out)
	default:
		return fmt.Errorf("unknown format %q; the formats are %s", format, strings.Join(Formats(), ", "))
	}
	if err != nil {
		return fmt.Errorf("writing the report on a golden set: %w", err)
	}
	return out.Flush()
}

// most is how many findings of a kind people are shown.
const most = 20

// Name is "scenario=versions", or "all".
func (s Slice) Name() string {
	if s.Field == "" {
		return "all"
	}
	return s.Field + "=" + s.Value
}

func (r *Report) sliceTable() (head []string, rows [][]string) {
	for _, s := range r.Slices {
		rows = append(rows, []string{
			s.Name(), strconv.Itoa(s.Answerable), plusMinus(s.HalfWidth), decimals(s.SmallestDifference), strconv.Itoa(s.Unanswerable), plusMinus(s.UnanswerableHalfWidth),
		})
	}
	return []string{"slice", "answerable", "interval", "can tell apart", "unanswerable", "interval"}, rows
}

func (r *Report) chunkingTable() (head []string, rows [][]string) {
	for _, h := range r.Chunkings {
		rows = append(rows, []string{
			h.Chunking, fmt.Sprintf("%d of %d", h.Held, h.Units), fmt.Sprintf("%.3f", h.Ceiling), fmt.Sprintf("%.3f", h.PrecisionOmega),
			strconv.Itoa(h.CharsP50), strconv.Itoa(h.CharsP95),
		})
	}
	return []string{"chunking", "evidence held", "recall at most", "precision omega", "chars p50", "chars p95"}, rows
}

func plusMinus(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("±%.2f", *v)
}

func decimals(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *v)
}

// headline is what the report says in a sentence.
func (r *Report) headline() string {
	s := fmt.Sprintf("%s: %d cases, %d answerable, %d unanswerable", strings.Join(r.Files, " and "), r.Cases, r.Answerable, r.Unanswerable)
	if r.Unjudged > 0 {
		s += fmt.Sprintf(", %d without a relevant judgement", r.Unjudged)
	}
	return s
}

// legend explains the columns of the slices.
func (r *Report) legend() string {
	return fmt.Sprintf("interval: half the width of the %.4g%% interval (Wilson) of a share of one half, which no other share exceeds.\n"+
		"can tell apart: the smallest difference that two configurations asked the same cases can be told apart by: %d cases, all in one direction (McNemar).",
		r.Confidence*100, r.SmallestChange)
}

func (r *Report) verdict() string {
	warnings := counted(r.Count(Warning), Warning)
	if r.Usable {
		return "usable, " + warnings
	}
	return "not usable: " + counted(r.Count(Fault), Fault) + ", " + warnings
}

func counted(n int, what Severity) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (r *Report) writeTable(w *bufio.Writer) error {
	fmt.Fprintln(w, r.headline())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	table := func(head []string, rows [][]string) error {
		fmt.Fprintln(w)
		for _, cells := range append([][]string{head}, rows...) {
			fmt.Fprintln(t, strings.Join(cells, "\t"))
		}
		return t.Flush()
	}
	if err := table(r.sliceTable()); err != nil {
		return err
	}
	fmt.Fprintln(w, "\n"+r.legend())
	if len(r.Chunkings) > 0 {
		if err := table(r.chunkingTable()); err != nil {
			return err
		}
		fmt.Fprintln(w, "\n"+r.chunkingLegend())
	}
	r.eachShown(func(severity Severity) { fmt.Fprintf(w, "\n%ss:\n", severity) }, func(s string) { fmt.Fprintln(w, s) })
	fmt.Fprintln(w, "\n"+r.verdict())
	return nil
}

// chunkingLegend explains the columns of the chunkings.
func (r *Report) chunkingLegend() string {
	return fmt.Sprintf("recall at most: what a perfect retriever would reach, a chunk holding evidence by the rule %q.\n"+
		"precision omega: the share of gold, in characters, in all chunks that touch it. Sizes are of the chunks of documents with evidence.", r.Chunkings[0].Rule)
}

func (r *Report) writeMarkdown(w *bufio.Writer) {
	escape := strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;")
	table := func(head []string, rows [][]string) {
		fmt.Fprintln(w)
		for i, cells := range append([][]string{head}, rows...) {
			for _, cell := range cells {
				fmt.Fprintf(w, "| %s ", escape.Replace(cell))
			}
			fmt.Fprintln(w, "|")
			if i == 0 {
				fmt.Fprintln(w, strings.Repeat("|---", len(cells))+"|")
			}
		}
	}
	fmt.Fprintln(w, escape.Replace(r.headline()))
	table(r.sliceTable())
	fmt.Fprintln(w, "\n"+r.legend())
	if len(r.Chunkings) > 0 {
		table(r.chunkingTable())
		fmt.Fprintln(w, "\n"+r.chunkingLegend())
	}
	r.eachShown(func(severity Severity) { fmt.Fprintf(w, "\n**%ss**\n\n", severity) }, func(s string) { fmt.Fprintln(w, "* "+escape.Replace(s)) })
	fmt.Fprintln(w, "\n**"+r.verdict()+"**")
}

// eachShown yields the findings that people are shown, faults first.
func (r *Report) eachShown(head func(Severity), line func(string)) {
	for _, severity := range []Severity{Fault, Warning} {
		counts := map[string]int{}
		var kinds []string
		for _, f := range r.Findings {
			if f.Severity != severity {
				continue
			}
			if len(kinds) == 0 {
				head(severity)
			}
			if counts[f.Kind]++; counts[f.Kind] == 1 {
				kinds = append(kinds, f.Kind)
			}
			if counts[f.Kind] <= most {
				line(f.String())
			}
		}
		for _, kind := range kinds {
			if n := counts[kind] - most; n > 0 {
				line(fmt.Sprintf("... and %d more %ss of the kind %s: see --format json or csv", n, severity, kind))
			}
		}
	}
}

func (r *Report) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	rows := [][]string{{
		"row", "name", "answerable", "unanswerable", "half_width", "smallest_difference", "unanswerable_half_width", "held", "units", "ceiling", "precision_omega",
		"severity", "file", "line", "column", "case", "message", "hint",
	}}
	row := func(cells ...string) { rows = append(rows, append(cells, make([]string, len(rows[0])-len(cells))...)) }
	for _, s := range r.Slices {
		row("slice", s.Name(), strconv.Itoa(s.Answerable), strconv.Itoa(s.Unanswerable), number(s.HalfWidth), number(s.SmallestDifference), number(s.UnanswerableHalfWidth))
	}
	for _, h := range r.Chunkings {
		row("chunking", h.Chunking, "", "", "", "", "", strconv.Itoa(h.Held), strconv.Itoa(h.Units), number(&h.Ceiling), number(&h.PrecisionOmega))
	}
	positive := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	for _, f := range r.Findings {
		row("finding", f.Kind, "", "", "", "", "", "", "", "", "", string(f.Severity), f.File, positive(f.Line), positive(f.Column), f.Case, f.Message, f.Hint)
	}
	return out.WriteAll(rows)
}
