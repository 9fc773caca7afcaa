package datasets

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"frontier/internal/testdata"
)

func casesOf(content string, external bool) (*Golden, error) {
	set, err := gatherCases("golden.jsonl", strings.NewReader(content), external, maxProblems)
	if err == nil {
		err = set.faults.err()
	}
	if err != nil {
		return nil, err
	}
	return set.golden, nil
}

func TestGoldenCase(t *testing.T) {
	g, err := casesOf(`{"id": "ops-047", "query": "q?", "gold_evidence": [
`+"\n", false)
	wantError(t, err, "golden.jsonl:1:")
	if g != nil {
		t.Errorf("a broken file gives %+v", g)
	}
	g, err = casesOf("\n"+`{"id": "ops-047", "query": "q?", "gold_evidence": [{"document_id": "runbook-v3", "start": 1040, "end": 1188, "relevance": 2}, `+
		`{"document_id": "notes-2-4", "section_id": "known-issues", "relevance": 1}, {"document_id": "faq", "text": "must appear"}, {"document_id": "faq", "text": "must appear"}], `+
		`"expected_document_ids": ["runbook-v3", "other"], "scenario": "exact_entity", "difficulty": "medium", "answerability": "answerable", `+
		`"expected_facts": ["f"], "acceptable_answer": "a", "reviewed_by": "r", "tags": ["smoke"], "split": "release", "why_it_matters": "w", "source": "support_log", `+
		`"filter": {"tenant": "acme", "year": 2020}, "dataset_version": "2026-08-14", "nothing": null, "list": [1]}`, false)
	if err != nil {
		t.Fatal(err)
	}
	want := Case{
		ID: "ops-047", Query: "q?", Scenario: "exact_entity", Difficulty: "medium", Split: "release", Tags: []string{"smoke"}, Facts: []string{"f"},
		Filter: map[string]string{"tenant": "acme", "year": "2020"}, File: "golden.jsonl", Line: 2,
		Extra: map[string]string{"acceptable_answer": "a", "reviewed_by": "r", "why_it_matters": "w", "source": "support_log", "dataset_version": "2026-08-14"},
		Evidence: []Evidence{
			{DocumentID: "runbook-v3", Start: 1040, End: 1188, HasSpan: true, Relevance: 2, Line: 2},
			{DocumentID: "notes-2-4", SectionID: "known-issues", Relevance: 1, Line: 2},
			{DocumentID: "faq", Text: "must appear", Relevance: 1, Line: 2},
			{DocumentID: "other", Relevance: 1, Line: 2},
		},
	}
	if len(g.Cases) != 1 || !reflect.DeepEqual(g.Cases[0], want) || g.Judged || !reflect.DeepEqual(g.Files, []string{"golden.jsonl"}) {
		t.Errorf("got  %+v\nwant %+v", g, want)
	}
}

func TestGoldenAliases(t *testing.T) {
	g, err := casesOf(`{"_id": 1, "question": "q1", "expected_source": "a.md", "reference_answer": "r"}
{"case_id": "2", "text": "q2", "expected_chunk_id": ["c1", "c2"], "expected_source": "a.md"}
{"id": "3", "query": "q3", "answerability": "unanswerable", "gold_evidence": [{"document_id": "a.md", "relevance": 0}]}
{"id": "4", "query": "q4", "answerability": "unanswerable", "gold_evidence": []}`, false)
	if err != nil {
		t.Fatal(err)
	}
	whole := func(id string, line int) Evidence { return Evidence{DocumentID: id, Relevance: 1, Line: line} }
	for i, want := range []struct {
		id, query string
		evidence  []Evidence
		extra     map[string]string
		none      bool
	}{
		{"1", "q1", []Evidence{whole("a.md", 1)}, map[string]string{"acceptable_answer": "r", "expected_source": "a.md"}, false},
		{"2", "q2", []Evidence{whole("c1", 2), whole("c2", 2)}, map[string]string{"expected_source": "a.md"}, false},
		{"3", "q3", []Evidence{{DocumentID: "a.md", Line: 3}}, nil, true},
		{"4", "q4", nil, nil, true},
	} {
		c := g.Cases[i]
		if c.ID != want.id || c.Query != want.query || !reflect.DeepEqual(c.Evidence, want.evidence) || !reflect.DeepEqual(c.Extra, want.extra) || c.Unanswerable != want.none {
			t.Errorf("case %d is %+v, want %+v", i, c, want)
		}
	}
}

