package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// verdict is what the tests need of the gate's JSON.
type verdict struct {
	Verdict   string
	Rules     []struct{ Metric, Kind string }
	Decisions []struct {
		Rule                  int
		Key                   map[string]any
		Outcome, Verdict, Why string
	}
	Residue []struct{ Column, Base, New string }
}

// gate runs frontier gate, checks that its exit code is that of its verdict, and returns what did not pass, as
// "metric kind engine outcome".
func gate(t *testing.T, base, next, policy string) (v verdict, open []string) {
	t.Helper()
	path, err := buildBinary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, "gate", base, next, "--policy", policy, "--format", "json").Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v\n%s\n%v", err, out, exit)
	}
	code := 0
	if exit != nil {
		code = exit.ExitCode()
	}
	if want := map[string]int{"pass": 0, "warn": 0, "fail": 3}[v.Verdict]; code != want {
		t.Errorf("verdict %s with exit code %d", v.Verdict, code)
	}
	for _, d := range v.Decisions {
		if d.Verdict != "pass" {
			r := v.Rules[d.Rule]
			open = append(open, fmt.Sprintf("%s %s %v %s", r.Metric, r.Kind, d.Key["engine"], d.Outcome))
		}
	}
	slices.Sort(open)
	return v, open
}

// TestGateNamesTheWorseSearch halves efSearch, and takes an engine away: exactly these points fail, by exactly the rules
// that they break. The same sweep measured again passes.
func TestGateNamesTheWorseSearch(t *testing.T) {
	if !engines(t)["hnswlib"] {
		t.Skip("this binary has no hnswlib, whose efSearch is to be halved")
	}
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	file := write(t, dir, "vectors.yaml", `
version: 1
name: gated
seed: 7
build_threads: 1
vectors: {metric: l2, synthetic: {n: 4000, dim: 32, clusters: 40, spread: 0.8, queries: 200}}
indexes:
  - {engine: flat}
  - {engine: hnswlib, M: 4, ef_construction: 20, search: {ef_search: 20}}
measure: {k: [10], depth: 10, rounds: 2, min_time: 20ms, warmup: 5ms, max_time: 200ms}
objectives: [ann_recall_at_10:max, qps:max]
`)
	policy := write(t, dir, "gate.yaml", `
match: [engine, index_spec]
rules:
  - {metric: ann_recall_at_10, max_drop: 0.01}
  - {metric: index_bytes, max_rise: 2%}
  - {metric: queries_failed, max: 0}
`)
	run := func(name string, args ...string) string {
		out := filepath.Join(dir, name)
		frontier(t, cache, append([]string{"sweep", file, "--out", out}, args...)...)
		return out
	}
	base := run("base")
	baseline := filepath.Join(dir, "baseline.json")
	frontier(t, cache, "gate", "--record", base, "--policy", policy, "-o", baseline)
	info, err := os.Stat(baseline)
	if err != nil || info.Size() > 20_000 {
		t.Errorf("the baseline: %v, %v", info, err)
	}

	if v, open := gate(t, baseline, run("again"), policy); v.Verdict != "pass" || len(open) > 0 {
		t.Errorf("the same again: %s, %q", v.Verdict, open)
	}
	halved := run("halved", "--set", "indexes.1.search.ef_search=10")
	v, open := gate(t, baseline, halved, policy)
	if want := []string{"ann_recall_at_10 max_drop hnswlib regression"}; !slices.Equal(open, want) {
		t.Errorf("efSearch halved: %q, want %q", open, want)
	}
	if len(v.Residue) == 0 || v.Residue[0].Column != "ef_search" || v.Residue[0].Base != "20" || v.Residue[0].New != "10" {
		t.Errorf("efSearch halved: residue %v", v.Residue)
	}
	_, open = gate(t, baseline, run("without", "--set", "indexes=[{engine: flat}]"), policy)
	if want := []string{"ann_recall_at_10 max_drop hnswlib missing", "index_bytes max_rise hnswlib missing", "queries_failed max hnswlib missing"}; !slices.Equal(open, want) {
		t.Errorf("without hnswlib: %q, want %q", open, want)
	}
}

// TestGateNamesTheWorseChunker cuts documents into pieces too small to hold the evidence: recall fails at the points of
// both engines, a metric without a denominator fails where it has none, and the size of the index is not to blame.
func TestGateNamesTheWorseChunker(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(dir, "cache")
	var corpus, golden strings.Builder
	for d := range 60 {
		fact := fmt.Sprintf("the key of vault%d is kept by keeper%d behind the third stone of the old wall", d, d)
		filler := strings.Repeat(fmt.Sprintf("nothing else is known of place%d and its people. ", d), 3)
		fmt.Fprintf(&corpus, "{\"_id\": \"d%d\", \"title\": \"\", \"text\": \"%s%s. %s\"}\n", d, filler, fact, filler)
		fmt.Fprintf(&golden, "{\"id\": \"q%d\", \"query\": \"who keeps the key of vault%d\", \"gold_evidence\": [{\"document_id\": \"d%d\", \"text\": \"%s\"}]}\n", d, d, d, fact)
	}
	write(t, dir, "corpus.jsonl", corpus.String())
	write(t, dir, "golden.jsonl", golden.String())
	file := write(t, dir, "text.yaml", `
version: 1
name: gated
build_threads: 1
dataset: {corpus: corpus.jsonl, queries: golden.jsonl}
chunkers: [{kind: fixed, unit: words, size: 50, overlap: 20}]
embedders: [{kind: hash, dim: 128}]
indexes: [{engine: flat}, {engine: bleve, analyzer: standard}]
measure: {k: [10], unit: chunk, evidence: contain, rounds: 2, min_time: 10ms, warmup: 5ms, max_time: 100ms}
objectives: [recall_at_10:max, qps:max]
`)
	policy := write(t, dir, "gate.yaml", `
match: [engine]
rules:
  - {metric: recall_at_10, max_drop: 0.02}
  - {metric: recall_at_10, max_count: 60}
  - {metric: queries_failed, max: 0}
`)
	base, next := filepath.Join(dir, "base"), filepath.Join(dir, "next")
	frontier(t, cache, "sweep", file, "--out", base)
	frontier(t, cache, "sweep", file, "--out", next, "--set", "chunkers.0.size=10", "--set", "chunkers.0.overlap=0")
	_, open := gate(t, base, next, policy)
	if want := []string{"recall_at_10 max_drop bleve regression", "recall_at_10 max_drop flat regression"}; !slices.Equal(open, want) {
		t.Errorf("a chunker that cuts evidence: %q, want %q", open, want)
	}
	null := write(t, dir, "null.yaml", "match: [engine]\nrules:\n  - {metric: ann_recall_at_10, max_drop: 0.5}\n")
	if _, open := gate(t, base, base, null); !slices.Equal(open, []string{"ann_recall_at_10 max_drop bleve null"}) {
		t.Errorf("a metric without a denominator: %q", open)
	}
}
