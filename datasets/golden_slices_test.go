package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestSlicesOfACase(t *testing.T) {
	c := Case{
		Unanswerable: true, Scenario: "versions", Split: "dev", Tags: []string{"smoke", "long", "smoke"},
		Extra: map[string]string{"source": "log", "language": "de", "blank": ""},
	}
	want := []Slice{
		{"answerability", "unanswerable"},
		{"scenario", "versions"},
		{"split", "dev"},
		{"tags", "long"},
		{"tags", "smoke"},
		{"language", "de"},
		{"source", "log"},
	}
	if got := c.Slices(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSlicesOfASet(t *testing.T) {
	g := &Golden{}
	for i := range 12 {
		g.Cases = append(g.Cases, Case{
			Unanswerable: i == 3, Scenario: fmt.Sprint("s", i), // scenarios group, however many there are
			Extra: map[string]string{"source": fmt.Sprint("log", i%2), "remark": fmt.Sprint("remark ", i/2*2+i%2), "half": fmt.Sprint("h", i/2)},
		})
	}
	g.Cases[5].Extra["rare"] = "once"
	counts := map[string]int{}
	var order []string
	for _, s := range g.Slices() {
		if counts[s.Field] == 0 {
			order = append(order, s.Field)
		}
		counts[s.Field]++
	}
	if want := []string{"answerability", "scenario", "half", "source"}; !reflect.DeepEqual(order, want) {
		t.Errorf("fields %v, want %v", order, want)
	}
	if counts["answerability"] != 2 || counts["scenario"] != 12 || counts["half"] != 6 || counts["source"] != 2 {
		t.Errorf("values %v", counts)
	}
	all := g.Slices()
	if all[1].String() != "answerability=unanswerable" || !reflect.DeepEqual(all[1].Cases, []int{3}) {
		t.Errorf("the second slice is %v: %v", all[1], all[1].Cases)
	}
	if last := all[len(all)-1]; last.String() != "source=log1" || !reflect.DeepEqual(last.Cases, []int{1, 3, 5, 7, 9, 11}) {
		t.Errorf("the last slice is %v: %v", last, last.Cases)
	}
}

func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheckGoldenGoesOnBehindFaults(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf(`{"id": "c%d", "query": "q", "gold_evidence": []}`, i)) // no evidence
	}
	lines = append(lines, `{"id": "good", "query": "q", "expected_source": "d"}`, `{"id": "good", "query": "again", "expected_source": "d"}`)
	path := written(t, "golden.jsonl", strings.Join(lines, "\n"))
	g, faults, err := CheckGolden(path, "")
	if err != nil || len(g.Cases) != 1 || g.Cases[0].ID != "good" || len(faults) != 61 {
		t.Fatalf("%d cases, %d faults, %v", len(g.Cases), len(faults), err)
	}
	wantError(t, faults[59], ":60:", "\"c59\" has no evidence")
	wantError(t, faults[60], ":62:", "\"good\" was used on line 61")
	if g, err := ReadGolden(path, ""); g != nil || strings.Count(err.Error(), "\n") != 20 || !strings.HasSuffix(err.Error(), "and 41 more like these") {
		t.Errorf("ReadGolden: %v, %v", g, err)
	}

	// Judgements too are read as far as they go.
	queries := written(t, "queries.jsonl", `{"_id": "1", "text": "q"}`+"\n"+`{"_id": "", "text": "q"}`+"\n"+`{"_id": "2", "text": "q", "answerability": "unanswerable"}`+"\n")
	qrels := written(t, "qrels.txt", "1 0 d 1\n2 0 d 1\n")
	g, faults, err = CheckGolden(queries, qrels)
	if err != nil || len(g.Cases) != 2 || len(g.Cases[0].Evidence) != 1 || len(faults) != 2 || !g.Judged {
		t.Fatalf("%+v, %v, %v", g, faults, err)
	}
	wantError(t, faults[0], "queries.jsonl:2:", "the id is empty")
	wantError(t, faults[1], "qrels.txt:2:", "case \"2\" is unanswerable")
	if _, err := ReadGolden(queries, qrels); err == nil || strings.Contains(err.Error(), "qrels") {
		t.Errorf("ReadGolden: %v", err)
	}

	broken := written(t, "broken.txt", "1 0 d 1\n1 0 e\n1 0 d 2\n1 0 f 1\n")
	g, faults, err = CheckGolden(written(t, "queries.jsonl", `{"_id": "1", "text": "q"}`), broken)
	if err != nil || len(g.Cases[0].Evidence) != 2 || len(faults) != 2 {
		t.Fatalf("%+v, %v, %v", g, faults, err)
	}
	wantError(t, faults[0], "broken.txt:2:", "3 columns in place of 4")
	wantError(t, faults[1], "broken.txt:3:", "grade 2 here and 1 on line 1")

	// Where nothing can be read, there is nothing to check.
	for content, want := range map[string]string{"": "holds no questions", "{": "not JSON", `{"_id": "1", "text": "q"}`: "questions without judgements"} {
		if g, faults, err := CheckGolden(written(t, "g.jsonl", content), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, %v", content, g, faults, err)
		}
	}
	if _, _, err := CheckGolden(filepath.Join(t.TempDir(), "none"), ""); err == nil || !strings.Contains(err.Error(), "cannot open the queries") {
		t.Errorf("no file: %v", err)
	}
	if _, _, err := CheckGolden(queries, filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "cannot open the judgements") {
		t.Errorf("no judgements: %v", err)
	}
}

func TestFinishAllGivesWhatIsThere(t *testing.T) {
	g := oneCase(Evidence{DocumentID: "absent"}, Evidence{DocumentID: "d", Start: 1, End: 3, HasSpan: true}, Evidence{DocumentID: "d", Text: "nowhere"})
	r := NewResolver(g)
	if err := r.Add(0, Document{ID: "d", Text: "abcd"}); err != nil {
		t.Fatal(err)
	}
	units, faults := r.FinishAll()
	if len(faults) != 2 || len(units) != 1 || len(units[0]) != 3 {
		t.Fatalf("%v, %v", units, faults)
	}
	wantError(t, faults[0], "\"absent\" is not in the corpus")
	wantError(t, faults[1], "does not hold the text")
	if len(units[0][0].Spans) != 0 || len(units[0][2].Spans) != 0 || !reflect.DeepEqual(units[0][1].Spans, []Span{{0, 1, 3}}) {
		t.Errorf("%+v", units)
	}
}

func TestFinishAllCountsWhatItLeavesOut(t *testing.T) {
	g := oneCase(slices.Repeat([]Evidence{{DocumentID: "absent", Relevance: 1}}, keptFaults+7)...)
	_, faults := NewResolver(g).FinishAll()
	if len(faults) != keptFaults+1 || faults[keptFaults].Error() != "and 7 more like these" {
		t.Errorf("%d faults, the last is %v", len(faults), faults[len(faults)-1])
	}
	_, err := NewResolver(g).Finish()
	wantError(t, err, fmt.Sprintf("\nand %d more like these", keptFaults+7-maxProblems))
}