func TestGoldenFaults(t *testing.T) {
	evidence := func(e string) string { return `{"id": "a", "query": "q", "gold_evidence": [` + e + `]}` }
	good := evidence(`{"document_id": "d"}`) + "\n"
	for name, c := range map[string]struct {
		content string
		parts   []string
	}{
		"empty":                  {"\n\n", []string{"no questions"}},
		"UTF-16":                 {"\xff\xfe{\x00", []string{"UTF-16"}},
		"LFS":                    {"version https://git-lfs.github.com/spec/v1\n", []string{"git lfs pull"}},
		"syntax":                 {good + `{"id": "b",}`, []string{":2:12:", "not JSON"}},
		"BEIR without qrels":     {`{"_id": "1", "text": "q"}`, []string{":1:", "qrels"}},
		"list":                   {`[]`, []string{":1:1:", "a list"}},
		"no id":                  {`{"query": "q"}`, []string{":1:", "no \"id\""}},
		"no query":               {`{"id": "a", "quary": "q"}`, []string{":1:", "no \"query\""}},
		"blank query":            {`{"id": "a", "query": "  "}`, []string{":1:13:", "\"a\"", "empty"}},
		"evidence twice":         {`{"id": "a", "gold_evidence": [{"document_id": "d"}], "query": "q", "gold_evidence": [{"document_id": "e"}]}`, []string{":1:68:", "\"gold_evidence\" is there twice"}},
		"query is a list":        {`{"id": "a", "query": ["q"]}`, []string{":1:13:", "a list"}},
		"empty id":               {`{"id": "", "query": "q"}`, []string{":1:2:", "the id is empty"}},
		"duplicate":              {good + good, []string{":2:2:", "line 1"}},
		"no evidence":            {`{"id": "a", "query": "q"}`, []string{"\"a\"", "no evidence", "unanswerable"}},
		"only grade 0":           {evidence(`{"document_id": "d", "relevance": 0}`), []string{"no evidence of relevance 1"}},
		"unanswerable evidence":  {`{"id": "a", "query": "q", "answerability": "unanswerable", "expected_source": "d"}`, []string{":1:60:", "unanswerable and yet"}},
		"answerability":          {`{"id": "a", "query": "q", "answerability": "maybe"}`, []string{":1:27:", "\"maybe\""}},
		"misspelt list":          {`{"id": "a", "query": "q", "gold_evidance": []}`, []string{":1:27:", "did you mean \"gold_evidence\"?"}},
		"evidence object":        {`{"id": "a", "query": "q", "gold_evidence": {}}`, []string{":1:27:", "an object"}},
		"evidence string":        {evidence(`"d"`), []string{"gold_evidence[0]", "a string"}},
		"evidence nameless":      {evidence(`{"start": 0, "end": 1}`), []string{"gold_evidence[0]", "document_id"}},
		"evidence misspelt":      {evidence(`{"document_id": "d", "strat": 1, "end": 2}`), []string{"\"strat\"", "did you mean \"start\"?"}},
		"half a span":            {evidence(`{"document_id": "d", "start": 1}`), []string{"only one of start and end"}},
		"empty span":             {evidence(`{"document_id": "d", "start": 2, "end": 2}`), []string{"[2, 2)"}},
		"negative span":          {evidence(`{"document_id": "d", "start": -1, "end": 2}`), []string{"\"start\": -1"}},
		"fraction":               {evidence(`{"document_id": "d", "start": 0.5, "end": 2}`), []string{"0.5", "code points"}},
		"huge":                   {evidence(`{"document_id": "d", "start": 0, "end": 99999999999999999999}`), []string{"\"end\""}},
		"empty literal":          {evidence(`{"document_id": "d", "text": ""}`), []string{"\"text\""}},
		"relevance word":         {evidence(`{"document_id": "d", "relevance": "high"}`), []string{"\"relevance\"", "high"}},
		"contradiction":          {evidence(`{"document_id": "d", "relevance": 1}, {"document_id": "d", "relevance": 2}`), []string{"gold_evidence[1]", "relevance 1, not 2"}},
		"filter list":            {`{"id": "a", "query": "q", "filter": ["x"]}`, []string{":1:27:", "filter"}},
		"filter nested":          {`{"id": "a", "query": "q", "filter": {"x": [1]}}`, []string{"\"x\"", "a list"}},
		"tags nested":            {`{"id": "a", "query": "q", "tags": [[1]]}`, []string{"tags[0]"}},
		"empty expected":         {`{"id": "a", "query": "q", "expected_document_ids": [""]}`, []string{"empty id"}},
		"CSV: no query column":   {"a,b,c\n1,2,3\n", []string{":1:", "neither JSON Lines nor a CSV header"}},
		"CSV: semicolons":        {"id;query\n", []string{":1:", "neither"}},
		"CSV: tabs":              {"id\tquestion\n1\tq\n", []string{"by commas"}},
		"CSV: only a header":     {"id,query,expected_source\n", []string{"no questions"}},
		"CSV: ragged":            {"id,query,expected_source\n1,q,d\n2,q,d,x\n", []string{":3:1:", "as many cells as the header"}},
		"CSV: quote":             {"\n\nid,query,expected_source\n1,\"q,d\n", []string{":4:", "not CSV"}},
		"CSV: open quote":        {"id,query,expected_source\n1,q,d\n2,\"q,d\n3,q,d\n4,q,d\n", []string{"not CSV, in the row that begins on line 3"}},
		"CSV: column twice":      {"id,query,query\n", []string{"twice"}},
		"CSV: evidence not JSON": {"id,query,gold_evidence\n1,q,[x]\n", []string{":2:", "gold_evidence", "not JSON"}},
		"CSV: no id":             {"id,query,expected_source\n,q,d\n", []string{":2:", "no \"id\""}},
		"CSV: Macintosh":         {"id,query,expected_source\r1,q,d\r", []string{":1:25:", "carriage return"}},
		"CSV: Latin-1":           {"id,query,expected_source\n1,caf\xe9,d\n", []string{":2:6:", "0xe9", "byte offset 30"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := casesOf(c.content, false)
			wantError(t, err, append(c.parts, "golden.jsonl")...)
		})
	}
}

