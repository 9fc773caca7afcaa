package sweep

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontier/internal/cas"
	"frontier/results"
)

// chaosSweeps are small sweeps with answers that do not change from run to run: vectors with a graph that has one, where
// this binary has such an engine, and text with a hybrid.
func chaosSweeps() map[string]string {
	return map[string]string{
		"vectors": `version: 1
name: chaos
build_threads: 1
vectors: {synthetic: {n: 300, dim: 8, clusters: 5, spread: 0.5, queries: 20}, metric: l2}
indexes:
  - {engine: flat}
  - {engine: hnswlib, M: [4, 8], ef_construction: 20, search: {ef_search: [10, 20]}}
measure: {k: [1, 5], rounds: 1, min_time: 1ms, warmup: 1ms, max_time: 1ms}
`,
		"text": `version: 1
name: chaos
seed: 7
build_threads: 1
dataset: {corpus: corpus.jsonl, queries: golden.jsonl}
chunkers:
  - {kind: fixed, unit: words, size: 8, overlap: [0, 25%]}
embedders:
  - {kind: hash, dim: 16}
indexes:
  - {engine: hybrid, of: [bleve, flat], fusion: [{rrf: [10, 60]}]}
measure: {k: [1, 3], depth: 5, rounds: 1, min_time: 1ms, warmup: 1ms, max_time: 1ms}
`,
	}
}

// outcome is what must come out of a sweep however it was disturbed.
type outcome struct {
	rows    []results.Row
	queries map[string]results.QueryRow // by point and query
}

// outcome reads the results folder of a sweep that is complete.
func (p *place) outcome() outcome {
	p.t.Helper()
	o := outcome{queries: map[string]results.QueryRow{}}
	for _, row := range p.rows() {
		o.rows = append(o.rows, exactColumns(row))
	}
	for _, q := range p.queries() {
		id := q.PointID + " " + q.QueryID
		if _, twice := o.queries[id]; twice {
			p.t.Errorf("query %s of point %s is there twice", q.QueryID, q.PointID)
		}
		q.RunID, q.LatencySeconds = "", 0 // what may differ
		o.queries[id] = q
	}
	return o
}

// expect compares what came out of a sweep with what comes out of an undisturbed one.
func (p *place) expect(want outcome) {
	p.t.Helper()
	got := p.outcome()
	if len(got.rows) != len(want.rows) {
		p.t.Fatalf("%d rows, but %d if undisturbed", len(got.rows), len(want.rows))
	}
	for i := range want.rows {
		for name, v := range want.rows[i] {
			if !reflect.DeepEqual(got.rows[i][name], v) {
				p.t.Errorf("row %d: %s is %v, but %v if undisturbed", i, name, got.rows[i][name], v)
			}
		}
		for name, v := range got.rows[i] {
			if _, ok := want.rows[i][name]; !ok {
				p.t.Errorf("row %d: %s is %v, but null if undisturbed", i, name, v)
			}
		}
	}
	if len(got.queries) != len(want.queries) {
		p.t.Errorf("%d query rows, but %d if undisturbed", len(got.queries), len(want.queries))
	}
	for id, q := range want.queries {
		if !reflect.DeepEqual(got.queries[id], q) {
			p.t.Errorf("query %s gave %+v, but %+v if undisturbed", id, got.queries[id], q)
		}
	}
}

// expectSound checks what a killed sweep leaves: rows that can be read, none twice, each with all of its queries, and
// artifacts that are whole.
func (p *place) expectSound(want outcome) {
	p.t.Helper()
	p.expectWholeArtifacts()
	known, asked := map[string]bool{}, map[string]int{}
	for _, row := range want.rows {
		known[row["point_id"].(string)] = true
	}
	perPoint := len(want.queries) / len(want.rows)
	if found, err := filepath.Glob(filepath.Join(p.out, "parts", "*.parquet")); err != nil || len(found) == 0 {
		return // killed before the first cell was finished
	}
	for _, q := range p.queries() {
		asked[q.PointID]++
	}
	for _, row := range p.rows() {
		id := row["point_id"].(string)
		if !known[id] {
			p.t.Errorf("point %s is there twice, or not one of the sweep", id)
		}
		known[id] = false
		if asked[id] != perPoint {
			p.t.Errorf("point %s has %d query rows instead of %d", id, asked[id], perPoint)
		}
	}
	for _, name := range []string{"report.html", "pareto.png", "run_id", "manifest.json"} {
		if info, err := os.Stat(filepath.Join(p.out, name)); err == nil && info.Size() == 0 {
			p.t.Errorf("%s is empty", name)
		}
	}
}

func (p *place) expectWholeArtifacts() {
	p.t.Helper()
	if _, err := os.Stat(filepath.Join(p.cache, "objects")); err != nil {
		return // killed before there was a cache
	}
	cache, err := cas.OpenExisting(p.cache)
	if err != nil {
		p.t.Fatal(err)
	}
	entries, err := cache.List(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		if e.Condition != cas.Whole {
			p.t.Errorf("artifact %s (%s) is %s: %v", e.Key, e.Meta.Stage.Name, e.Condition, e.Faults)
		}
	}
}

// expectTidy checks what a finished sweep leaves: no artifact that is not what was written, and nothing unfinished.
func (p *place) expectTidy() {
	p.t.Helper()
	cache, err := cas.OpenExisting(p.cache)
	if err != nil {
		p.t.Fatal(err)
	}
	report, err := cache.Verify(p.t.Context(), false, nil)
	if err != nil || len(report.Damaged) > 0 || report.Checked == 0 {
		p.t.Errorf("%d artifacts were checked, damaged: %v; %v", report.Checked, report.Damaged, err)
	}
	for _, pattern := range []string{".*.tmp", answersDir + "*", "*/.*.tmp"} {
		if left, err := filepath.Glob(filepath.Join(p.out, pattern)); err != nil || len(left) > 0 {
			p.t.Errorf("left unfinished: %v %v", left, err)
		}
	}
}

// chaosSeed is the seed of what is random in a test, in its log so that it can be had again.
func chaosSeed(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("FRONTIER_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("FRONTIER_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// A sweep that is killed at any moment and begun again ends with what it had been without: nothing lost, nothing twice.
func TestKilledRunsLoseNothing(t *testing.T) {
	leaveToFullRun(t)
	needsProc(t)
	kills := 50 // of each sweep
	if testing.Short() {
		kills = 5
	}
	rng := chaosSeed(t)
	for name, yaml := range chaosSweeps() {
		t.Run(name, func(t *testing.T) {
			undisturbed := newPlace(t, yaml)
			undisturbed.writeText()
			begun := time.Now()
			undisturbed.start().summary()
			span := time.Since(begun) // of the moments; it follows how long runs take
			want := undisturbed.outcome()
			var moments []string
			finished := 0
			for killed := 0; killed < kills; finished++ {
				p := newPlace(t, yaml)
				p.writeText()
				for again := true; again; {
					moment := time.Duration(rng.Int64N(int64(span)))
					run := p.start()
					if again = killed < kills && run.killAfter(moment); again {
						killed++
						span += span / 10
						moments = append(moments, fmt.Sprint(moment.Round(time.Millisecond)))
						run.expectNoOrphans()
						p.expectSound(want)
					} else {
						run.summary()
						span = max(span*4/5, 20*time.Millisecond)
					}
				}
				p.expect(want)
				p.expectTidy()
				if t.Failed() {
					break
				}
			}
			t.Logf("killed %d times, over %d sweeps, after %s", len(moments), finished, strings.Join(moments, " "))
		})
	}
}
