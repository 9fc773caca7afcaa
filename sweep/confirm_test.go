package sweep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontier/results"
)

// writeSplits makes the small corpus with the first questions on dev and the last two on release.
func (p *place) writeSplits() {
	p.t.Helper()
	p.writeText()
	golden := ""
	for i, a := range []string{"albatross", "badger", "chameleon", "dolphin", "elephant", "flamingo"} {
		split := devSplit
		if i >= 4 {
			split = releaseSplit
		}
		golden += fmt.Sprintf("{\"id\": \"q%d\", \"query\": \"where does the %s live\", \"expected_document_ids\": [%q], \"split\": %q, \"locale\": \"en\"}\n", i, a, a, split)
	}
	p.write("golden.jsonl", golden)
}

const splitSweep = `version: 1
seed: 7
build_threads: 1
dataset: {corpus: corpus.jsonl, queries: golden.jsonl, split: dev}
chunkers: [{kind: fixed, unit: words, size: 8}]
embedders: [{kind: hash, dim: 16}]
indexes: [{engine: flat}]
measure: {k: [1, 3], depth: 5, rounds: 1, min_time: 1ms, warmup: 1ms, max_time: 1ms}
`

func (p *place) confirm(point string, again bool) (*Confirmation, error) {
	return Confirm(p.t.Context(), ConfirmOptions{
		Dir: p.out, Point: point, Again: again, Run: Options{Cache: p.cache, Jobs: 2, Registry: testRegistry(), Command: testCommand},
	})
}

// What is confirmed is the point that was chosen and no other, whatever its engine made of the parameters.
func TestConfirmMeasuresTheChosenPoint(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string
		engine   string // that it takes
		chosen   map[string]any
	}{
		"a raised ef_search": {"{engine: flat}", "{engine: hnswlib, search: {ef_search: [2, 50]}}", "hnswlib", map[string]any{"ef_search": int64(5)}},
		"a default":          {"{engine: flat}", "{engine: coder}", "coder", map[string]any{"engine": "coder"}},
		"a found rate":       {"max_time: 1ms", "max_time: 100ms, load: [{closed: 1}, {slo: {p99: 10s}}]", "flat", map[string]any{"load_mode": "slo"}},
		"no filter":          {"measure:", "filters: [{field: locale, mode: [none, pre, post, boost]}]\nmeasure:", "flat", map[string]any{"filter_mode": nil}},
		"a filter":           {"measure:", "filters: [{field: locale, mode: [none, pre, post, boost]}]\nmeasure:", "flat", map[string]any{"filter_mode": "pre"}},
		"pre that is post":   {"indexes: [{engine: flat}]", "filters: [{field: locale, mode: [none, pre]}]\nindexes: [{engine: coder}]", "coder", map[string]any{"filter_mode": "post"}},
	} {
		t.Run(name, func(t *testing.T) {
			if engineAbsent(c.engine) {
				t.Skip("this binary has no " + c.engine)
			}
			p := newPlace(t, strings.Replace(splitSweep, c.old, c.new, 1))
			p.writeSplits()
			corpus, err := os.ReadFile(filepath.Join(p.dir, "corpus.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			p.write("corpus.jsonl", strings.ReplaceAll(string(corpus), `{"_id"`, `{"locale": "en", "_id"`))
			p.run()
			matches := func(row results.Row) bool {
				for name, v := range c.chosen {
					if row[name] != v {
						return false
					}
				}
				return true
			}
			point := ""
			for _, row := range p.rows() {
				if matches(row) {
					point = row.Text("point_id")
				}
			}
			got, err := p.confirm(point, false)
			if err != nil || point == "" {
				t.Fatal(point, err)
			}
			if len(got.Measured) != 1 || !matches(got.Measured[0]) || got.Measured[0]["split"] != releaseSplit || got.Measured[0]["queries"] != int64(2) || got.Chosen.Text("point_id") != point {
				t.Errorf("%d rows: %v", len(got.Measured), got.Measured)
			}
		})
	}
}

func TestConfirmLooksAtPartsToo(t *testing.T) {
	p := newPlace(t, splitSweep)
	p.writeSplits()
	p.run()
	if err := os.Remove(filepath.Join(p.out, "results.parquet")); err != nil { // as a run leaves it that was killed
		t.Fatal(err)
	}
	if got, err := p.confirm("", false); err != nil || len(got.Measured) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestChoose(t *testing.T) {
	row := func(id, status string, recall any) results.Row {
		r := results.Row{"point_id": id, "split": devSplit, "status": status}
		if recall != nil {
			r["recall_at_10"] = recall
		}
		return r
	}
	objectives, err := results.ParseObjectives([]string{"recall_at_10:max"})
	if err != nil {
		t.Fatal(err)
	}
	rows := []results.Row{row("a", "ok", 0.5), row("leaks", "failed", 0.9), row("b", "ok", 0.7), row("null", "ok", nil)}
	if best, err := choose(rows, "", objectives); err != nil || best["point_id"] != "b" {
		t.Errorf("%v, %v", best, err)
	}
	if named, err := choose(rows, "a", objectives); err != nil || named["point_id"] != "a" {
		t.Errorf("%v, %v", named, err)
	}
	for want, bad := range map[string][]results.Row{
		"no point that was measured":    {row("a", "failed", 0.5)},
		"has a value of recall_at_10":   {row("a", "ok", nil), row("b", "ok", nil)},
		"was not measured on split dev": {row("a", "ok", 0.5), {"point_id": "b", "status": "ok"}},
	} {
		if best, err := choose(bad, "", objectives); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %q", best, err, want)
		}
	}
}

// A second choice is one with other parameters, of any component; not another load, nor one that failed.
func TestOnlyOnePointIsConfirmed(t *testing.T) {
	chosen := results.Row{"engine": "flat", "chunker": "fixed", "params": "{}", "load_mode": "closed", "concurrency": int64(1)}
	for name, c := range map[string]struct {
		change  results.Row
		refused bool
	}{
		"the same":        {results.Row{}, false},
		"another load":    {results.Row{"concurrency": int64(2)}, false},
		"a failed one":    {results.Row{"engine": "coder", "status": statusCrashed}, false},
		"another engine":  {results.Row{"engine": "coder"}, true},
		"another chunker": {results.Row{"chunker": "words"}, true},
		"a filter":        {results.Row{"filter": "locale", "filter_mode": "pre"}, true},
	} {
		dir := t.TempDir()
		before := results.Row{"run_id": "r", "point_id": "p", "cell_id": "c", "started_at": time.Now(), "status": statusOK}
		for _, values := range []results.Row{chosen, c.change} {
			for column, v := range values {
				before[column] = v
			}
		}
		if err := os.Mkdir(filepath.Join(dir, partsDir), 0o755); err != nil {
			t.Fatal(err)
		}
		part := filepath.Join(dir, partsDir, "c-1.parquet")
		if err := results.WriteRows(part, []results.Row{before}); err != nil {
			t.Fatal(err)
		}
		err := onlyOnce(t.Context(), dir, chosen)
		var option *OptionError
		if c.refused != errors.As(err, &option) || !c.refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(part, []byte("broken"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := onlyOnce(t.Context(), dir, chosen); err == nil {
			t.Errorf("%s: what cannot be read counts as nothing", name)
		}
	}
	if err := onlyOnce(t.Context(), filepath.Join(t.TempDir(), "release"), chosen); err != nil {
		t.Errorf("the first confirmation: %v", err)
	}
}
