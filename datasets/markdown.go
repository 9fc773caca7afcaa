package datasets

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// markdownHeading is one heading of a text.
type markdownHeading struct {
	level int // 1 to 6
	text  string
	start int // code points
}

// markdownSections gives the title of a Markdown text, which is its first heading, and a section for each heading. The
// id is the anchor that GitHub makes of the heading; repeated ones get -1, -2 and so on. A section reaches from its
// heading to the next one of the same or a higher level. A heading without a letter or digit has no anchor and so no
// section, but ends those before it.
func markdownSections(text string) (title string, sections []Section) {
	headings, points := markdownHeadings(text)
	if len(headings) == 0 {
		return "", nil
	}
	used := map[string]int{}
	var open []int // indexes of sections that have not ended, of ascending level
	levels := make([]int, 0, len(headings))
	for _, h := range headings {
		for len(open) > 0 && levels[open[len(open)-1]] >= h.level {
			sections[open[len(open)-1]].End = h.start
			open = open[:len(open)-1]
		}
		anchor := markdownAnchor(h.text)
		if anchor == "" {
			continue
		}
		open = append(open, len(sections))
		levels = append(levels, h.level)
		sections = append(sections, Section{ID: uniqueAnchor(anchor, used), Start: h.start, End: points})
	}
	return headings[0].text, sections
}

// uniqueAnchor appends the first free number to an anchor that is in use.
func uniqueAnchor(anchor string, used map[string]int) string {
	id := anchor
	for {
		if _, taken := used[id]; !taken {
			used[id] = 0
			return id
		}
		used[anchor]++
		id = anchor + "-" + strconv.Itoa(used[anchor])
	}
}

// markdownScanner walks over the lines of a text and knows which can hold a heading.
type markdownScanner struct {
	headings  []markdownHeading
	fence     string   // the fence that closes the open code block; "" outside
	htmlEnd   []string // what ends the open HTML block, lower case; nil outside
	paragraph []string // the lines of the open paragraph, which an underline would make a heading
	paraStart int
}

// markdownHeadings are the headings of a text outside code, HTML and front matter, as CommonMark defines them, and the
// number of code points of the text.
func markdownHeadings(text string) (headings []markdownHeading, points int) {
	var s markdownScanner
	inFront, number := false, 0
	for rest := text; rest != ""; number++ {
		line, after, _ := strings.Cut(rest, "\n")
		whole := len(rest) - len(after)
		bare := strings.TrimSuffix(line, "\r")
		switch {
		case number == 0 && strings.TrimRight(bare, " \t") == "---" && startsFrontMatter(after):
			inFront = true
		case inFront:
			inFront = !isFrontMatterEnd(bare)
		default:
			s.line(bare, points)
		}
		points += utf8.RuneCountInString(rest[:whole])
		rest = after
	}
	return s.headings, points
}

func isFrontMatterEnd(line string) bool {
	line = strings.TrimRight(line, " \t\r")
	return line == "---" || line == "..."
}

// startsFrontMatter says whether text, which follows a first line of three hyphens, is YAML with a key, and ends. If not,
// the hyphens are a rule.
func startsFrontMatter(text string) bool {
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if isFrontMatterEnd(line) {
			return !first
		}
		if key, _, ok := strings.Cut(line, ":"); first && line != "" && line[0] != '#' {
			if !ok || strings.ContainsAny(key, " \t") {
				return false
			}
			first = false
		}
	}
	return false
}

