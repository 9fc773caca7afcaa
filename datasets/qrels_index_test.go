package datasets

import (
	"reflect"
	"strings"
	"testing"

	"frontier/internal/testdata"
)

func TestReadQrels(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		format  QrelsFormat
	}{
		"TREC":               {"2 0 a 1\n2 0 b 0\n1 0 a -1\n", QrelsAuto},
		"BEIR":               {"query-id\tcorpus-id\tscore\n2\ta\t1\n2\tb\t0\n1\ta\t-1\n", QrelsAuto},
		"BEIR, told":         {"2\ta\t1\n2\tb\t0\n1\ta\t-1\n", QrelsBEIR},
		"TREC, told":         {"2\t0\ta\t1\n2\t0\tb\t0\n1\t0\ta\t-1\n", QrelsTREC},
		"three columns":      {"# c\n2 a 1\r\n 2  b 0 \n1\ta\t-1\n", QrelsThreeColumns},
		"scattered, a query": {"2 0 a 1\n1 0 a -1\n2 0 b 0\n2 0 a 1\n", QrelsAuto},
	} {
		q, err := ReadQrels("qrels", strings.NewReader(c.content), c.format)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := q.Queries(); !reflect.DeepEqual(got, []string{"2", "1"}) {
			t.Errorf("%s: queries %q", name, got)
		}
		if got, want := q.Judgements("2"), []Judgement{{"a", 1}, {"b", 0}}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		if got := q.Judgements("1"); !reflect.DeepEqual(got, []Judgement{{"a", -1}}) || q.Judgements("3") != nil {
			t.Errorf("%s: got %v", name, got)
		}
	}
	for name, c := range map[string]struct {
		content string
		format  QrelsFormat
		parts   []string
	}{
		"three columns, not told":  {"1 d1 1\n", QrelsAuto, []string{"qrels:1:", "three columns"}},
		"TREC told to be three":    {"1 0 d1 1\n", QrelsThreeColumns, []string{"qrels:1:", "4 columns in place of 3"}},
		"scattered contradictions": {"1 0 a 1\n2 0 a 1\n1 0 a 2\n", QrelsAuto, []string{"qrels:3:", "grade 2 here and 1 on line 1"}},
	} {
		_, err := ReadQrels("qrels", strings.NewReader(c.content), c.format)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		wantError(t, err, c.parts...)
	}
}

func TestQrelsFormatNames(t *testing.T) {
	for i, name := range QrelsFormatNames() {
		if f, err := ParseQrelsFormat(name); err != nil || f != QrelsFormat(i) {
			t.Errorf("%q is %v, %v", name, f, err)
		}
	}
	if _, err := ParseQrelsFormat("smart"); err == nil || !strings.Contains(err.Error(), "three-columns") {
		t.Errorf("got %v", err)
	}
}

func TestReadRealThreeColumns(t *testing.T) {
	q, err := ReadQrels("MED.REL", openTest(t, testdata.Path(t, "bad/trec/MED.REL.3col")), QrelsThreeColumns)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(q.Queries()); n != 30 {
		t.Errorf("%d queries, want 30", n)
	}
	if got := q.Judgements("1")[0]; got != (Judgement{"13", 1}) {
		t.Errorf("the first judgement is %v", got)
	}
}
