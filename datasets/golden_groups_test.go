package datasets

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func readGroups(t *testing.T, evidence string) (*Golden, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "golden.jsonl")
	if err := os.WriteFile(path, []byte(`{"id": "a", "query": "q", "gold_evidence": [`+evidence+"]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return ReadGolden(path, "")
}

func TestAlternativesAreOneUnit(t *testing.T) {
	g, err := readGroups(t, `{"document_id": "d1", "start": 0, "end": 4, "group": "g"}, {"document_id": "d1", "start": 5, "end": 6}, `+
		`{"document_id": "d2", "text": "same", "group": "g"}, {"document_id": "d2", "group": "h"}`)
	if err != nil {
		t.Fatal(err)
	}
	r := NewResolver(g)
	for i, d := range []Document{{ID: "d1", Text: "some text"}, {ID: "d2", Text: "the same, the same"}} {
		if err := r.Add(i, d); err != nil {
			t.Fatal(err)
		}
	}
	units, err := r.Finish()
	want := []Unit{
		{Spans: []Span{{0, 0, 4}, {1, 4, 8}, {1, 14, 18}}, Grade: 1},
		{Spans: []Span{{0, 5, 6}}, Grade: 1},
		{Spans: []Span{{1, 0, 18}}, Grade: 1, Whole: true},
	}
	if err != nil || !reflect.DeepEqual(units[0], want) {
		t.Errorf("units %+v, %v\nwant %+v", units, err, want)
	}
}

func TestBadGroups(t *testing.T) {
	for evidence, want := range map[string]string{
		`{"document_id": "d1", "group": "g"}, {"document_id": "d2", "start": 1, "end": 2, "group": "g"}`: "must be of one kind",
		`{"document_id": "d1", "group": "g"}, {"document_id": "d2", "group": "g", "relevance": 2}`:       "relevances 1 and 2",
		`{"document_id": "d1", "group": ""}`:  `has "group"`,
		`{"document_id": "d1", "groop": "g"}`: `did you mean "group"?`,
	} {
		if _, err := readGroups(t, evidence); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", evidence, err, want)
		}
	}
}
