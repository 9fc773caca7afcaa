package results

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"frontier/internal/param"
)

// Formats are the names that WriteTable takes.
func Formats() []string { return []string{"table", "json", "csv", "markdown"} }

// CheckFormat is an error, with the nearest name, if WriteTable has no such format.
func CheckFormat(format string) error {
	if slices.Contains(Formats(), format) {
		return nil
	}
	if near := param.Nearest(format, Formats()); near != "" {
		return fmt.Errorf("unknown format %q (did you mean %q?); the formats are %s", format, near, strings.Join(Formats(), ", "))
	}
	return fmt.Errorf("unknown format %q; the formats are %s", format, strings.Join(Formats(), ", "))
}

// CheckColumns is an error, with the nearest name, for the first of names that is no column, nor one of derived.
func CheckColumns(names []string, derived ...Column) error {
	c := newCatalogue(derived...)
	for _, name := range names {
		if _, _, ok := c.find(name); !ok {
			return c.unknown(name)
		}
	}
	return nil
}

// WriteTable writes columns of rows. The formats table and markdown are for people: numbers are scaled, with the unit
// in the heading and the 95% interval beside them, and warnings become notes below. The formats json and csv are for
// programs: base units as in results.parquet, null as null or an empty field. Columns are written in the given order;
// unknown ones are an error. derived are columns that rows hold and results.parquet does not.
func WriteTable(w io.Writer, rows []Row, columns []string, format string, derived ...Column) error {
	if err := CheckColumns(columns, derived...); err != nil {
		return err
	}
	if err := CheckFormat(format); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case "table":
		err = writeText(out, rows, columns, derived)
	case "markdown":
		err = writeMarkdown(out, rows, columns, derived)
	case "json":
		err = writeJSON(out, rows, columns)
	case "csv":
		err = writeCSV(out, rows, columns)
	}
	if err != nil {
		return fmt.Errorf("writing a %s of results: %w", format, err)
	}
	return out.Flush()
}

func writeText(w *bufio.Writer, rows []Row, columns []string, derived []Column) error {
	s, err := newSheet(rows, columns, derived...)
	if err != nil {
		return err
	}
	widths := make([]int, len(columns))
	for _, cells := range append([][]string{s.Head}, s.Rows...) {
		for j, cell := range cells {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	line := func(cells []string) {
		var b strings.Builder
		for j, cell := range cells {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell))
			if s.Right[j] {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
			b.WriteString("  ")
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " ")) // a bufio.Writer keeps its first error until Flush
	}
	line(s.Head)
	for _, cells := range s.Rows {
		line(cells)
	}
	writeNotes(w, s.Notes, "")
	return nil
}

func writeMarkdown(w *bufio.Writer, rows []Row, columns []string, derived []Column) error {
	s, err := newSheet(rows, columns, derived...)
	if err != nil {
		return err
	}
	line := func(cells []string) {
		for _, cell := range cells {
			fmt.Fprintf(w, "| %s ", EscapeMarkdown(cell))
		}
		fmt.Fprintln(w, "|")
	}
	line(s.Head)
	for _, right := range s.Right {
		if right {
			fmt.Fprint(w, "|---:")
		} else {
			fmt.Fprint(w, "|:---")
		}
	}
	fmt.Fprintln(w, "|")
	for _, cells := range s.Rows {
		line(cells)
	}
	for i := range s.Notes {
		s.Notes[i] = EscapeMarkdown(s.Notes[i])
	}
	writeNotes(w, s.Notes, "* ")
	return nil
}

// EscapeMarkdown keeps text from ending a cell of a table, and from becoming HTML.
func EscapeMarkdown(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;").Replace(text)
}

func writeNotes(w *bufio.Writer, notes []string, bullet string) {
	if len(notes) > 0 {
		fmt.Fprintln(w)
	}
	for i, n := range notes {
		fmt.Fprintf(w, "%s[%d] %s\n", bullet, i+1, strings.ReplaceAll(n, "\n", " "))
	}
}

func writeJSON(w *bufio.Writer, rows []Row, columns []string) error {
	w.WriteByte('[')
	for i, r := range rows {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteString("\n  {")
		for j, name := range columns {
			if j > 0 {
				w.WriteString(", ")
			}
			value, err := json.Marshal(r[name]) // a missing column is nil, which is null
			if err != nil {
				return fmt.Errorf("point %q, column %q: %w", r.Text("point_id"), name, err)
			}
			fmt.Fprintf(w, "%q: %s", name, value)
		}
		w.WriteByte('}')
	}
	_, err := w.WriteString("\n]\n")
	return err
}

func writeCSV(w *bufio.Writer, rows []Row, columns []string) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	for _, r := range rows {
		cells := make([]string, len(columns))
		for j, name := range columns {
			cells[j] = plain(r[name])
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
