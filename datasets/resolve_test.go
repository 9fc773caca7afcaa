package datasets

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"frontier/internal/testdata"
)

// resolveAll adds documents in order and finishes.
func resolveAll(t testing.TB, g *Golden, documents []Document) ([][]Unit, error) {
	t.Helper()
	r := NewResolver(g)
	for i, d := range documents {
		if err := r.Add(i, d); err != nil {
			t.Fatal(err)
		}
	}
	return r.Finish()
}

func oneCase(evidence ...Evidence) *Golden {
	for i := range evidence {
		evidence[i].Line = 3
	}
	return &Golden{Files: []string{"g.jsonl"}, Cases: []Case{{ID: "c", Query: "q", Evidence: evidence, File: "g.jsonl", Line: 3}}}
}

func TestResolve(t *testing.T) {
	documents := []Document{
		{ID: "other", Text: "aaa"},
		{ID: "d", Text: "日本 aaaa 日本é🙂x", Sections: []Section{{"s", 3, 8}, {"tail", 7, 12}}},
		{ID: "empty"},
	}
	for name, c := range map[string]struct {
		evidence Evidence
		want     Unit
	}{
		"whole":           {Evidence{DocumentID: "d", Relevance: 2}, Unit{Spans: []Span{{1, 0, 13}}, Grade: 2, Whole: true}},
		"whole and empty": {Evidence{DocumentID: "empty", Relevance: 1}, Unit{Spans: []Span{{2, 0, 0}}, Grade: 1, Whole: true}},
		"negative grade":  {Evidence{DocumentID: "d", Relevance: -2}, Unit{Spans: []Span{{1, 0, 13}}, Whole: true}},
		"section":         {Evidence{DocumentID: "d", SectionID: "s", Relevance: 1}, Unit{Spans: []Span{{1, 3, 8}}, Grade: 1}},
		"span":            {Evidence{DocumentID: "d", Start: 12, End: 13, HasSpan: true, Relevance: 1}, Unit{Spans: []Span{{1, 12, 13}}, Grade: 1}},
		"span in section": {Evidence{DocumentID: "d", SectionID: "s", Start: 3, End: 8, HasSpan: true}, Unit{Spans: []Span{{1, 3, 8}}}},
		"span and text":   {Evidence{DocumentID: "d", Text: "é🙂", Start: 10, End: 12, HasSpan: true}, Unit{Spans: []Span{{1, 10, 12}}}},
		"literal":         {Evidence{DocumentID: "d", Text: "🙂"}, Unit{Spans: []Span{{1, 11, 12}}}},
		"twice":           {Evidence{DocumentID: "d", Text: "日本"}, Unit{Spans: []Span{{1, 0, 2}, {1, 8, 10}}}},
		"overlapping":     {Evidence{DocumentID: "d", Text: "aa"}, Unit{Spans: []Span{{1, 3, 5}, {1, 4, 6}, {1, 5, 7}}}},
		"in a section":    {Evidence{DocumentID: "d", SectionID: "tail", Text: "日本"}, Unit{Spans: []Span{{1, 8, 10}}}},
	} {
		t.Run(name, func(t *testing.T) {
			units, err := resolveAll(t, oneCase(c.evidence), documents)
			if err != nil {
				t.Fatal(err)
			}
			if want := [][]Unit{{c.want}}; !reflect.DeepEqual(units, want) {
				t.Errorf("got %+v, want %+v", units, want)
			}
		})
	}
}