func TestGoldenReportsAllFaults(t *testing.T) {
	var b strings.Builder
	for range 30 {
		b.WriteString("{\"id\": \"a\"}\n")
	}
	_, err := casesOf(b.String(), false)
	wantError(t, err, "golden.jsonl:1:", "golden.jsonl:20:", "and 10 more")
	if strings.Contains(err.Error(), "golden.jsonl:21:") {
		t.Errorf("more than 20 faults: %v", err)
	}
}

func TestGoldenCSV(t *testing.T) {
	g, err := casesOf("\ufeffid,question,expected_source,gold_evidence,tags,scenario,filter,answerability\r\n"+
		"1,\"two\nlines, \"\"quoted\"\"\",a.md; b.md,,x;y,exact,\"{\"\"tenant\"\": \"\"acme\"\"}\",\n"+
		"2,q2,,\"[{\"\"document_id\"\": \"\"d\"\", \"\"start\"\": 1, \"\"end\"\": 3}]\",,,,\n"+
		"3,q3,,,,,,unanswerable\n", false)
	if err != nil {
		t.Fatal(err)
	}
	want := []Case{
		{
			ID: "1", Query: "two\nlines, \"quoted\"", Scenario: "exact", Tags: []string{"x", "y"}, Filter: map[string]string{"tenant": "acme"}, File: "golden.jsonl", Line: 2,
			Evidence: []Evidence{{DocumentID: "a.md", Relevance: 1, Line: 2}, {DocumentID: "b.md", Relevance: 1, Line: 2}},
		},
		{ID: "2", Query: "q2", File: "golden.jsonl", Line: 4, Evidence: []Evidence{{DocumentID: "d", Start: 1, End: 3, HasSpan: true, Relevance: 1, Line: 4}}},
		{ID: "3", Query: "q3", File: "golden.jsonl", Line: 5, Unanswerable: true},
	}
	if !reflect.DeepEqual(g.Cases, want) {
		t.Errorf("got  %+v\nwant %+v", g.Cases, want)
	}
}

func TestGoldenCSVOfTexts(t *testing.T) {
	g, err := casesOf("_id,text,expected_source\n1,q,d\n", false)
	if err != nil || len(g.Cases) != 1 || g.Cases[0].Query != "q" {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestBadGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "bad"), "*", "*"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		_, err := ReadGolden(file, "")
		wantError(t, err, filepath.Base(file))
	}
	_, err = ReadGolden(filepath.Join(t.TempDir(), "absent"), "")
	wantError(t, err, "absent", "cannot open")
}

func TestRealGolden(t *testing.T) {
	for _, name := range []string{"xquad-en", "xquad-de", "xquad-zh"} {
		g, err := ReadGolden(testdata.Path(t, name+"/golden.jsonl"), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(g.Cases) != 1190 || g.Judged {
			t.Errorf("%s: %d cases", name, len(g.Cases))
		}
	}
	for name, want := range map[string][2]int{"cranfield": {225, 1837}, "med": {30, 696}, "adi": {35, 170}} {
		g, err := ReadGolden(testdata.Path(t, name+"/queries.jsonl"), testdata.Path(t, name+"/qrels/test.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, c := range g.Cases {
			n += len(c.Evidence)
		}
		if got := [2]int{len(g.Cases), n}; got != want || !g.Judged || len(g.Warnings) != 0 || len(g.Files) != 2 {
			t.Errorf("%s: %v, want %v; %v", name, got, want, g.Warnings)
		}
	}
}

func BenchmarkGolden(b *testing.B) {
	path := testdata.Path(b, "xquad-en/golden.jsonl")
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		g, err := ReadGolden(path, "")
		if err != nil || len(g.Cases) != 1190 {
			b.Fatal(err)
		}
	}
}
