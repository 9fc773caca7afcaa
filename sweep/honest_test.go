package sweep

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"frontier/datasets"
	"frontier/internal/testdata"
	"frontier/results"
	"frontier/sweep/file"
)

// A question of which the embedder knows no word has no answer, rather than the first rows of the corpus.
func TestUnknownWordsFindNothing(t *testing.T) {
	leaveToFullRun(t)
	p := newPlace(t, textSweep)
	p.writeText()
	p.write("golden.jsonl", `{"id": "known", "query": "badger", "gold_evidence": [{"document_id": "badger"}]}`+"\n"+
		`{"id": "unknown", "query": "zzyzx 🦄", "gold_evidence": [{"document_id": "albatross"}]}`+"\n")
	s := p.run()
	if !strings.Contains(strings.Join(s.Warnings, "\n"), "1 of 2 questions have a zero vector") {
		t.Errorf("warnings %q", s.Warnings)
	}
	for _, q := range p.queries() {
		if q.QueryID != "unknown" {
			continue
		}
		if len(q.IDs) != 0 || q.Metrics["recall_at_3"] != 0 {
			t.Errorf("an unknown word finds %v", q.IDs)
		}
		if _, ok := q.Metrics["ann_recall_at_3"]; ok {
			t.Error("a question without a direction has neighbours")
		}
	}
	for _, row := range p.rows() {
		if row["engine"] == "flat" && row["ann_recall_at_3"] != 1.0 {
			t.Errorf("exact search has ann_recall_at_3 %v", row["ann_recall_at_3"])
		}
	}
}

func TestDuplicateChunksAreTold(t *testing.T) {
	leaveToFullRun(t)
	p := newPlace(t, textSweep)
	p.writeText()
	raw, err := os.ReadFile(filepath.Join(p.dir, "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	p.write("corpus.jsonl", string(raw)+strings.Replace(first, `"_id": "albatross"`, `"_id": "copy"`, 1)+"\n")
	if s := p.run(); !strings.Contains(strings.Join(s.Warnings, "\n"), "the vector of an earlier one") {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// Two values that an engine raises to the same one are one measurement, so that neither can be the luckier.
func TestSameEffectiveParametersAreMeasuredOnce(t *testing.T) {
	if engineAbsent("hnswlib") {
		t.Skip("this binary has no hnswlib")
	}
	p := newPlace(t, strings.Replace(vectorSweep, "{engine: flat}", "{engine: hnswlib, search: {ef_search: [2, 5, 40]}}", 1))
	p.run()
	byEf := map[any][]any{}
	for _, row := range p.rows() {
		if row["concurrency"] == int64(1) {
			byEf[row["ef_search"]] = append(byEf[row["ef_search"]], row["latency_p50_seconds"])
		}
	}
	if same := byEf[int64(10)]; len(same) != 2 || same[0] != same[1] || len(byEf[int64(40)]) != 1 {
		t.Errorf("by effective ef: %v", byEf)
	}
}

func TestMinTimeOfZeroIsOnePassAVisit(t *testing.T) {
	p := newPlace(t, strings.Replace(vectorSweep, "min_time: 5ms", "min_time: 0s", 1))
	s := p.run()
	if s.Failed != 0 {
		t.Fatalf("%+v: %v", s, p.rows()[0]["error"])
	}
	for _, row := range p.rows() {
		if n := row["samples"].(int64); n < 80 || n%40 != 0 { // 2 rounds of 40 queries, and more until p99 can be told
			t.Errorf("%d samples", n)
		}
	}
}

func TestWrongTruthIsRefusedAndRightTruthMeasuredAgain(t *testing.T) {
	raw, err := os.ReadFile(testdata.Path(t, "sift5k/groundtruth.ivecs"))
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, "version: 1\nvectors: {base: "+testdata.Path(t, "sift5k/base.fvecs")+", queries: "+testdata.Path(t, "sift5k/query.fvecs")+", truth: truth.ivecs, metric: l2}\n"+
		"indexes: [{engine: flat}]\nmeasure: {k: [10], rounds: 1, min_time: 1ms, warmup: 1ms}\n")
	wrong := slices.Clone(raw)
	const row = 4 + 4*100
	for i := range 10 { // the last query's nearest become others; their order by distance stays plausible
		at := 99*row + 4 + 4*i
		binary.LittleEndian.PutUint32(wrong[at:], binary.LittleEndian.Uint32(raw[99*row+4+4*(i+50):]))
	}
	p.write("truth.ivecs", string(wrong))
	if _, err := p.try(); err == nil || !strings.Contains(err.Error(), "truth") {
		t.Errorf("a truth that is wrong in one row gives %v", err)
	}
	p.write("truth.ivecs", string(raw))
	first := p.run()
	// The same neighbours, fewer of them: another file, so another measurement.
	var fewer []byte
	for q := range 100 {
		fewer = binary.LittleEndian.AppendUint32(fewer, 50)
		fewer = append(fewer, raw[q*row+4:q*row+4+200]...)
	}
	p.write("truth.ivecs", string(fewer))
	if s := p.run(); s.Reused != 0 || s.Measured != first.Points {
		t.Errorf("with another truth: %+v", s)
	}
}

func TestDataFaultsHaveAPlaceInTheFile(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"a dimension over the rank": {"{kind: hash, dim: 64}", "{kind: lsa, dim: 300}", "sweep.yaml:9:"},
		"two lexical parts":         {"of: [bleve, flat]", "of: [{engine: bleve, k1: 0.9}, {engine: bleve, k1: 1.2}]", "sweep.yaml:13:"},
	} {
		p := newPlace(t, strings.Replace(textSweep, c.old, c.new, 1))
		p.writeText()
		_, err := p.try()
		var inFile *file.Error
		if !errors.As(err, &inFile) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNothingToScoreIsTold(t *testing.T) {
	leaveToFullRun(t)
	p := newPlace(t, strings.Replace(textSweep, "depth: 5", "depth: 5, relevance_min: 3", 1))
	p.writeText()
	s := p.run()
	if !strings.Contains(strings.Join(s.Warnings, "\n"), "no quality to measure") {
		t.Errorf("warnings %q", s.Warnings)
	}
	for _, row := range p.rows() {
		if row["recall_at_3"] != nil || row["queries_answerable"] != int64(0) {
			t.Errorf("recall %v of %v questions", row["recall_at_3"], row["queries_answerable"])
		}
	}
	if m, err := results.ReadManifest(p.out); err != nil || m.Answerable != 0 {
		t.Errorf("the manifest has %d answerable questions, %v", m.Answerable, err)
	}
}

func TestEmptyTextsNameTheUsersFile(t *testing.T) {
	p := newPlace(t, textSweep)
	p.writeText()
	p.write("corpus.jsonl", `{"_id": "a", "text": ""}`+"\n")
	p.write("golden.jsonl", `{"id": "q", "query": "x", "gold_evidence": [{"document_id": "a"}]}`+"\n")
	_, err := p.try()
	var inData *datasets.Error
	if !errors.As(err, &inData) || inData.File != "corpus.jsonl" {
		t.Errorf("%v", err)
	}
}
