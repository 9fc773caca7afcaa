package compare

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"strings"
	"unicode/utf8"
)

// sheet is a table of texts.
type sheet struct {
	head  []string
	right []bool // numbers
	rows  [][]string
}

// text writes it in columns.
func (s *sheet) text(w *bufio.Writer) {
	widths := make([]int, len(s.head))
	for _, cells := range append([][]string{s.head}, s.rows...) {
		for i, c := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for _, cells := range append([][]string{s.head}, s.rows...) {
		var line strings.Builder
		for i, c := range cells {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
			if s.right[i] {
				line.WriteString(pad + c)
			} else {
				line.WriteString(c + pad)
			}
			line.WriteString("  ")
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// markdown writes it as a table of Markdown.
func (s *sheet) markdown(w *bufio.Writer) {
	line := func(cells []string) {
		escaped := make([]string, len(cells))
		for i, c := range cells {
			escaped[i] = Escape(c)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(escaped, " | "))
	}
	line(s.head)
	for _, right := range s.right {
		fmt.Fprint(w, map[bool]string{true: "|---:", false: "|:---"}[right])
	}
	fmt.Fprintln(w, "|")
	for _, cells := range s.rows {
		line(cells)
	}
}

// csv writes it for programs; the caller's cells are in base units then.
func (s *sheet) csv(w *bufio.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(s.head); err != nil {
		return err
	}
	if err := out.WriteAll(s.rows); err != nil {
		return err
	}
	return out.Error()
}

// Escape keeps text from ending a cell of a Markdown table, from beginning markup, and from calling somebody.
func Escape(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "`", "'", "*", `\*`, "_", `\_`, "@", "@\u200b").Replace(text)
}

// Abridged are the first values, and how many more there are.
func Abridged(values []string, most int) string {
	if len(values) > most {
		return strings.Join(values[:most], ", ") + fmt.Sprintf(" and %d more", len(values)-most)
	}
	return strings.Join(values, ", ")
}
