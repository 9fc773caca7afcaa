package sweep

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"frontier/datasets"
	"frontier/indexes"
	"frontier/internal/testdata"
	"frontier/results"
	"frontier/sweep/file"
)

func TestTextSweep(t *testing.T) {
	p := newPlace(t, textSweep)
	p.writeText()
	s := p.run()
	// 4 chunkings x (1 embedder x (flat + 2 fusions) + bleve)
	if s.Points != 16 || s.Measured != 16 || s.Failed != 0 {
		t.Fatalf("summary %+v", s)
	}
	rows := p.rows()
	if len(rows) != 16 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if row["status"] != "ok" || row["queries"] != int64(11) || row["queries_answerable"] != int64(10) {
			t.Errorf("row %v: status %v, %v queries, %v answerable", row["point_id"], row["status"], row["queries"], row["queries_answerable"])
		}
		if row["engine"] == "flat" && row["ann_recall_at_3"] != 1.0 {
			t.Errorf("exact search has ann_recall_at_3 %v", row["ann_recall_at_3"])
		}
		if row["engine"] != "flat" && row["ann_recall_at_3"] != nil {
			t.Errorf("%v has ann_recall_at_3 %v", row["engine"], row["ann_recall_at_3"])
		}
		if row["engine"] == "bleve" {
			if row["embedder"] != nil || row["dim"] != nil {
				t.Error("a lexical engine has an embedder")
			}
			if r := row["recall_at_3"].(float64); r != 1 {
				t.Errorf("BM25 finds each animal by its name, but recall_at_3 is %v", r)
			}
		}
	}
	for _, name := range []string{"report.html", "pareto.png", "manifest.json"} {
		if info, err := os.Stat(filepath.Join(p.out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The mean of every metric over the query rows is the metric of the point.
func TestRowsCanBeTracedToQueries(t *testing.T) {
	leaveToFullRun(t)
	p := newPlace(t, textSweep)
	p.writeText()
	p.sets = []string{"measure.context_tokens=30", "measure.evidence=contain"}
	p.run()
	checkLosses(t, p.rows(), p.queries())
	sums, counts := map[string]float64{}, map[string]float64{}
	for _, q := range p.queries() {
		for name, v := range q.Metrics {
			sums[q.PointID+name] += v
			counts[q.PointID+name]++
		}
	}
	checked := 0
	for _, row := range p.rows() {
		for name, v := range row {
			if !results.PerQuery(name) {
				continue
			}
			key := row["point_id"].(string) + name
			if got := sums[key] / counts[key]; math.Abs(got-v.(float64)) > 1e-9 {
				t.Errorf("%s of %v is %v, but the mean over its queries is %v", name, row["point_id"], v, got)
			}
			checked++
		}
	}
	if checked < 16*10 {
		t.Errorf("only %d values were traced", checked)
	}
}

func TestSecondRunRepeatsNothing(t *testing.T) {
	leaveToFullRun(t)
	p := newPlace(t, textSweep)
	p.writeText()
	first := p.run()
	before := p.rows()
	second := p.run()
	if second.Measured != 0 || second.Prepared != 0 || second.Reused != first.Points || second.Points != first.Points {
		t.Errorf("the second run: %+v", second)
	}
	if !reflect.DeepEqual(before, p.rows()) {
		t.Error("the second run changed the rows")
	}
	p.fresh = true
	third := p.run()
	if third.Measured != first.Points || third.Prepared != 0 || third.RunID == first.RunID {
		t.Errorf("the fresh run: %+v", third)
	}
	if kept, err := filepath.Glob(filepath.Join(p.out, "superseded", first.RunID, "parts", "*.parquet")); err != nil || len(kept) == 0 {
		t.Error("the fresh run lost what was measured before")
	}
}

func TestChangedFileMeasuresOnlyWhatIsNew(t *testing.T) {
	leaveToFullRun(t)
	p := newPlace(t, textSweep)
	p.writeText()
	first := p.run()
	p.yaml = strings.Replace(textSweep, "rrf: [10, 60]", "rrf: [10, 60, 100]", 1)
	second := p.run()
	if second.Reused != first.Points || second.Measured != 4 || second.Prepared != 0 {
		t.Errorf("after adding a fusion: %+v", second)
	}
}

func TestChangeThatSparesNothingIsExplained(t *testing.T) {
	leaveToFullRun(t)
	p := newPlace(t, textSweep)
	p.writeText()
	first := p.run()
	if s := p.run(); strings.Contains(strings.Join(s.Warnings, "\n"), "measured points") {
		t.Errorf("without a change: %q", s.Warnings)
	}
	p.yaml = strings.Replace(textSweep, "min_time: 5ms", "min_time: 6ms", 1)
	if s := p.run(); s.Reused != 0 || !strings.Contains(strings.Join(s.Warnings, "\n"), "how long") {
		t.Errorf("with another min_time: %d reused, warnings %q", s.Reused, s.Warnings)
	}
	p.yaml = textSweep
	p.sets = []string{"measure.context_tokens=100"}
	if s := p.run(); s.Reused != 0 || !strings.Contains(strings.Join(s.Warnings, "\n"), "measure.context_tokens was 0 and is 100") {
		t.Errorf("with a context: %d reused, warnings %q", s.Reused, s.Warnings)
	}
	p.sets = nil // what was measured before counts again
	if s := p.run(); s.Measured != 0 || s.Reused != first.Points {
		t.Errorf("after taking the change back: %+v", s)
	}
}

func TestInterruptedRunKeepsWhatIsFinished(t *testing.T) {
	p := newPlace(t, textSweep)
	p.writeText()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.ctx = ctx
	p.progress = func(e Event) {
		if e.Stage == "measure" && e.Done >= 3 {
			cancel()
		}
	}
	s, err := p.try()
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", s, err)
	}
	kept := len(p.rows())
	if kept < 3 || kept == 16 || kept != s.Points {
		t.Errorf("%d rows after an interruption at 3, summary %+v", kept, s)
	}
	p.ctx, p.progress = nil, nil
	if s := p.run(); s.Reused != kept || s.Points != 16 || s.Prepared != 0 {
		t.Errorf("going on: %+v after %d", s, kept)
	}
}

func TestSameSeedSameRows(t *testing.T) {
	leaveToFullRun(t)
	graphs := strings.Replace(vectorSweep, "  - {engine: flat}\n", "  - {engine: flat}\n  - {engine: hnswlib}\n  - {engine: faiss, factory: \"IVF8,PQ4np\", search: {nprobe: [1, 4]}}\n  - {engine: faiss, factory: HNSW8}\n", 1)
	for name, yaml := range map[string]string{"text": textSweep, "vectors": graphs} {
		t.Run(name, func(t *testing.T) {
			var all [][]results.Row
			for _, jobs := range []int{1, 2} {
				p := newPlace(t, yaml)
				p.jobs = jobs
				p.writeText()
				p.run()
				var rows []results.Row
				for _, row := range p.rows() {
					rows = append(rows, exactColumns(row))
				}
				all = append(all, rows)
			}
			if !reflect.DeepEqual(all[0], all[1]) {
				for i := range all[0] {
					for name, v := range all[0][i] {
						if !reflect.DeepEqual(v, all[1][i][name]) {
							t.Errorf("row %d: %s is %v and %v", i, name, v, all[1][i][name])
						}
					}
				}
			}
		})
	}
}

func TestVectorSweep(t *testing.T) {
	p := newPlace(t, vectorSweep)
	s := p.run()
	if s.Points != 2 {
		t.Fatalf("summary %+v", s)
	}
	for _, row := range p.rows() {
		if row["ann_recall_at_1"] != 1.0 || row["ann_recall_at_10"] != 1.0 || row["ann_recall_dist_at_10"] != 1.0 {
			t.Errorf("exact search: recall %v, %v, by distance %v", row["ann_recall_at_1"], row["ann_recall_at_10"], row["ann_recall_dist_at_10"])
		}
		for _, null := range []string{"recall_at_10", "chunker", "embedder", "nlist", "ef_search", "unit"} {
			if row[null] != nil {
				t.Errorf("%s does not apply but is %v", null, row[null])
			}
		}
	}
}

func TestFailingEngineLosesOnlyItsCell(t *testing.T) {
	p := newPlace(t, vectorSweep+"limits: {cell_time: 2s, memory: 256MiB}\n")
	p.yaml = strings.Replace(p.yaml, "  - {engine: flat}\n", "  - {engine: flat}\n  - {engine: bad, how: [error, panic, exit, sleep, eat]}\n", 1)
	s := p.run()
	if s.Points != 12 || s.Failed != 10 {
		t.Fatalf("summary %+v", s)
	}
	statuses := map[string]int{}
	for _, row := range p.rows() {
		status := row["status"].(string)
		statuses[status]++
		if message, _ := row["error"].(string); (message == "") != (status == "ok") {
			t.Errorf("status %s with error %q", status, message)
		}
		if status == "crashed" && row["qps"] != nil {
			t.Error("a crashed point has a rate")
		}
	}
	want := map[string]int{"ok": 2, "failed": 2, "crashed": 4, "timeout": 2, "out_of_memory": 2}
	if !reflect.DeepEqual(statuses, want) {
		t.Errorf("statuses %v, want %v", statuses, want)
	}
}

func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		yaml   string
		change func(p *place)
		want   string
		bad    bool // of the file or of the data, rather than of the machine
	}{
		"nlist over n": {
			yaml: strings.Replace(vectorSweep, "{engine: flat}", "{engine: faiss, factory: \"IVF{nlist},Flat\", nlist: 8*n}", 1),
			want: "sweep.yaml:6:30", bad: true,
		},
		"empty corpus": {
			yaml:   textSweep,
			change: func(p *place) { p.write("corpus.jsonl", "") },
			want:   "corpus.jsonl", bad: true,
		},
		"gold that does not exist": {
			yaml: textSweep,
			change: func(p *place) {
				p.write("golden.jsonl", `{"id": "q", "query": "x", "gold_evidence": [{"document_id": "unicorn"}]}`+"\n")
			},
			want: "golden.jsonl:1", bad: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.yaml, "faiss") && engineAbsent("faiss") {
				t.Skip("this binary has no faiss")
			}
			p := newPlace(t, c.yaml)
			p.writeText()
			if c.change != nil {
				c.change(p)
			}
			_, err := p.try()
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %q and does not say %q", err, c.want)
			}
			var inFile *file.Error
			var inData *datasets.Error
			if got := errors.As(err, &inFile) || errors.As(err, &inData); got != c.bad {
				t.Errorf("the error counts as bad input: %v", got)
			}
			if built, _ := filepath.Glob(filepath.Join(p.out, "parts", "*")); len(built) > 0 {
				t.Error("something was measured before the error was found")
			}
		})
	}
}