func TestResolveFaults(t *testing.T) {
	documents := []Document{
		{ID: "net/http", Title: "The Title", Text: "Hello  World. Über é", Sections: []Section{{"Server.Shutdown", 0, 5}, {"tail", 14, 20}, {"none", 3, 3}}},
		{ID: "007", Text: "x"},
		{ID: "Guide/Intro.md", Text: "x"},
		{ID: "runbook-v3", Text: "x"},
	}
	for name, c := range map[string]struct {
		evidence Evidence
		parts    []string
	}{
		"unknown document":  {Evidence{DocumentID: "zzzz"}, []string{"document \"zzzz\" is not in the corpus (4 documents)"}},
		"misspelt document": {Evidence{DocumentID: "runbok-v3"}, []string{"did you mean \"runbook-v3\"?"}},
		"case and folder":   {Evidence{DocumentID: "intro"}, []string{"did you mean \"Guide/Intro.md\"?"}},
		"leading zeros":     {Evidence{DocumentID: "7"}, []string{"the corpus has \"007\"", "leading zeros"}},
		"number":            {Evidence{DocumentID: "8"}, []string{"must be of a document"}},
		"unknown section":   {Evidence{DocumentID: "net/http", SectionID: "Server.Shutdwn"}, []string{"no section", "did you mean \"Server.Shutdown\"?"}},
		"method only":       {Evidence{DocumentID: "net/http", SectionID: "Shutdown"}, []string{"did you mean \"Server.Shutdown\"?"}},
		"other section":     {Evidence{DocumentID: "net/http", SectionID: "qqqqqqqqqqqqqqqq"}, []string{"it has 3 sections"}},
		"empty section":     {Evidence{DocumentID: "net/http", SectionID: "none"}, []string{"is empty"}},
		"no sections":       {Evidence{DocumentID: "007", SectionID: "a"}, []string{"the document has no sections"}},
		"span outside":      {Evidence{DocumentID: "net/http", Start: 10, End: 21, HasSpan: true}, []string{"[10, 21)", "20 code points", "not bytes"}},
		"span not in it":    {Evidence{DocumentID: "net/http", SectionID: "tail", Start: 13, End: 15, HasSpan: true}, []string{"[13, 15)", "section \"tail\"", "[14, 20)"}},
		"another text":      {Evidence{DocumentID: "net/http", Text: "World", Start: 0, End: 5, HasSpan: true}, []string{"has \"Hello\" at [0, 5), not \"World\""}},
		"white space":       {Evidence{DocumentID: "net/http", Text: "hello world"}, []string{"does not hold", "other capitals or white space"}},
		"in the title":      {Evidence{DocumentID: "net/http", Text: "The Title"}, []string{"it is in the title"}},
		"elsewhere":         {Evidence{DocumentID: "net/http", SectionID: "tail", Text: "Hello"}, []string{"in section \"tail\"", "another section"}},
		"nowhere":           {Evidence{DocumentID: "net/http", Text: "bye"}, []string{"does not hold", "copy it"}},
	} {
		t.Run(name, func(t *testing.T) {
			units, err := resolveAll(t, oneCase(c.evidence), documents)
			wantError(t, err, append(c.parts, "g.jsonl:3: case \"c\": ")...)
			if units != nil {
				t.Error("units in spite of an error")
			}
		})
	}
}

