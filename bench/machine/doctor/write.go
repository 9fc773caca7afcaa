package doctor

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Formats are the names that Write takes.
func Formats() []string { return []string{"table", "json", "csv", "markdown"} }

// Write writes the report. The formats table and markdown are for people; json is the Report, and csv its keys and values,
// one a line, where the keys of nested values are joined by dots.
func (r *Report) Write(w io.Writer, format string) error {
	out := bufio.NewWriter(w) // keeps its first error until Flush
	var err error
	switch format {
	case "table":
		r.writeText(out)
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
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("writing what is known of this machine as %s: %w", format, err)
	}
	return nil
}

func (r *Report) writeText(w *bufio.Writer) {
	for _, s := range r.sections() {
		fmt.Fprintln(w, s.title)
		for _, f := range s.facts {
			fmt.Fprintf(w, "  %-20s %s\n", f.label, oneLine(f.text))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "What to change")
	for _, f := range r.Advice {
		fmt.Fprintf(w, "  %-7s  %-18s %s\n", f.Severity, f.ID, oneLine(f.Text))
		if f.Remedy != "" {
			fmt.Fprintf(w, "  %7s  %18s -> %s\n", "", "", oneLine(f.Remedy))
		}
	}
}

func (r *Report) writeMarkdown(w *bufio.Writer) {
	for _, s := range r.sections() {
		fmt.Fprintf(w, "### %s\n\n| | |\n|:---|:---|\n", s.title)
		for _, f := range s.facts {
			fmt.Fprintf(w, "| %s | %s |\n", cell(f.label), cell(f.text))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "### What to change\n\n| severity | about | finding | remedy |\n|:---|:---|:---|:---|\n")
	for _, f := range r.Advice {
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", f.Severity, cell(f.ID), cell(f.Text), cell(f.Remedy))
	}
}

// cell is text inside a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(oneLine(text))
}

func oneLine(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }

func (r *Report) writeCSV(w io.Writer) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	lines := [][]string{{"key", "value"}}
	if err := flatten(dec, "", &lines); err != nil {
		return err
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// flatten reads one value and adds a line for each number, text, truth value or null in it, in their order.
func flatten(dec *json.Decoder, key string, lines *[][]string) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	below := func(name string) string { return strings.TrimPrefix(key+"."+name, ".") }
	switch token {
	case json.Delim('{'):
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			if err := flatten(dec, below(fmt.Sprint(name)), lines); err != nil {
				return err
			}
		}
		_, err = dec.Token()
		return err
	case json.Delim('['):
		for i := 0; dec.More(); i++ {
			if err := flatten(dec, below(strconv.Itoa(i)), lines); err != nil {
				return err
			}
		}
		_, err = dec.Token()
		return err
	case nil:
		token = "" // null is an empty field
	}
	*lines = append(*lines, []string{key, fmt.Sprint(token)})
	return nil
}
