package goldencheck

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"frontier/bench/spans"
	"frontier/chunkers"
	"frontier/datasets"
	"frontier/internal/param"
	"frontier/internal/testdata"
)

func file(t testing.TB, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func corpus(t testing.TB, path string) datasets.Corpus {
	t.Helper()
	c, err := datasets.OpenCorpus(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func chunking(t testing.TB, kind string, given param.Values) Chunking {
	t.Helper()
	k := chunkers.Find(chunkers.Kinds(), kind)
	full, err := param.Complete(k.Params, given)
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.New(full)
	if err != nil {
		t.Fatal(err)
	}
	return Chunking{Name: fmt.Sprint(kind, given["size"]), Chunker: c}
}

func check(t testing.TB, queries, qrels string, o Options) *Report {
	t.Helper()
	r, err := Check(context.Background(), queries, qrels, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// kinds are the findings as "kind:line".
func kinds(r *Report) []string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s %s:%d", f.Severity, f.Kind, f.Line))
	}
	return all
}

// evidence is a case with the given tail of its object.
func evidence(id, query, document, more string) string {
	return fmt.Sprintf(`{"id": %q, "query": %q, "gold_evidence": [{"document_id": %q}]%s}`, id, query, document, more)
}

func TestEveryKindOfFinding(t *testing.T) {
	golden := file(t, "golden.jsonl",
		evidence("a", "How long are audit logs kept?", "logs", `, "split": "dev"`),
		evidence("a", "Another question with the same id", "logs", ``), // 2: the id again
		evidence("b", "how long are  AUDIT logs kept?", "logs", `, "split": "dev"`),
		evidence("c", "How long are audit logs kept?", "other", `, "split": "dev"`),                                                                       // 4: other gold
		`{"id": "d", "query": "How long are audit logs kept?", "answerability": "unanswerable", "split": "dev"}`,                                          // 5: a contradiction
		evidence("e", "How long are audit logs kept!", "logs", `, "split": "release"`),                                                                    // 6: nearly the first; the document is in both splits
		evidence("f", "How long are audit logs kept?", "logs", `, "split": "dev", "filter": {"tenant": "acme"}`),                                          // 7: to another caller
		`{"id": "g", "query": "no evidence"}`,                                                                                                             // 8
		evidence("h", "What does the appendix say?", "absent", `, "split": "releese"`),                                                                    // 9: the document, and the split
		`{"id": "i", "query": "Where is the end?", "gold_evidence": [{"document_id": "logs", "start": 90, "end": 200}], "split": "release"}`,              // 10: a range
		`{"id": "j", "query": "Which section is it?", "gold_evidence": [{"document_id": "other", "section_id": "nowhere"}]}`,                              // 11: a section, and no split
		`{"id": "k", "query": "What is literally there?", "gold_evidence": [{"document_id": "other", "text": "not to be found"}], "split": "dev"}`,        // 12: a text
		`{"id": "l", "query": "What is longer than a chunk?", "gold_evidence": [{"document_id": "other", "start": 0, "end": 60}], "split": "dev"}`,        // 13: unholdable
		`{"id": "m", "query": "What fits into one?", "gold_evidence": [{"document_id": "other", "start": 2, "end": 5, "relevance": 2}], "split": "dev"}`,  // fine
		`{"id": "n", "query": "What is not even relevant?", "gold_evidence": [{"document_id": "other"}, {"document_id": "absent", "relevance": 0}]}`,      // 15: absent, though of grade 0
		`{"id": "o", "query": "something quite different", "answerability": "unanswerable", "gold_evidence": [{"document_id": "other", "relevance": 0}]}`, // fine
	)
	texts := file(t, "corpus.jsonl",
		fmt.Sprintf(`{"_id": "logs", "text": %q}`, strings.Repeat("Audit logs stay for 400 days. ", 4)[:100]),
		fmt.Sprintf(`{"_id": "other", "text": %q}`, strings.Repeat("word ", 40)),
	)
	r := check(t, golden, "", Options{
		Corpus: corpus(t, texts), Rule: spans.Contain,
		Chunkings: []Chunking{chunking(t, "fixed", param.Values{"size": 50, "unit": "chars"}), chunking(t, "fixed", param.Values{"size": 20, "unit": "chars"})},
	})
	want := []string{
		"fault unreadable:2", "fault conflict:5", "fault split:6", "fault unreadable:8", "fault evidence:9", "fault evidence:10", "fault evidence:11", "fault evidence:12", "fault evidence:15",
		"warning split:0", "warning duplicate:3", "warning conflict:4", "warning near_duplicate:6", "warning split:9", "warning unholdable:13",
		"warning concentration:0", "warning size:0",
	}
	slices.Sort(want)
	got := kinds(r)
	slices.Sort(got)
	// A document of over a quarter is reported for each such document.
	got = slices.Compact(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if r.Usable || r.Cases != 14 || r.Answerable != 12 || r.Unanswerable != 2 || r.Unjudged != 0 {
		t.Errorf("usable %v, %d cases: %d, %d, %d", r.Usable, r.Cases, r.Answerable, r.Unanswerable, r.Unjudged)
	}
	for i, f := range r.Findings {
		if i > 0 && r.Findings[i-1].Severity == Warning && f.Severity == Fault {
			t.Errorf("the fault %v comes behind a warning", f)
		}
		if f.File != golden || f.Message == "" || f.Hint == "" || strings.Contains(f.String(), "\n") {
			t.Errorf("%+v", f)
		}
	}
	for want, kind := range map[string]string{
		`case "d" asks what "a" on line 1 asks, and only one of them is unanswerable`: KindConflict,
		`document "logs" is the evidence of 3 cases of dev and 2 cases of release`:    KindSplit,
		`(Jaccard similarity 0.`:                   KindNearDuplicate,
		`the span [90, 200) is outside`:            KindEvidence,
		`has no section "nowhere"`:                 KindEvidence,
		`does not hold the text "not to be found"`: KindEvidence,
		`holds the evidence in document "other", 60 code points from 0 on (rule contain)`: KindUnholdable,
		`the split "releese" is neither dev nor release`:                                  KindSplit,
		`3 of 14 cases are in no split`:                                                   KindSplit,
		`slices have fewer than 6 answerable cases`:                                       KindSize,
		`of 12 answerable cases have evidence in document "logs"`:                         KindConcentration,
	} {
		if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == kind && strings.Contains(f.Message, want) }) {
			t.Errorf("no finding of kind %s with %q", kind, want)
		}
	}
	if len(r.Chunkings) != 2 || r.Chunkings[0].Chunking != "fixed50" || r.Chunkings[0].Rule != "contain" || r.Chunkings[0].Units != r.Chunkings[1].Units || r.Chunkings[0].CharsP50 != 50 {
		t.Errorf("chunkings %+v", r.Chunkings)
	}
}

func TestAGoodSet(t *testing.T) {
	var lines []string
	for i := range 18 {
		lines = append(lines, fmt.Sprintf(`{"id": "%d", "query": "Question about %s?", "gold_evidence": [{"document_id": "d%d", "start": %d, "end": %d}], "scenario": "s", "tags": ["smoke"], "split": "%s"}`,
			i, strings.Repeat(string(rune('a'+i)), 9), i%9, i, i+10, []string{"dev", "release"}[i%9/5]))
	}
	// A passage that was judged and does not help ties no document to a split.
	lines[0] = strings.Replace(lines[0], `"gold_evidence": [`, `"gold_evidence": [{"document_id": "d8", "relevance": 0}, `, 1)
	lines = append(lines, `{"id": "u", "query": "What is not there?", "answerability": "unanswerable", "split": "dev"}`)
	var documents []string
	for i := range 9 {
		documents = append(documents, fmt.Sprintf(`{"_id": "d%d", "text": %q}`, i, strings.Repeat("text ", 20)))
	}
	r := check(t, file(t, "golden.jsonl", lines...), "", Options{
		Corpus: corpus(t, file(t, "corpus.jsonl", documents...)), Rule: spans.Contain, Chunkings: []Chunking{chunking(t, "none", nil)},
	})
	if !r.Usable || r.Count(Fault) != 0 || r.Count(Warning) != 0 {
		t.Errorf("findings %q", r.Findings)
	}
	if h := r.Chunkings[0]; h.Held != 18 || h.Units != 18 || h.Ceiling != 1 || math.Abs(h.PrecisionOmega-0.1) > 1e-12 || h.Chunks != 9 {
		t.Errorf("%+v", h)
	}
	all := r.Slices[0]
	if all.Name() != "all" || all.Cases != 19 || all.Answerable != 18 || all.Unanswerable != 1 || math.Abs(*all.HalfWidth-0.21) > .005 || math.Abs(*all.SmallestDifference-1./3) > 1e-12 {
		t.Errorf("all: %+v", all)
	}
	i := slices.IndexFunc(r.Slices, func(s Slice) bool { return s.Name() == "answerability=unanswerable" })
	if s := r.Slices[i]; s.HalfWidth != nil || s.SmallestDifference != nil || s.UnanswerableHalfWidth == nil {
		t.Errorf("unanswerable: %+v", s)
	}
	if i := slices.IndexFunc(r.Slices, func(s Slice) bool { return s.Name() == "tags=smoke" }); r.Slices[i].Answerable != 18 {
		t.Errorf("smoke: %+v", r.Slices[i])
	}
}

// Alternatives are one piece of evidence, as they are to a sweep: held where any of them is.
func TestAlternativesAreHeldAsOne(t *testing.T) {
	golden := file(t, "golden.jsonl",
		`{"id": "a", "query": "Long here and short there?", "gold_evidence": [{"document_id": "d", "start": 0, "end": 60, "group": "g"}, {"document_id": "e", "start": 1, "end": 5, "group": "g"}]}`,
		`{"id": "b", "query": "Which is nowhere short?", "gold_evidence": [{"document_id": "d", "start": 0, "end": 60, "group": "g"}, {"document_id": "e", "start": 0, "end": 70, "group": "g"}, {"document_id": "e", "start": 1, "end": 5}]}`,
		`{"id": "c", "query": "long here AND short there?", "gold_evidence": [{"document_id": "d", "start": 0, "end": 60}, {"document_id": "e", "start": 1, "end": 5}]}`,
		`{"id": "d", "query": "Is one of them absent?", "gold_evidence": [{"document_id": "absent", "start": 0, "end": 3, "group": "g"}, {"document_id": "e", "start": 1, "end": 5, "group": "g"}]}`,
	)
	texts := file(t, "corpus.jsonl", fmt.Sprintf(`{"_id": "d", "text": %q}`, strings.Repeat("word ", 20)), fmt.Sprintf(`{"_id": "e", "text": %q}`, strings.Repeat("text ", 20)))
	r := check(t, golden, "", Options{
		Corpus: corpus(t, texts), Rule: spans.Contain, Chunkings: []Chunking{chunking(t, "fixed", param.Values{"size": 20, "unit": "chars"})},
	})
	if h := r.Chunkings[0]; h.Held != 4 || h.Units != 6 || h.Ceiling != (1+.5+.5+1)/4 {
		t.Errorf("%+v", h)
	}
	var unholdable []string
	for _, f := range r.Findings {
		switch f.Kind {
		case KindUnholdable:
			unholdable = append(unholdable, f.Message)
		case KindDuplicate:
			t.Errorf("all of two and any of two are taken for the same gold: %v", f)
		}
	}
	if len(unholdable) != 2 || !strings.Contains(unholdable[0], `case "b"`) || !strings.HasSuffix(unholdable[0], `, nor any other of the group "g"`) || !strings.HasSuffix(unholdable[1], "(rule contain)") {
		t.Errorf("unholdable: %q", unholdable)
	}
}

func TestWidths(t *testing.T) {
	for n, want := range map[int]float64{18: 0.21, 120: 0.088, 1: 0.446} {
		if got := HalfWidth(n, 0.95); math.Abs(got-want) > 1e-3 {
			t.Errorf("%d cases: ±%v, want %v", n, got, want)
		}
	}
	// Over an even number of cases it is half of Wilson's interval of just half of them.
	for n := 2; n < 300; n += 2 {
		low, high := wilson(n/2, n)
		if got := HalfWidth(n, 0.95); math.Abs(got-(high-low)/2) > 1e-12 {
			t.Errorf("%d cases: ±%v, Wilson has %v", n, got, (high-low)/2)
		}
	}
	if !math.IsNaN(HalfWidth(0, 0.95)) {
		t.Error("no cases have a width")
	}
	for confidence, want := range map[float64]int{0.95: 6, 0.99: 8, 0.9: 5, 0.5: 2} {
		if got := SmallestChange(confidence); got != want {
			t.Errorf("at %v: %d cases, want %d", confidence, got, want)
		}
	}
}

func wilson(hits, n int) (low, high float64) {
	// From the definition: the p at which hits is just 1.96 standard deviations away from its mean.
	z := 1.959963984540054
	p := float64(hits) / float64(n)
	solve := func(from, to float64) float64 {
		for range 200 {
			mid := (from + to) / 2
			if math.Abs(p-mid) > z*math.Sqrt(mid*(1-mid)/float64(n)) {
				from = mid
			} else {
				to = mid
			}
		}
		return from
	}
	return solve(0, p), solve(1, p)
}

func TestJudgementsInAFileOfTheirOwn(t *testing.T) {
	queries := file(t, "queries.jsonl", `{"_id": "1", "text": "first"}`, `{"_id": "2", "text": "second"}`, `{"_id": "3", "text": "third"}`)
	qrels := file(t, "qrels.tsv", "query-id\tcorpus-id\tscore", "1\td\t1", "2\te\t0", "2\tabsent\t0")
	texts := file(t, "corpus.jsonl", `{"_id": "d", "text": ""}`, `{"_id": "e", "text": "some text"}`)
	r := check(t, queries, qrels, Options{Corpus: corpus(t, texts), Chunkings: []Chunking{chunking(t, "none", nil)}})
	if r.Answerable != 1 || r.Unanswerable != 0 || r.Unjudged != 2 || r.Usable {
		t.Errorf("%+v", r)
	}
	got := kinds(r)
	for _, want := range []string{"fault evidence:4", "warning unholdable:2", "warning reading:0"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q among %q", want, got)
		}
	}
	if f := r.Findings[0]; f.File != qrels {
		t.Errorf("the first finding is in %s", f.File)
	}
}

func TestFormats(t *testing.T) {
	var lines []string
	for i := range 30 {
		lines = append(lines, evidence(fmt.Sprint("c", i), "the same | question", "d", ""))
	}
	r := check(t, file(t, "golden.jsonl", append(lines, `{"id": 7}`)...), "", Options{
		Corpus: corpus(t, file(t, "corpus.jsonl", `{"_id": "d", "text": "x"}`)), Chunkings: []Chunking{chunking(t, "none", nil)},
	})
	write := func(format string) string {
		var b bytes.Buffer
		if err := r.Write(&b, format); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, format := range []string{"table", "markdown"} {
		text := write(format)
		for _, want := range []string{"30 cases, 30 answerable, 0 unanswerable", "±0.17", "30 of 30", "has no \"query\"", "and 9 more warnings of the kind duplicate", "not usable: 1 fault, 30 warnings"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", format, want, text)
			}
		}
		if n := strings.Count(text, "keep one: each question counts"); n != 20 {
			t.Errorf("%s shows %d of one kind", format, n)
		}
	}
	var back Report
	if err := json.Unmarshal([]byte(write("json")), &back); err != nil || len(back.Findings) != len(r.Findings) || back.Slices[0].Answerable != 30 || back.Usable {
		t.Errorf("json: %v, %+v", err, back)
	}
	rows, err := csv.NewReader(strings.NewReader(write("csv"))).ReadAll()
	if err != nil || len(rows) != 1+len(r.Slices)+len(r.Chunkings)+len(r.Findings) {
		t.Errorf("csv: %d rows, %v", len(rows), err)
	}
	if err := r.Write(&bytes.Buffer{}, "yaml"); err == nil || !strings.Contains(err.Error(), "table, json, csv, markdown") {
		t.Errorf("an unknown format: %v", err)
	}
}

func TestMistakesAreRefused(t *testing.T) {
	good := file(t, "golden.jsonl", evidence("a", "q", "d", ""))
	for want, o := range map[string]Options{
		"a corpus is needed": {Chunkings: []Chunking{chunking(t, "none", nil)}},
		"confidence is 1":    {Confidence: 1},
		"grade is -1":        {RelevanceMin: -1},
	} {
		if _, err := Check(context.Background(), good, "", o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, err := Check(context.Background(), file(t, "empty.jsonl", ""), "", Options{}); err == nil {
		t.Error("an empty file is checked")
	}
	broken := corpus(t, file(t, "corpus.jsonl", `{"_id": "d", "text": "x"}`, `{`))
	if _, err := Check(context.Background(), good, "", Options{Corpus: broken}); err == nil || !strings.Contains(err.Error(), "read the corpus") {
		t.Errorf("a broken corpus: %v", err)
	}
}

// The answers of XQuAD are exact spans: where a chunk is the whole paragraph it holds them, and where chunks are small it
// holds those that are not cut.
func TestXQuADCeilings(t *testing.T) {
	for _, name := range []string{"xquad-en", "xquad-de", "xquad-zh"} {
		r := check(t, testdata.Path(t, name+"/golden.jsonl"), "", Options{
			Corpus: corpus(t, testdata.Path(t, name+"/corpus.jsonl")), Rule: spans.Contain,
			Chunkings: []Chunking{chunking(t, "none", nil), chunking(t, "fixed", param.Values{"size": 100, "unit": "chars"})},
		})
		whole, small := r.Chunkings[0], r.Chunkings[1]
		if whole.Ceiling != 1 || whole.Held != 1190 || whole.Units != 1190 {
			t.Errorf("%s: whole paragraphs hold %d of %d, ceiling %v", name, whole.Held, whole.Units, whole.Ceiling)
		}
		if !(small.Ceiling < 1 && small.Ceiling > 0.7) || small.PrecisionOmega <= whole.PrecisionOmega {
			t.Errorf("%s: of 100 characters %+v, whole %+v", name, small, whole)
		}
		if !r.Usable || r.Cases != 1190 {
			t.Errorf("%s: %d cases, usable %v: %q", name, r.Cases, r.Usable, kinds(r))
		}
	}
}
