package datasets

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	markdownLink = regexp.MustCompile(`!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])`)
	markdownTag  = regexp.MustCompile(`</?[A-Za-z][^<>]*>|<!--.*?-->`)
)

// markdownPlain is the text of a heading as a reader sees it: links and images by their text, no emphasis, no tags.
// Code spans are kept as they are.
func markdownPlain(content string) string {
	var b strings.Builder
	content = markdownLinks(content)
	for content != "" {
		before, code, after, ok := cutCode(content)
		b.WriteString(plainOutsideCode(before))
		if !ok {
			break
		}
		b.WriteString(code)
		content = after
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// markdownLinks replaces links by their text until none is left, as an image may stand in a link.
func markdownLinks(s string) string {
	for range 4 {
		next := markdownLink.ReplaceAllString(s, "$1")
		if next == s {
			break
		}
		s = next
	}
	return s
}

// cutCode cuts s around its first code span.
func cutCode(s string) (before, code, after string, ok bool) {
	open := strings.IndexByte(s, '`')
	if open < 0 {
		return s, "", "", false
	}
	rest := strings.TrimLeft(s[open:], "`")
	ticks := s[open : len(s)-len(rest)]
	for from := 0; ; {
		i := strings.Index(rest[from:], ticks)
		if i < 0 {
			return s, "", "", false
		}
		i += from
		run := len(rest[i:]) - len(strings.TrimLeft(rest[i:], "`"))
		if run == len(ticks) {
			return s[:open], rest[:i], rest[i+run:], true
		}
		from = i + run
	}
}

func plainOutsideCode(s string) string {
	s = markdownTag.ReplaceAllString(s, "")
	var b strings.Builder
	last := ' '
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\\' && i+1 < len(s) && s[i+1] < utf8.RuneSelf && unicode.In(rune(s[i+1]), unicode.P, unicode.S):
			b.WriteByte(s[i+1])
			r, n = rune(s[i+1]), 2
		case r == '*' && touchesText(last, s[i+n:]):
			// emphasis
		case r == '_':
			run := len(s[i:]) - len(strings.TrimLeft(s[i:], "_"))
			next, _ := utf8.DecodeRuneInString(s[i+run:])
			if isWord(last) && isWord(next) || !touchesText(last, s[i+run:]) {
				b.WriteString(s[i : i+run]) // snake_case, or a blank to fill in
			}
			n = run
		default:
			b.WriteRune(r)
		}
		last = r
		i += n
	}
	return html.UnescapeString(b.String())
}

// touchesText says whether a mark of emphasis between last and rest has a neighbour that is not a space.
func touchesText(last rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsSpace(last) || rest != "" && !unicode.IsSpace(next)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// markdownAnchor is the anchor that GitHub makes of a heading's text: lower case, letters, marks, digits, hyphens and
// underscores only, each space a hyphen.
func markdownAnchor(text string) string {
	var b strings.Builder
	solid := false
	for _, r := range strings.ToLower(text) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_':
			b.WriteRune(r)
		case unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc):
			solid = true
			b.WriteRune(r)
		}
	}
	if !solid {
		return ""
	}
	return b.String()
}
