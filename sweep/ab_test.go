package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontier/bench/stats"
	"frontier/results"
	"frontier/results/ab"
	"frontier/sweep/file"
)

const abSweep = `version: 1
build_threads: 1
vectors: {synthetic: {n: 2000, dim: 16, clusters: 5, spread: 0.5, queries: 50}, metric: l2}
indexes: [{engine: slow}]
measure: {k: [10]}
`

func (p *place) side(name, yaml string) ABSide {
	p.t.Helper()
	p.write(name, yaml)
	f, err := file.Read(filepath.Join(p.dir, name), testRegistry(), nil)
	if err != nil {
		p.t.Fatal(err)
	}
	f.DropAbsent(testRegistry())
	return ABSide{File: f, Command: testCommand}
}

// fewPairs are enough for some dozen decisions, and quick.
const fewPairs = 14

func (p *place) abOptions(base, next string) ABOptions {
	p.t.Helper()
	return ABOptions{
		Base: p.side("base.yaml", base), New: p.side("new.yaml", next), Cache: p.cache, Jobs: 2, Registry: testRegistry(),
		Pairs: fewPairs, Block: 2 * time.Millisecond, Confidence: 0.99, Margin: 0.03, QualityMargin: 0.01,
	}
}

func (p *place) ab(base, next string) (*ab.Result, error) {
	p.t.Helper()
	return AB(p.t.Context(), p.abOptions(base, next))
}

func decisionOf(t *testing.T, p ab.Point, metric string) stats.Decision {
	t.Helper()
	for _, m := range p.Metrics {
		if m.Name == metric {
			return m.Decision
		}
	}
	t.Errorf("%s was not compared: %+v", metric, p)
	return ""
}

// A search that takes fifty times as long is worse on any machine; the answers are the same ones.
func TestABFindsASlowEngine(t *testing.T) {
	p := newPlace(t, "")
	slow := strings.Replace(abSweep, "engine: slow", "engine: slow, search: {percent: 5000}", 1)
	r, err := p.ab(abSweep, slow)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Points) != 1 || r.Points[0].Error != "" || r.Points[0].Pairs < fewPairs || r.Points[0].Queries < fewestQueries {
		t.Fatalf("%+v", r)
	}
	for metric, want := range map[string]stats.Decision{
		"latency_p50_seconds": stats.Worse, "qps": stats.Worse, "ann_recall_at_10": stats.Same, "index_bytes": stats.Same, "disk_bytes": stats.Same,
	} {
		if got := decisionOf(t, r.Points[0], metric); got != want {
			t.Errorf("%s is %s, want %s", metric, got, want)
		}
	}
	if back, err := p.ab(slow, abSweep); err != nil || decisionOf(t, back.Points[0], "latency_p50_seconds") != stats.Better {
		t.Errorf("the other way round: %+v, %v", back, err)
	}
}

