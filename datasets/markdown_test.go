package datasets

import (
	"reflect"
	"strings"
	"testing"
)

func TestMarkdownSections(t *testing.T) {
	const text = "intro é\n# A\na\n## B\nb\n### C\nc\n## B\nd\n# 日本\ne"
	title, sections := markdownSections(text)
	if title != "A" {
		t.Errorf("title is %q", title)
	}
	want := map[string]string{
		"a":   "# A\na\n## B\nb\n### C\nc\n## B\nd\n",
		"b":   "## B\nb\n### C\nc\n",
		"c":   "### C\nc\n",
		"b-1": "## B\nd\n",
		"日本":  "# 日本\ne",
	}
	if len(sections) != len(want) {
		t.Errorf("sections are %+v", sections)
	}
	for _, s := range sections {
		if got := string([]rune(text)[s.Start:s.End]); got != want[s.ID] {
			t.Errorf("%q is %q, want %q", s.ID, got, want[s.ID])
		}
	}
}

func TestMarkdownAnchors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		ids  []string
	}{
		"closing hashes":     {"## A ##\n# B #c\n", []string{"a", "b-c"}},
		"not headings":       {"#a\n####### b\n    # c\n\t# d\n\\# e", nil},
		"up to three spaces": {"   # a", []string{"a"}},
		"fence":              {"```sh\n# a\n```\n# b", []string{"b"}},
		"fence of tildes":    {"~~~\n# a\n```\n# b\n~~~~\n# c", []string{"c"}},
		"shorter fence":      {"````\n# a\n```\n# b\n````\n# c", []string{"c"}},
		"open fence":         {"```\n# a", nil},
		"inline code":        {"```a``` b\n# c", []string{"c"}},
		"fence in a list":    {"1. x\n\n    ```\n# a\n    ```\n# b", []string{"b"}},
		"underlined":         {"A b\nc\n===\nx\n\nD\n---\n", []string{"a-b-c", "d"}},
		"rules":              {"---\n\ntext\n\n---\n- item\n---\n> quote\n---\n| a |\n---", nil},
		"list then rule":     {"1. one\n---\n", nil},
		"front matter":       {"---\ntitle: x\n---\n# A", []string{"a"}},
		"rule at the top":    {"---\n# A\n\n---\n# B", []string{"a", "b"}},
		"carriage returns":   {"# A\r\nx\r\n\r\nB\r\n---\r\n```\r\n# c\r\n```\r\n", []string{"a", "b"}},
		"HTML comment":       {"<!--\n# a\n-->\n# b\n<!-- c -->\n# d", []string{"b", "d"}},
		"pre":                {"<pre>\n# a\n</pre>\n# b", []string{"b"}},
		"link":               {"# [`@x/y`](http://a.b/(c)) and ![i](j) [k][l]", []string{"xy-and-i-k"}},
		"badge":              {"# [![alt](img)](link)", []string{"alt"}},
		"emphasis":           {"# *A* **b** _c_ __d__ e_f `_g_` `__init__` 2 * 3", []string{"a-b-c-d-e_f-_g_-__init__-2--3"}},
		"escapes":            {`# a\_b\* &amp; <b>c</b>`, []string{"a_b--c"}},
		"punctuation":        {"# What's new? (v1.2)", []string{"whats-new-v12"}},
		"repeated":           {"# a\n# a\n# a-1\n# a", []string{"a", "a-1", "a-1-1", "a-2"}},
		"no anchor":          {"# !!!\n# ", nil},
		"Cyrillic, accents":  {"# Привет Мир\n# Über é", []string{"привет-мир", "über-é"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, sections := markdownSections(c.text)
			var ids []string
			for _, s := range sections {
				ids = append(ids, s.ID)
			}
			if !reflect.DeepEqual(ids, c.ids) {
				t.Errorf("%q has %q, want %q", c.text, ids, c.ids)
			}
		})
	}
}

func TestMarkdownWithoutAnchorEndsSections(t *testing.T) {
	const text = "# A\na\n# !!!\nb"
	_, sections := markdownSections(text)
	if len(sections) != 1 || sections[0].End != strings.Index(text, "# !") {
		t.Errorf("sections are %+v", sections)
	}
}
