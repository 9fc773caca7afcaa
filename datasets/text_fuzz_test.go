package datasets

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// seedBad adds the malformed files of some folders of the test data, where they are present.
func seedBad(f *testing.F, folders ...string) {
	f.Helper()
	root := os.Getenv("FRONTIER_TEST_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(root, "bad", folder, "*"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(raw[:min(len(raw), 4096)]))
		}
	}
}

// onlyFaults checks that bad input gives the typed error.
func onlyFaults(t *testing.T, err error) {
	t.Helper()
	var fault *Error
	if err != nil && (!errors.As(err, &fault) || fault.Msg == "") {
		t.Errorf("%T %v is not an *Error", err, err)
	}
}

func FuzzCorpus(f *testing.F) {
	f.Add(`{"_id": "a", "title": "T", "text": "日本", "x": 1, "sections": [{"id": "s", "start": 0, "end": 2}]}`)
	f.Add("{\"id\": 1, \"text\": \"\"}\r\n\r\n{\"id\": 2, \"text\": \"\\ud800\"}")
	seedBad(f, "json", "lfs_pointers", "text")
	f.Fuzz(func(t *testing.T, content string) {
		all, err := documentsOf(content)
		onlyFaults(t, err)
		if err == nil && len(all) == 0 {
			t.Error("neither a document nor an error")
		}
		seen := map[string]bool{}
		for _, d := range all {
			if d.ID == "" || seen[d.ID] {
				t.Errorf("id %q is empty or repeated", d.ID)
			}
			seen[d.ID] = true
			if !utf8.ValidString(d.Text) {
				t.Errorf("text %q", d.Text)
			}
			points := utf8.RuneCountInString(d.Text)
			for _, s := range d.Sections {
				if s.ID == "" || s.Start < 0 || s.Start > s.End || s.End > points {
					t.Errorf("section %+v of %d code points", s, points)
				}
			}
		}
	})
}

func FuzzGolden(f *testing.F) {
	f.Add(`{"id": "a", "query": "q", "gold_evidence": [{"document_id": "d", "start": 0, "end": 1, "relevance": 2}], "filter": {"a": 1}, "tags": ["x"]}`)
	f.Add(`{"_id": 1, "question": "q", "expected_source": ["a"], "answerability": "answerable"}`)
	f.Add("id,query,expected_document_ids,gold_evidence\n1,\"a\nb\",x;y,\n2,q,,\"[{\"\"document_id\"\": \"\"d\"\"}]\"\n")
	seedBad(f, "json", "csv", "lfs_pointers")
	f.Fuzz(func(t *testing.T, content string) {
		for _, external := range []bool{false, true} {
			g, err := casesOf(content, external)
			onlyFaults(t, err)
			if err != nil {
				continue
			}
			if len(g.Cases) == 0 {
				t.Error("neither a case nor an error")
			}
			seen := map[string]bool{}
			for _, c := range g.Cases {
				if c.ID == "" || seen[c.ID] || strings.TrimSpace(c.Query) == "" || c.Line < 1 {
					t.Errorf("case %+v", c)
				}
				seen[c.ID] = true
				relevant := false
				for _, e := range c.Evidence {
					relevant = relevant || e.Relevance > 0
					if e.DocumentID == "" || e.HasSpan && (e.Start < 0 || e.Start >= e.End) {
						t.Errorf("evidence %+v", e)
					}
				}
				if !external && relevant == c.Unanswerable {
					t.Errorf("case %+v is neither answerable nor unanswerable", c)
				}
			}
		}
	})
}

// Judgements that were read and written again in TREC's form are read the same.
func FuzzQrels(f *testing.F) {
	f.Add("query-id\tcorpus-id\tscore\n1\td\t1\n")
	f.Add("1 0 d 1\n# c\n1 0 e -1\n")
	seedBad(f, "trec", "lfs_pointers")
	f.Fuzz(func(t *testing.T, content string) {
		all, err := qrelsOf(content)
		onlyFaults(t, err)
		if err != nil {
			return
		}
		if len(all) == 0 {
			t.Error("neither a judgement nor an error")
		}
		var b strings.Builder
		for _, j := range all {
			if j.query == "" || j.document == "" {
				t.Errorf("judgement %+v", j)
			}
			if len(strings.Fields(j.query)) != 1 || len(strings.Fields(j.document)) != 1 || j.query[0] == '#' {
				return // cannot be written in TREC's form
			}
			b.WriteString(j.query + " 0 " + j.document + " " + strconv.Itoa(j.grade) + "\n")
		}
		again, err := qrelsOf(b.String())
		if err != nil && !strings.Contains(err.Error(), "SMART") && !strings.Contains(err.Error(), "no judgements") {
			t.Fatalf("%v in %q", err, b.String())
		}
		for i, j := range again {
			if j.query != all[i].query || j.document != all[i].document || j.grade != all[i].grade {
				t.Errorf("%+v became %+v", all[i], j)
			}
		}
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add("# A\ntext\n## B é\n```\n# no\n```\nC\n===\n")
	f.Add("---\na: b\n---\n# [`x`](y) <b>_z_</b> \\_ &amp;\n<!-- # -->\n\t# q\r\n")
	seedBad(f, "text")
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		_, sections := markdownSections(text)
		points := utf8.RuneCountInString(text)
		seen := map[string]bool{}
		start := 0
		for _, s := range sections {
			if s.ID == "" || seen[s.ID] {
				t.Errorf("id %q is empty or repeated", s.ID)
			}
			seen[s.ID] = true
			if s.Start < start || s.Start >= s.End || s.End > points {
				t.Errorf("section %+v after %d of %d code points", s, start, points)
			}
			start = s.Start
			if at := byteOffset(text, s.Start); at > 0 && text[at-1] != '\n' {
				t.Errorf("section %+v does not start a line", s)
			}
		}
	})
}