func engineAbsent(name string) bool {
	i := slices.IndexFunc(testEngines(), func(e indexes.Engine) bool { return e.Name == name })
	return i < 0 || testEngines()[i].Absent != ""
}

func TestGivenTruthIsUsedAndChecked(t *testing.T) {
	base := testdata.Path(t, "sift5k/base.fvecs")
	queries := testdata.Path(t, "sift5k/query.fvecs")
	truth := testdata.Path(t, "sift5k/groundtruth.ivecs")
	yaml := "version: 1\nvectors: {base: " + base + ", queries: " + queries + ", truth: " + truth + ", metric: METRIC}\n" +
		"indexes: [{engine: flat}]\nmeasure: {k: [10], rounds: 1, min_time: 1ms, warmup: 1ms}\n"
	p := newPlace(t, strings.Replace(yaml, "METRIC", "l2", 1))
	p.run()
	if row := p.rows()[0]; row["ann_recall_at_10"] != 1.0 {
		t.Errorf("exact search against the published truth: %v", row["ann_recall_at_10"])
	}
	p = newPlace(t, strings.Replace(yaml, "METRIC", "ip", 1))
	if _, err := p.try(); err == nil || !strings.Contains(err.Error(), "truth") {
		t.Errorf("a truth of another metric gave %v", err)
	}
}

// An engine whose answers make no sense loses its own points, as one that crashes does.
func TestAnswersThatAreNoRowsLoseOnlyTheirCell(t *testing.T) {
	for _, yaml := range []string{vectorSweep, strings.Replace(splitSweep, "depth: 5", "depth: 5, unit: chunk", 1)} {
		p := newPlace(t, strings.Replace(yaml, "{engine: flat}", "{engine: flat}, {engine: wild}", 1))
		p.yaml = strings.Replace(p.yaml, "- {engine: flat}, {engine: wild}", "- {engine: flat}\n  - {engine: wild}", 1)
		p.writeSplits()
		p.run()
		for _, row := range p.rows() {
			text := row.Text("error")
			if wild := row["engine"] == "wild"; wild != (row["status"] == statusFailed) || wild && !strings.Contains(text, "the engine answered with row") {
				t.Errorf("%v: %v, %q", row["engine"], row["status"], text)
			}
		}
	}
}
