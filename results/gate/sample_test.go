package gate

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"frontier/results"
	"frontier/results/compare"
)

// sample is a made-up run: points with the same questions.
type sample struct {
	run     string
	points  []*samplePoint
	cases   []sampleCase
	dropped map[string]bool // points that are left out
}

type sampleCase struct {
	id, scenario, split string
	ease                float64 // how easy the question is: a system finds it if it is better than this is hard
}

type samplePoint struct {
	id     string
	row    results.Row
	values []map[string]float64 // by question
}

// newSample has 4 points and 185 questions, of which 18 are of the scenario exact_entity.
func newSample(run string) *sample {
	rng := rand.New(rand.NewPCG(1, 2))
	s := &sample{run: run, dropped: map[string]bool{}}
	for q := range 185 {
		c := sampleCase{id: fmt.Sprintf("q%03d", q), scenario: "paraphrase", ease: rng.Float64()}
		if q < 18 {
			c.scenario = "exact_entity"
		}
		s.cases = append(s.cases, c)
	}
	s.add("flat", results.Row{"engine": "flat", "index_kind": "flat", "index_spec": "Flat"}, 0.8, 0.0004)
	s.add("bleve", results.Row{"engine": "bleve", "index_kind": "bm25", "index_spec": "en"}, 0.7, 0.0009)
	s.add("hnsw16", results.Row{"engine": "hnswlib", "index_kind": "hnsw", "index_spec": "HNSW16", "m": int64(16), "ef_search": int64(16)}, 0.72, 0.0001)
	s.add("hnsw64", results.Row{"engine": "hnswlib", "index_kind": "hnsw", "index_spec": "HNSW16", "m": int64(16), "ef_search": int64(64)}, 0.78, 0.0002)
	return s
}

func (s *sample) add(id string, row results.Row, level, p99 float64) *samplePoint {
	p := &samplePoint{id: id, row: results.Row{
		"point_id": id, "cell_id": "c-" + id, "name": "sample", "status": "ok", "started_at": time.Date(2026, 11, 30, 7, 0, len(s.points), 0, time.UTC),
		"dataset": "corpus.jsonl", "dataset_digest": "d1", "queries": int64(len(s.cases)), "k": int64(10), "unit": "document", "relevance_min": int64(1),
		"chunker": "recursive", "chunk_size": int64(256), "chunk_unit": "tokens", "load_mode": "closed", "concurrency": int64(1), "machine_digest": "m1",
		"latency_p99_seconds": p99, "latency_p99_low_seconds": p99 * 0.98, "latency_p99_high_seconds": p99 * 1.02,
		"qps": 0.9 / p99, "qps_low": 0.88 / p99, "qps_high": 0.92 / p99, "index_bytes": int64(1 << 20), "memory_serving_bytes": int64(3 << 20), "noise": 0.001, "queries_failed": int64(0),
	}}
	maps.Copy(p.row, row)
	for _, c := range s.cases {
		v := map[string]float64{"recall_at_10": 0, "hit_rate_at_10": 0, "ndcg_at_10": 0}
		if c.ease < level {
			v["recall_at_10"], v["hit_rate_at_10"], v["ndcg_at_10"] = 1, 1, 1-c.ease/2
		}
		if row["engine"] != "bleve" {
			v["ann_recall_at_10"] = min(1, 0.6+level/2)
		}
		p.values = append(p.values, v)
	}
	s.points = append(s.points, p)
	return p
}

func (s *sample) point(id string) *samplePoint {
	for _, p := range s.points {
		if p.id == id {
			return p
		}
	}
	panic("no point " + id)
}

// lose makes n questions that the point answered find nothing.
func (p *samplePoint) lose(n int) {
	for _, v := range p.values {
		if n > 0 && v["recall_at_10"] > 0 {
			v["recall_at_10"], v["hit_rate_at_10"], v["ndcg_at_10"] = 0, 0, 0
			n--
		}
	}
}

