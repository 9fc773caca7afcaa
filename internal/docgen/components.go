package main

import (
	"fmt"
	"strconv"
	"strings"

	"frontier/chunkers"
	"frontier/embedders"
	"frontier/indexes"
	"frontier/indexes/engines"
	"frontier/internal/param"
)

const componentsIntro = `# Chunkers, embedders and engines

What a [sweep file](sweep-file.md) may name. "frontier chunkers", "frontier embedders" and "frontier engines" print the
same about the binary at hand, and also which versions it has and why an engine is absent from it.

Every parameter may be one value, a list, a range or, where it is a number, an expression. The column is the one of
results.parquet that holds the value; the column params holds the values of all parameters.
`

func componentsPage() string {
	var b strings.Builder
	b.WriteString(generated + componentsIntro)
	b.WriteString("\n## Chunkers\n")
	for _, k := range chunkers.Kinds() {
		heading(&b, k.Name, k.Doc)
		parameters(&b, "", k.Params)
	}
	b.WriteString("\n## Embedders\n")
	for _, k := range embedders.Kinds() {
		heading(&b, k.Name, k.Doc)
		parameters(&b, "", k.Params)
	}
	b.WriteString("\n## Engines\n")
	for _, e := range engines.All() {
		heading(&b, e.Name, e.Doc)
		engineFacts(&b, &e)
		parameters(&b, "Building", e.Params)
		parameters(&b, "Searching, under search", e.Search)
		for i, d := range e.Defects {
			if i == 0 {
				b.WriteString("\nKnown defects:\n\n")
			}
			fmt.Fprintf(&b, "* %s\n", plain(d))
		}
	}
	return b.String()
}

func heading(b *strings.Builder, name, doc string) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", name, plain(doc))
}

// engineFacts says what the engine searches and whether its answers repeat. A hybrid has no facts of its own: both are
// those of its parts.
func engineFacts(b *strings.Builder, e *indexes.Engine) {
	if !e.Lexical && len(e.Metrics) == 0 {
		return
	}
	searches := "Searches text."
	if !e.Lexical {
		names := make([]string, len(e.Metrics))
		for i, m := range e.Metrics {
			names[i] = string(m)
		}
		searches = "Searches vectors, by " + strings.Join(names, ", ") + "."
	}
	repeats := "The same seed and one build thread give the same answers."
	if !e.Deterministic {
		repeats = "The same seed does not give the same answers, whatever the number of threads."
	}
	fmt.Fprintf(b, "\n%s %s\n", searches, repeats)
}

// parameters writes a table of specs, below a line that says what they are for if there is something to say.
func parameters(b *strings.Builder, what string, specs []param.Spec) {
	if len(specs) == 0 {
		return
	}
	if what != "" {
		fmt.Fprintf(b, "\n%s:\n", what)
	}
	t := newTable("parameter", "type and range", "default", "column", "what")
	for i := range specs {
		s := &specs[i]
		column := ""
		if s.Column != "" {
			column = code(s.Column)
		}
		t.row(code(s.Name), plain(typeAndRange(s)), defaultOf(s), column, plain(s.Doc))
	}
	b.WriteString("\n" + t.String())
}

func typeAndRange(s *param.Spec) string {
	switch {
	case len(s.Enum) > 0:
		return strings.Join(s.Enum, ", ")
	case s.Type != param.Int && s.Type != param.Float:
		return s.Type.String()
	case s.Max == 0:
		return fmt.Sprintf("%s, at least %s", s.Type, bound(s.Min))
	}
	return fmt.Sprintf("%s, %s to %s", s.Type, bound(s.Min), bound(s.Max))
}

// bound is a number with separators of thousands and without an exponent, which %v would give large bounds.
func bound(f float64) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(f, 'f', -1, 64), ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

func defaultOf(s *param.Spec) string {
	if s.Default == nil {
		return "required"
	}
	return code(fmt.Sprint(s.Default))
}