// line takes the next line, which starts at code point start.
func (s *markdownScanner) line(line string, start int) {
	body := strings.TrimLeft(line, " ")
	indent := len(line) - len(body)
	trimmed := strings.TrimSpace(line)
	switch {
	case s.fence != "":
		if closesFence(trimmed, s.fence) {
			s.fence = ""
		}
		return
	case s.htmlEnd != nil:
		if endsHTML(line, s.htmlEnd) {
			s.htmlEnd = nil
		}
		return
	}
	// A fence deeper than three spaces is code of its own at the top, but a block within a list item.
	if fence := opensFence(trimmed); fence != "" {
		s.fence, s.paragraph = fence, nil
		return
	}
	if trimmed == "" {
		s.paragraph = nil
		return
	}
	if indent > 3 || body[0] == '\t' {
		if s.paragraph != nil {
			s.paragraph = append(s.paragraph, trimmed)
		}
		return
	}
	if end := opensHTML(body); end != nil {
		s.paragraph = nil
		if !endsHTML(body[1:], end) {
			s.htmlEnd = end
		}
		return
	}
	if level, content := hashHeading(body); level > 0 {
		s.paragraph = nil
		s.headings = append(s.headings, markdownHeading{level, markdownPlain(content), start})
		return
	}
	if level := underline(trimmed); level > 0 && s.paragraph != nil {
		s.headings = append(s.headings, markdownHeading{level, markdownPlain(strings.Join(s.paragraph, " ")), s.paraStart})
		s.paragraph = nil
		return
	}
	switch {
	case s.paragraph != nil:
		s.paragraph = append(s.paragraph, trimmed)
	case startsParagraph(trimmed):
		s.paragraph, s.paraStart = []string{trimmed}, start
	}
}

// opensFence is the run of backquotes or tildes that opens a code block, or "".
func opensFence(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	info := strings.TrimLeft(line, line[:1])
	n := len(line) - len(info)
	if n < 3 || line[0] == '`' && strings.Contains(info, "`") {
		return ""
	}
	return line[:n]
}

func closesFence(line, fence string) bool {
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// opensHTML is what ends the HTML block that line begins, for the kinds of block that may hold blank lines, or nil.
func opensHTML(line string) []string {
	if line[0] != '<' {
		return nil
	}
	if strings.HasPrefix(line, "<!--") {
		return []string{"-->"}
	}
	lower := strings.ToLower(line[1:min(len(line), 12)])
	for _, tag := range []string{"script", "pre", "style", "textarea"} {
		if after, ok := strings.CutPrefix(lower, tag); ok && (after == "" || strings.ContainsRune(" \t>", rune(after[0]))) {
			return []string{"</script>", "</pre>", "</style>", "</textarea>"}
		}
	}
	return nil
}

func endsHTML(line string, ends []string) bool {
	line = strings.ToLower(line)
	for _, end := range ends {
		if strings.Contains(line, end) {
			return true
		}
	}
	return false
}

// hashHeading is the level and the content of a heading of the form "## content ##", or 0.
func hashHeading(line string) (level int, content string) {
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	content = strings.Trim(rest, " \t")
	if closing := strings.TrimRight(content, "#"); closing == "" || strings.HasSuffix(closing, " ") || strings.HasSuffix(closing, "\t") {
		content = strings.TrimRight(closing, " \t")
	}
	return level, content
}

// underline is the level of the heading that a line of = or - makes of the paragraph above it, or 0.
func underline(line string) int {
	switch {
	case strings.Trim(line, "=") == "":
		return 1
	case strings.Trim(line, "-") == "":
		return 2
	}
	return 0
}

// startsParagraph says whether a line that is not blank begins a paragraph, not a quote, a list item, a table or HTML.
func startsParagraph(line string) bool {
	if strings.ContainsRune(">|<", rune(line[0])) || underline(line) > 0 {
		return false
	}
	if strings.ContainsRune("-+*", rune(line[0])) && (len(line) == 1 || line[1] == ' ' || line[1] == '\t') {
		return false
	}
	digits := strings.TrimLeft(line, "0123456789")
	if n := len(line) - len(digits); n > 0 && n < 10 && digits != "" && (digits[0] == '.' || digits[0] == ')') {
		return len(digits) > 1 && digits[1] != ' ' && digits[1] != '\t'
	}
	return true
}