// win makes the last n questions that the point missed find everything.
func (p *samplePoint) win(n int) {
	for i := range p.values {
		v := p.values[len(p.values)-1-i]
		if n > 0 && v["recall_at_10"] == 0 {
			v["recall_at_10"], v["hit_rate_at_10"], v["ndcg_at_10"] = 1, 1, 1
			n--
		}
	}
}

// slower makes latencies larger by a factor.
func (p *samplePoint) slower(factor float64) {
	for name, v := range p.row {
		if f, ok := v.(float64); ok && strings.HasPrefix(name, "latency_") {
			p.row[name] = f * factor
		}
		if f, ok := v.(float64); ok && strings.HasPrefix(name, "qps") {
			p.row[name] = f / factor
		}
	}
}

// rows are the rows and questions of the run.
func (s *sample) rows() ([]results.Row, []results.QueryRow) {
	var rows []results.Row
	var queries []results.QueryRow
	for _, p := range s.points {
		if s.dropped[p.id] {
			continue
		}
		row := maps.Clone(p.row)
		row["run_id"] = s.run
		rows = append(rows, row)
		if row["status"] != "ok" {
			continue
		}
		sums, counts := map[string]float64{}, map[string]float64{}
		for q, c := range s.cases {
			queries = append(queries, results.QueryRow{
				RunID: s.run, PointID: p.id, QueryID: c.id, Scenario: c.scenario, Split: c.split, Answerable: true, LatencySeconds: 0.001, Metrics: p.values[q],
			})
			for name, v := range p.values[q] {
				sums[name] += v
				counts[name]++
			}
		}
		for name, sum := range sums {
			row[name] = sum / counts[name]
		}
	}
	return rows, queries
}

// side is the run as a gate reads it.
func (s *sample) side() *compare.Side {
	rows, queries := s.rows()
	return compare.New(s.run, rows, queries, nil)
}

// write makes the results folder.
func (s *sample) write(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), s.run)
	if err := os.MkdirAll(filepath.Join(dir, "queries"), 0o755); err != nil {
		t.Fatal(err)
	}
	rows, queries := s.rows()
	if err := results.WriteRows(filepath.Join(dir, "results.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	if err := results.WriteQueries(filepath.Join(dir, "queries", "a.parquet"), queries); err != nil {
		t.Fatal(err)
	}
	m := &results.Manifest{RunID: s.run, Name: "sample", Seed: 42, K: []int{10}, Digests: map[string]string{"corpus": "d1"}, Protocol: "3 rounds.", ScorerVersion: "1"}
	if err := results.WriteManifest(dir, m); err != nil {
		t.Fatal(err)
	}
	return dir
}

func parse(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := Parse("gate.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func read(t testing.TB, path string, p *Policy) *compare.Side {
	t.Helper()
	s, err := compare.Read(context.Background(), path, p.MetricNames())
	if err != nil {
		t.Fatal(err)
	}
	s.Name = filepath.Base(path)
	return s
}

// judged is what the policy says of two samples.
func judged(t testing.TB, policy string, base, next *sample) *Result {
	t.Helper()
	r, err := tryJudge(t, policy, base, next)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tryJudge(t testing.TB, policy string, base, next *sample) (*Result, error) {
	t.Helper()
	return judgeSides(parse(t, policy), base.side(), next.side())
}

func judgeSides(p *Policy, base, next *compare.Side) (*Result, error) {
	m, err := compare.Match(base, next, p.Match)
	if err != nil {
		return nil, err
	}
	return Judge(p, m)
}

// found are the decisions with one of the verdicts, as "metric kind @ point id: outcome".
func found(r *Result, verdicts ...Action) []string {
	var out []string
	for _, d := range r.Decisions {
		for _, v := range verdicts {
			if d.Verdict == v {
				out = append(out, fmt.Sprintf("%s %s @ %s: %s", d.Rule.Metric.Name, d.Rule.Kind, d.Point, d.Outcome))
			}
		}
	}
	return out
}
