package main

import "strings"

// table writes rows as a table of Markdown. Cells are plain text and are escaped; a cell that code made is Markdown
// already.
type table struct{ text strings.Builder }

func newTable(headings ...string) *table {
	t := &table{}
	t.row(headings...)
	t.text.WriteString(strings.Repeat("|---", len(headings)) + "|\n")
	return t
}

func (t *table) row(cells ...string) {
	t.text.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func (t *table) String() string { return t.text.String() }

// code is text as inline code, which nothing but a bar needs escaping in.
func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

// plain is text that Markdown shows as it is written.
func plain(text string) string { return escapes.Replace(text) }

// Underscores are left alone: within words they mean nothing.
var escapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "`", "\\`", "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`)
