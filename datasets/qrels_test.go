package datasets

import (
	"reflect"
	"strings"
	"testing"

	"frontier/internal/testdata"
)

// qrelsOf reads judgements from a string.
func qrelsOf(content string) ([]judgement, error) {
	var faults problems
	all, err := readQrels("qrels", strings.NewReader(content), QrelsAuto, &faults)
	if err == nil {
		err = faults.err()
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

func TestQrels(t *testing.T) {
	want := []judgement{{query: "1", document: "d1", grade: 2}, {query: "1", document: "d#2", grade: 0}, {query: "2", document: "d1", grade: -1}}
	spaced, err := qrelsOf("1\tmy notes.md\t2\n2\tother.md\t0\n")
	if err != nil || len(spaced) != 2 || spaced[0] != (judgement{"1", "my notes.md", 2, 1}) {
		t.Errorf("a blank in the first id of BEIR's: %+v, %v", spaced, err)
	}
	for name, content := range map[string]string{
		"BEIR":                "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td#2\t0\n2\td1\t-1\n",
		"BEIR without header": "1\td1\t2\n1\td#2\t0\n2\td1\t-1",
		"CRLF, mark, blanks":  "\ufeffquery-id\tcorpus-id\tscore\r\n1\td1\t2\r\n\r\n1\td#2\t0\r\n2\td1\t-1\r\n",
		"TREC":                "1 0 d1 2\n1 0 d#2 0\n2 0 d1 -1\n",
		"TREC with tabs":      "1\tQ0\td1\t2\n1\tQ0\td#2\t0\n2\tQ0\td1\t-1\n",
		"comments":            "# one\n1 0 d1 2\n# two\n1   0 d#2 0\n2 0 d1  -1 \n",
		"repeated":            "1 0 d1 2\n1 0 d#2 0\n1 0 d1 2\n2 0 d1 -1\n",
		"TREC with header":    "query_id iter doc_id relevance\n1 0 d1 2\n1 0 d#2 0\n2 0 d1 -1\n",
	} {
		got, err := qrelsOf(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range got {
			got[i].line = 0
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestQrelsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		parts   []string
	}{
		"empty":              {"", []string{"no judgements"}},
		"only a header":      {"query-id\tcorpus-id\tscore\n", []string{"no judgements"}},
		"only comments":      {"# a\n", []string{"no judgements"}},
		"three columns":      {"1 d1 1\n", []string{"qrels:1:", "three columns", "tabs"}},
		"two columns":        {"1\td1\n", []string{"qrels:1:", "2 columns"}},
		"letter O":           {"1\td1\tO\n", []string{"qrels:1:6:", "grade \"O\"", "letter O"}},
		"fraction":           {"1\td1\t1\n1\td2\t0.5\n", []string{"qrels:2:6:", "grade \"0.5\"", "whole number"}},
		"huge":               {"1 0 d1 99999999999\n", []string{"grade \"99999999999\""}},
		"cut off":            {"1 0 d1 1\n2 0 d", []string{"qrels:2:", "3 columns in place of 4"}},
		"contradiction":      {"1 0 d1 1\n1 0 d1 2\n", []string{"qrels:2:", "grade 2 here and 1 on line 1"}},
		"empty id":           {"1\td\t1\n\td1\t1\n", []string{"qrels:2:", "empty id"}},
		"SMART":              {"01 1410  0 0\n01 1572  0 0\n", []string{"qrels:1:", "SMART"}},
		"large-file pointer": {"version https://git-lfs.github.com/spec/v1\n", []string{"git lfs pull"}},
		"Macintosh":          {"1 0 d1 1\r1 0 d2 1\r", []string{"qrels:1:", "carriage return"}},
		"invalid UTF-8":      {"1 0 d1 1\n1 0 \xff 1\n", []string{"qrels:2:5:", "byte offset 13"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := qrelsOf(c.content)
			wantError(t, err, c.parts...)
		})
	}
}

// judged reads questions with the given ids and judges them.
func judged(t *testing.T, ids []string, qrels string) (*Golden, error) {
	t.Helper()
	var b strings.Builder
	for _, id := range ids {
		b.WriteString(`{"_id": "` + id + `", "text": "q"}` + "\n")
	}
	g, err := casesOf(b.String(), true)
	if err != nil {
		t.Fatal(err)
	}
	judgements, err := qrelsOf(qrels)
	if err != nil {
		t.Fatal(err)
	}
	return g, judgeBy(g, judgements)
}

// judgeBy judges cases and gives the faults of the judgements.
func judgeBy(g *Golden, judgements []judgement) error {
	var faults problems
	g.judge("qrels", judgements, &faults)
	return faults.err()
}

func TestJudge(t *testing.T) {
	g, err := judged(t, []string{"1", "2", "3"}, "1 0 d1 2\n2 0 d1 0\n9 0 d1 1\n9 0 d2 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := []Evidence{{DocumentID: "d1", Relevance: 2, Line: 1}}; !reflect.DeepEqual(g.Cases[0].Evidence, want) {
		t.Errorf("evidence is %+v", g.Cases[0].Evidence)
	}
	if len(g.Cases) != 3 || len(g.Cases[2].Evidence) != 0 {
		t.Errorf("a question without a judgement vanished: %+v", g.Cases)
	}
	if len(g.Warnings) != 3 || !strings.Contains(g.Warnings[0], `judges 1 questions`) || !strings.Contains(g.Warnings[1], `(the first is "3")`) ||
		!strings.Contains(g.Warnings[2], `(the first is "2")`) {
		t.Errorf("warnings are %q", g.Warnings)
	}

	_, err = judged(t, []string{"1", "2"}, "q1 0 d1 2\nq2 0 d1 0\n")
	wantError(t, err, "qrels:1:", "none of its 2 query ids", "\"q1\"", "\"1\"")
	_, err = judged(t, []string{"1", "10"}, "01 0 d1 2\n10 0 d1 1\n")
	wantError(t, err, "qrels:1:", "leading zeros", "\"01\"", "\"1\"")
	_, err = judged(t, []string{"001"}, "1 0 d1 2\n")
	wantError(t, err, "leading zeros", "\"001\"")

	g, err = casesOf(`{"id": "1", "query": "q", "answerability": "unanswerable"}`, true)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, judgeBy(g, []judgement{{"1", "d", 1, 4}}), "qrels:4:", "unanswerable", "golden.jsonl:1")
	_, err = casesOf(`{"id": "1", "query": "q", "expected_source": "d"}`, true)
	wantError(t, err, "evidence of its own")
}

func TestRealQrels(t *testing.T) {
	queries := testdata.Path(t, "adi/queries.jsonl")
	for name, parts := range map[string][]string{
		"CISI.REL.truncated_crlf_4col":        {":1:", "0.000000"},
		"MED.REL.3col":                        {":1:", "three columns"},
		"cacm.qrels.text.leadingzero_qid":     {":1:", "SMART"},
		"qrels.comments.123":                  {"301", "here and"},
		"../lfs_pointers/corpus.jsonl":        {"git lfs pull"},
		"../json/i_string_invalid_utf-8.json": {"0xff"},
	} {
		_, err := ReadGolden(queries, testdata.Path(t, "bad/trec/"+name))
		wantError(t, err, parts...)
	}
	for _, name := range []string{"qrels.test", "qrels.rel_level"} {
		_, err := ReadGolden(queries, testdata.Path(t, "trec_eval/"+name))
		wantError(t, err, name, "none of its")
	}
}