func TestResolveReportsInFileOrder(t *testing.T) {
	g := &Golden{Judged: true, Files: []string{"q.jsonl", "qrels.tsv"}}
	for i := range 30 {
		id := "d" // is there, but has no such section
		if i%2 == 0 {
			id = fmt.Sprintf("absent%d", i)
		}
		g.Cases = append(g.Cases, Case{ID: fmt.Sprint("c", i), File: "q.jsonl", Line: i + 1, Evidence: []Evidence{{DocumentID: id, SectionID: "s", Line: 100 + i}}})
	}
	_, err := resolveAll(t, g, []Document{{ID: "d", Text: "x"}})
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 21 || lines[20] != "and 10 more like these" {
		t.Fatalf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	for i, line := range lines[:20] {
		if !strings.HasPrefix(line, fmt.Sprintf("qrels.tsv:%d: case \"c%d\"", 100+i, i)) {
			t.Errorf("line %d is %q", i, line)
		}
	}
}

func TestResolverMisuse(t *testing.T) {
	r := NewResolver(oneCase(Evidence{DocumentID: "d"}))
	if err := r.Add(1, Document{ID: "d"}); err == nil {
		t.Error("an index out of order is accepted")
	}
	if err := r.Add(0, Document{ID: "d"}); err != nil {
		t.Error(err)
	}
	if err := r.Add(1, Document{ID: "d"}); err == nil {
		t.Error("a repeated document is accepted")
	}
}

// The answers of XQuAD are exact spans in three scripts. Looking for the text of each must find the same span again.
func TestResolveXQuAD(t *testing.T) {
	for _, name := range []string{"xquad-en", "xquad-de", "xquad-zh"} {
		c, err := OpenCorpus(testdata.Path(t, name+"/corpus.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		g, err := ReadGolden(testdata.Path(t, name+"/golden.jsonl"), "")
		if err != nil {
			t.Fatal(err)
		}
		documents := readAll(t, c)
		units, err := resolveAll(t, g, documents)
		if err != nil {
			t.Fatal(err)
		}
		literal := &Golden{Files: g.Files}
		for i, c := range g.Cases {
			e := c.Evidence[0]
			span := units[i][0].Spans[0]
			if d := documents[span.Doc]; d.ID != e.DocumentID || span.Start != e.Start || span.End != e.End || units[i][0].Whole {
				t.Fatalf("%s, case %s: %+v became %+v", name, c.ID, e, units[i])
			}
			e.Text = string([]rune(documents[span.Doc].Text)[span.Start:span.End])
			if strings.TrimSpace(e.Text) == "" {
				t.Fatalf("%s, case %s: blank answer", name, c.ID)
			}
			withBoth := e // the resolver compares the two
			e.Start, e.End, e.HasSpan = 0, 0, false
			c.Evidence = []Evidence{e, withBoth}
			literal.Cases = append(literal.Cases, c)
		}
		found, err := resolveAll(t, literal, documents)
		if err != nil {
			t.Fatal(err)
		}
		for i := range found {
			want := units[i][0].Spans[0]
			hit := false
			for _, s := range found[i][0].Spans {
				hit = hit || s == want
			}
			if !hit {
				t.Errorf("%s, case %s: %+v is not among %+v", name, g.Cases[i].ID, want, found[i][0].Spans)
			}
		}
	}
}

func TestResolveRealJudgements(t *testing.T) {
	for name, want := range map[string]int{"adi": 170, "cranfield": 1837, "med": 696} {
		c, err := OpenCorpus(testdata.Path(t, name+"/corpus.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		g, err := ReadGolden(testdata.Path(t, name+"/queries.jsonl"), testdata.Path(t, name+"/qrels/test.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		units, err := resolveAll(t, g, readAll(t, c))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, perCase := range units {
			for _, u := range perCase {
				if !u.Whole || len(u.Spans) != 1 {
					t.Fatalf("%s: %+v", name, u)
				}
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d units, want %d", name, n, want)
		}
	}
}

// A misspelt id next to the right one in another case gets the right one as suggestion.
func TestResolveSuggestsWantedDocuments(t *testing.T) {
	g := oneCase(Evidence{DocumentID: "net/http"}, Evidence{DocumentID: "net/htpp"}, Evidence{DocumentID: "Net/HTTP"})
	_, err := resolveAll(t, g, []Document{{ID: "net/http"}})
	wantError(t, err, "did you mean \"net/http\"?")
	if n := strings.Count(err.Error(), "did you mean \"net/http\"?"); n != 2 {
		t.Errorf("%d suggestions: %v", n, err)
	}
}

func BenchmarkResolve(b *testing.B) {
	c, err := OpenCorpus(testdata.Path(b, "xquad-zh/corpus.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	g, err := ReadGolden(testdata.Path(b, "xquad-zh/golden.jsonl"), "")
	if err != nil {
		b.Fatal(err)
	}
	documents := readAll(b, c)
	for b.Loop() {
		units, err := resolveAll(b, g, documents)
		if err != nil || len(units) != 1190 || units[1189][0].Spans[0].End != g.Cases[1189].Evidence[0].End {
			b.Fatal(err)
		}
	}
}
