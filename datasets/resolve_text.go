package datasets

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"frontier/internal/param"
)

// resolvedText is a document in which evidence is looked for.
type resolvedText struct {
	Document
	index  int
	points int // code points of Text
}

// spans are where evidence stands in the document; msg is why it does not, or "". A section narrows: a span must lie in
// it and a literal text is looked for in it. A span with a literal text must be that text.
func (t *resolvedText) spans(e *Evidence) (spans []Span, msg, hint string) {
	within := Span{Doc: t.index, End: t.points}
	if e.SectionID != "" {
		i := slices.IndexFunc(t.Sections, func(s Section) bool { return s.ID == e.SectionID })
		if i < 0 {
			return nil, fmt.Sprintf("document %q has no section %q", e.DocumentID, e.SectionID), t.sectionHint(e.SectionID)
		}
		within.Start, within.End = t.Sections[i].Start, t.Sections[i].End
		if within.Start < 0 || within.Start > within.End || within.End > t.points {
			return nil, fmt.Sprintf("section %q of document %q is [%d, %d) of a text of %d code points", e.SectionID, e.DocumentID, within.Start, within.End, t.points),
				"mend the sections of the corpus"
		}
		if within.Start == within.End {
			return nil, fmt.Sprintf("section %q of document %q is empty: no answer could be found in it", e.SectionID, e.DocumentID), "name another section"
		}
	}
	switch {
	case e.HasSpan:
		if e.Start < within.Start || e.End > within.End {
			where := fmt.Sprintf("the text of document %q, which has %d code points", e.DocumentID, t.points)
			if e.SectionID != "" {
				where = fmt.Sprintf("section %q of document %q, which is [%d, %d)", e.SectionID, e.DocumentID, within.Start, within.End)
			}
			return nil, fmt.Sprintf("the span [%d, %d) is outside of %s", e.Start, e.End, where), "offsets count Unicode code points, not bytes, of the text without its title"
		}
		if e.Text != "" {
			if got := t.slice(e.Start, e.End); got != e.Text {
				return nil, fmt.Sprintf("document %q has %.60q at [%d, %d), not %.60q", e.DocumentID, got, e.Start, e.End, e.Text),
					"offsets count Unicode code points of the text without its title; or leave the offsets out"
			}
		}
		return []Span{{Doc: t.index, Start: e.Start, End: e.End}}, "", ""
	case e.Text != "":
		spans = t.occurrences(e.Text, within)
		if len(spans) == 0 {
			return nil, fmt.Sprintf("document %q does not hold the text %.80q%s", e.DocumentID, e.Text, inSection(e.SectionID)), t.textHint(e, within)
		}
		return spans, "", ""
	}
	return []Span{within}, "", ""
}

func inSection(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf(" in section %q", id)
}

// slice is the code points [start, end) of the text, which has them.
func (t *resolvedText) slice(start, end int) string {
	from := byteOffset(t.Text, start)
	return t.Text[from : from+byteOffset(t.Text[from:], end-start)]
}

// byteOffset is where code point n of s starts, or the length of s.
func byteOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// occurrences are all places of literal in a part of the text, overlapping ones included.
func (t *resolvedText) occurrences(literal string, within Span) []Span {
	length := utf8.RuneCountInString(literal)
	rest, point := t.slice(within.Start, within.End), within.Start
	var spans []Span
	for {
		i := strings.Index(rest, literal)
		if i < 0 {
			return spans
		}
		point += utf8.RuneCountInString(rest[:i])
		spans = append(spans, Span{Doc: t.index, Start: point, End: point + length})
		_, width := utf8.DecodeRuneInString(rest[i:])
		rest = rest[i+width:]
		point++
	}
}

func (t *resolvedText) sectionHint(id string) string {
	if len(t.Sections) == 0 {
		return "the document has no sections"
	}
	ids := make([]string, len(t.Sections))
	for i, s := range t.Sections {
		ids[i] = s.ID
	}
	if near := param.Nearest(id, ids); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	// "Shutdown" for "Server.Shutdown", or the reverse.
	last := id[strings.LastIndexByte(id, '.')+1:]
	for _, other := range ids {
		if strings.EqualFold(other[strings.LastIndexByte(other, '.')+1:], last) {
			return fmt.Sprintf("did you mean %q?", other)
		}
	}
	return fmt.Sprintf("it has %d sections, of which the first is %q", len(ids), ids[0])
}

// textHint says how near the document comes to a literal text that it does not hold.
func (t *resolvedText) textHint(e *Evidence, within Span) string {
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	switch wanted := fold(e.Text); {
	case wanted == "":
		return "give a text that is not only white space"
	case e.SectionID != "" && strings.Contains(t.Text, e.Text):
		return "it is in another section of the document"
	case strings.Contains(fold(t.slice(within.Start, within.End)), wanted):
		return "it is there with other capitals or white space: copy it literally"
	case strings.Contains(fold(t.Title), wanted):
		return "it is in the title, which is not part of the text"
	}
	return "copy it literally from the document's text"
}