func TestABPairsWhatAgrees(t *testing.T) {
	if engineAbsent("hnswlib") {
		t.Skip("this binary has no hnswlib")
	}
	p := newPlace(t, "")
	base := strings.Replace(abSweep, "{engine: slow}", "{engine: flat}, {engine: hnswlib, search: {ef_search: 20}}", 1)
	next := strings.Replace(base, "ef_search: 20", "ef_search: 40", 1)
	r, err := p.ab(base, next)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, point := range r.Points {
		if c, ok := point.Changed["ef_search"]; ok && c == [2]any{int64(20), int64(40)} {
			changed++
		}
	}
	if len(r.Points) != 2 || changed != 1 || len(r.Unmatched) != 0 {
		t.Errorf("%+v", r)
	}
	// Two values against one other: which is to be compared with which?
	if _, err := p.ab(strings.Replace(base, "ef_search: 20", "ef_search: [10, 20]", 1), next); err == nil || !strings.Contains(err.Error(), "ef_search") {
		t.Errorf("an ambiguous pairing gives %v", err)
	}
	// One more point in base is told.
	r, err = p.ab(strings.Replace(base, "{engine: flat}", "{engine: flat}, {engine: coder}", 1), base)
	if err != nil || len(r.Points) != 2 || len(r.Unmatched) != 1 || !strings.Contains(r.Unmatched[0], "coder") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestABRefuses(t *testing.T) {
	p := newPlace(t, "")
	few := p.abOptions(abSweep, abSweep)
	few.Pairs = 3
	if _, err := AB(t.Context(), few); err == nil || !strings.Contains(err.Error(), "at least 11 pairs") { // of six decisions, each at 0.01/6
		t.Errorf("3 pairs: %v", err)
	}
	match := p.abOptions(abSweep, abSweep)
	match.Match = []string{"engin"}
	if _, err := AB(t.Context(), match); err == nil || !strings.Contains(err.Error(), `"engine"`) {
		t.Errorf("an unknown column: %v", err)
	}
	slo := strings.Replace(abSweep, "k: [10]", "k: [10], load: [{slo: {p99: 1s}}]", 1)
	if _, err := p.ab(abSweep, slo); err == nil || !strings.Contains(err.Error(), "slo") {
		t.Errorf("an slo: %v", err)
	}
	apart := p.abOptions(abSweep, strings.Replace(abSweep, "engine: slow", "engine: flat", 1))
	apart.Match = []string{"engine"}
	if _, err := AB(t.Context(), apart); err == nil || !strings.Contains(err.Error(), "no point") {
		t.Errorf("points of which none agrees: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AB(ctx, p.abOptions(abSweep, abSweep)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// What cannot be built is said of its point, and the others are compared.
func TestABGoesOnAfterAFailure(t *testing.T) {
	p := newPlace(t, "")
	both := strings.Replace(abSweep, "{engine: slow}", "{engine: bad}, {engine: slow}", 1)
	r, err := p.ab(both, both)
	if err != nil {
		t.Fatal(err)
	}
	if r.Failed() != 1 || len(r.Points) != 2 || !strings.Contains(r.Points[0].Error, "the engine said no") || len(r.Points[1].Metrics) == 0 {
		t.Errorf("%+v", r)
	}
}

func TestABOnText(t *testing.T) {
	p := newPlace(t, "")
	p.writeText()
	next := strings.Replace(textSweep, "overlap: [0, 25%]", "overlap: [1, 3]", 1)
	base := strings.Replace(textSweep, "size: [8, 12], overlap: [0, 25%]", "size: 8, overlap: 0", 1)
	next = strings.Replace(next, "size: [8, 12], overlap: [1, 3]", "size: 12, overlap: 2", 1)
	r, err := p.ab(base, next)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Points) != 4 {
		t.Fatalf("%d points", len(r.Points))
	}
	for _, point := range r.Points {
		if point.Error != "" || point.Changed["chunk_size"] != [2]any{int64(8), int64(12)} {
			t.Errorf("%+v", point)
		}
		decisionOf(t, point, "recall_at_3")
	}
	var raw strings.Builder
	if err := r.WriteJSON(&raw); err != nil {
		t.Fatal(err)
	}
	back, err := ab.ReadJSON(strings.NewReader(raw.String()))
	if err != nil || len(back.Points) != len(r.Points) {
		t.Errorf("read back: %v", err)
	}
}

// Points that differ in their filter alone can be told apart.
func TestABTellsFiltersApart(t *testing.T) {
	var points []abPoint
	for _, filter := range []results.Row{{}, {"filter": "locale", "filter_mode": "pre"}, {"filter": "locale", "filter_mode": "boost", "filter_boost": 0.1}, {"filter": "locale", "filter_mode": "boost", "filter_boost": 0.2}} {
		filter["engine"] = "flat"
		points = append(points, abPoint{row: filter})
	}
	if err := ambiguous(points, identityColumns(), identityColumns(), "base.yaml"); err != nil {
		t.Error(err)
	}
}

// A comparison of more points than a run measures is refused before they are listed.
func TestABRefusesTooManyPoints(t *testing.T) {
	many := strings.Replace(abSweep, "{engine: slow}", "{engine: slow, search: {percent: {from: 1, to: 1001, steps: 1001}}}", 1)
	many = strings.Replace(many, "k: [10]", "k: [10], load: [{closed: ["+strings.Trim(strings.Join(strings.Fields(fmt.Sprint(upTo(1000))), ", "), "[]")+"]}]", 1)
	if _, err := newPlace(t, "").ab(many, many); err == nil || !strings.Contains(err.Error(), "1001000 points") {
		t.Errorf("%v", err)
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	return all
}
