package datasets

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestTraces(t *testing.T) {
	const text = `{"case_id": "a", "config_id": 7, "index_version": "v3", "latency_ms": 12.5, "retrieved": [
{"document_id": "d2", "start": 5, "end": 9, "rank": 2, "score": 0.5}, {"document_id": "d1", "rank": 1, "score": 0.75}]}
{"case_id": "b", "retrieved": [{"chunk_id": "net/http#0-120"}, {"chunk_id": "c-17"}]}

{"case_id": "c", "error": "timeout"}
{"case_id": "a", "retrieved": []}`
	got, err := readTraces(context.Background(), "t.jsonl", strings.NewReader(strings.Replace(text, "[\n", "[", 1)))
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	want := []Trace{
		{Case: "a", Config: "7", Index: "v3", Seconds: 0.0125, Line: 1, Retrieved: []Retrieved{{Document: "d1", Score: 0.75}, {"d2", 5, 9, true, 0.5}}},
		{Case: "b", Seconds: nan, Line: 2, Retrieved: []Retrieved{{"net/http", 0, 120, true, 1}, {Document: "c-17", Score: 0.5}}},
		{Case: "c", Failed: "timeout", Seconds: nan, Line: 4},
		{Case: "a", Seconds: nan, Line: 5},
	}
	for i := range want {
		if math.IsNaN(want[i].Seconds) && math.IsNaN(got[i].Seconds) {
			want[i].Seconds, got[i].Seconds = 0, 0
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
}

var badTraces = []struct{ line, want string }{
	{`{"retrieved": []}`, `no "case_id"`},
	{`{"case_id": "a"}`, `no "retrieved"`},
	{`{"case_id": "a", "retrieved": [1]}`, "retrieved[0] must be an object"},
	{`{"case_id": "a", "retrieved": [{"rank": 1}]}`, "no document_id"},
	{`{"case_id": "a", "retrieved": [{"document_id": "d", "start": 4}]}`, "only one of start and end"},
	{`{"case_id": "a", "retrieved": [{"document_id": "d", "start": 4, "end": 4}]}`, "[4, 4)"},
	{`{"case_id": "a", "retrieved": [{"document_id": "d", "rank": 0}]}`, "rank 0"},
	{`{"case_id": "a", "retrieved": [{"document_id": "d", "rank": 1}, {"document_id": "e", "rank": 1}]}`, "a 1 in place of 2"},
	{`{"case_id": "a", "retrieved": [{"document_id": "d", "rank": 1}, {"document_id": "e"}]}`, "1 of 2 results have a rank"},
	{`{"case_id": "a", "retrieved": [{"document_id": "d", "score": 1e300}]}`, "score 1e300"},
	{`{"case_id": "a", "retrieved": [{"document_id": "d"}, {"document_id": "d"}]}`, `"d" is there twice`},
	{`{"case_id": "a", "latency_ms": -1, "retrieved": []}`, "latency_ms is -1"},
	{"{\"case_id\": \"a\", \"retrieved\": []}\n{\"case_id\": \"a\", \"retrieved\": []}", "t.jsonl:2:2: case \"a\" of configuration \"\" was answered on line 1"},
	{"", "there are no traces"},
	{`{"case_id": "a", "retrieved": [}`, "not JSON"},
}

func TestBadTraces(t *testing.T) {
	for _, c := range badTraces {
		_, err := readTraces(context.Background(), "t.jsonl", strings.NewReader(c.line))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.line, err, c.want)
		}
	}
}

func FuzzTraces(f *testing.F) {
	for _, c := range badTraces {
		f.Add(c.line)
	}
	f.Add(`{"case_id": "a", "config_id": "x", "latency_ms": 3, "retrieved": [{"chunk_id": "d#1-9", "score": 2, "rank": 1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		traces, err := readTraces(context.Background(), "t.jsonl", strings.NewReader(text))
		onlyFaults(t, err)
		for _, trace := range traces {
			if trace.Case == "" || trace.Seconds < 0 || math.IsInf(trace.Seconds, 0) {
				t.Errorf("%+v", trace)
			}
			seen := map[Retrieved]bool{}
			for _, r := range trace.Retrieved {
				at := r
				at.Score = 0
				if r.Document == "" || seen[at] || r.HasSpan && (r.Start < 0 || r.Start >= r.End) || math.IsNaN(float64(r.Score)) || math.IsInf(float64(r.Score), 0) {
					t.Errorf("%+v in %+v", r, trace)
				}
				seen[at] = true
			}
		}
	})
}
