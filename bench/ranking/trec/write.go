package trec

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontier/bench/ranking"
)

// Formats are those that Write knows.
func Formats() []string { return []string{"table", "json", "csv", "markdown", "trec"} }

// Write prints the totals, and with perQuery the figures of each query.
//
//   - table and markdown have a line for each measure, or with perQuery a line for each query and one for the total.
//   - csv has the columns query, measure and value, the total being that of the query "all"; json is one object. Both
//     have all digits, and null or nothing where there is no figure.
//   - trec is what trec_eval prints, to the byte. A query that the run lacks has lines too where it counts, as of
//     trec_eval 10 with -q -c, whose num_ret is 1 there, since it puts a made-up document in.
func (r *Report) Write(w io.Writer, format string, perQuery bool) error {
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case "table", "markdown":
		r.writeSheet(out, format == "markdown", perQuery)
	case "json":
		err = r.writeJSON(out, perQuery)
	case "csv":
		err = r.writeCSV(out, perQuery)
	case "trec":
		r.writeTREC(out, perQuery)
	default:
		return fmt.Errorf("unknown format %q; the formats are %s", format, strings.Join(Formats(), ", "))
	}
	if err != nil {
		return fmt.Errorf("writing the measures as %s: %w", format, err)
	}
	return out.Flush()
}

// total is the name of the line of all queries, as trec_eval has it.
const total = "all"

// writeTREC leaves out figures that there are none of, which no measure of trec_eval's has.
func (r *Report) writeTREC(w *bufio.Writer, perQuery bool) {
	line := func(m ranking.Measure, query string, figure float64) {
		switch {
		case m.IsTag() && query == total:
			fmt.Fprintf(w, "%-22s\t%s\t%s\n", m.Name(), query, r.Tag)
		case !math.IsNaN(figure):
			fmt.Fprintf(w, "%-22s\t%s\t%s\n", m.Name(), query, printed(m, figure))
		}
	}
	if perQuery {
		for _, q := range r.Queries {
			for i, m := range r.Options.Measures {
				if m.PerQuery() {
					line(m, q.ID, q.Figures[i])
				}
			}
		}
	}
	for i, m := range r.Options.Measures {
		line(m, total, r.Totals[i])
	}
}

// printed is a figure with the digits that trec_eval prints.
func printed(m ranking.Measure, v float64) string { return strconv.FormatFloat(v, 'f', m.Digits(), 64) }

func (r *Report) writeCSV(w io.Writer, perQuery bool) error {
	out := csv.NewWriter(w)
	rows := [][]string{{"query", "measure", "value"}}
	add := func(query string, figures []float64) {
		for i, m := range r.Options.Measures {
			if m.IsTag() || query != total && !m.PerQuery() {
				continue
			}
			value := ""
			if !math.IsNaN(figures[i]) {
				value = strconv.FormatFloat(figures[i], 'g', -1, 64)
			}
			rows = append(rows, []string{query, m.Name(), value})
		}
	}
	if perQuery {
		for _, q := range r.Queries {
			add(q.ID, q.Figures)
		}
	}
	add(total, r.Totals)
	return out.WriteAll(rows)
}

// jsonReport is the object of --format json.
type jsonReport struct {
	Tag            string              `json:"tag"`
	RelevanceMin   int                 `json:"relevance_min"`
	RunQueriesOnly bool                `json:"run_queries_only"`
	Judged         int                 `json:"queries_judged"`
	Counted        int                 `json:"queries_counted"`
	Missing        int                 `json:"queries_missing"`
	Ignored        int                 `json:"queries_ignored"`
	Warnings       []string            `json:"warnings"`
	Measures       map[string]*float64 `json:"measures"`
	Queries        []jsonQuery         `json:"queries,omitempty"`
}

type jsonQuery struct {
	Query    string              `json:"query"`
	Missing  bool                `json:"missing"`
	Measures map[string]*float64 `json:"measures"`
}

func (r *Report) writeJSON(w io.Writer, perQuery bool) error {
	object := jsonReport{
		Tag: r.Tag, RelevanceMin: r.Options.RelevanceMin, RunQueriesOnly: r.Options.RunQueriesOnly,
		Judged: r.Judged, Counted: len(r.Queries), Missing: r.Missing, Ignored: r.Ignored,
		Warnings: append([]string{}, r.Warnings...), Measures: r.named(r.Totals, false),
	}
	if perQuery {
		for _, q := range r.Queries {
			object.Queries = append(object.Queries, jsonQuery{q.ID, q.Missing, r.named(q.Figures, true)})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(object)
}

// named are figures by the name of their measure, nil where there is none.
func (r *Report) named(figures []float64, perQuery bool) map[string]*float64 {
	named := map[string]*float64{}
	for i, m := range r.Options.Measures {
		if m.IsTag() || perQuery && !m.PerQuery() {
			continue
		}
		named[m.Name()] = nil
		if v := figures[i]; !math.IsNaN(v) {
			named[m.Name()] = &v
		}
	}
	return named
}

// writeSheet prints for people: measures downwards, or with perQuery measures across and queries downwards.
func (r *Report) writeSheet(w *bufio.Writer, markdown, perQuery bool) {
	rows := [][]string{{"measure", "value"}}
	cell := func(m ranking.Measure, figure float64) string {
		if math.IsNaN(figure) {
			return "-"
		}
		return printed(m, figure)
	}
	if perQuery {
		rows = [][]string{{"query"}}
		add := func(query string, figures []float64) {
			row := []string{query}
			for i, m := range r.Options.Measures {
				switch {
				case m.IsTag():
				case query != total && !m.PerQuery():
					row = append(row, "-")
				default:
					row = append(row, cell(m, figures[i]))
				}
			}
			rows = append(rows, row)
		}
		for _, m := range r.Options.Measures {
			if !m.IsTag() {
				rows[0] = append(rows[0], m.Name())
			}
		}
		for _, q := range r.Queries {
			add(q.ID, q.Figures)
		}
		add(total, r.Totals)
	} else {
		for i, m := range r.Options.Measures {
			if !m.IsTag() {
				rows = append(rows, []string{m.Name(), cell(m, r.Totals[i])})
			}
		}
	}
	if markdown {
		writeMarkdown(w, rows)
	} else {
		writeAligned(w, rows)
	}
}

// writeAligned sets the first column to the left and the others, which are figures, to the right.
func writeAligned(w *bufio.Writer, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		for j, cell := range row {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell))
			if j == 0 {
				fmt.Fprint(w, cell, pad)
			} else {
				fmt.Fprint(w, "  ", pad, cell)
			}
		}
		fmt.Fprintln(w)
	}
}

func writeMarkdown(w *bufio.Writer, rows [][]string) {
	for i, row := range rows {
		fmt.Fprintln(w, "| "+strings.Join(escaped(row), " | ")+" |")
		if i == 0 {
			fmt.Fprintln(w, "| ---"+strings.Repeat(" | ---:", len(row)-1)+" |")
		}
	}
}

// escaped are cells whose bars do not end them.
func escaped(row []string) []string {
	cells := make([]string, len(row))
	for i, cell := range row {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	return cells
}
