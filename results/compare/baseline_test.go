package compare

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"frontier/results"
)

// large is a run of so many points, up to 100, with 185 questions whose metrics take many values.
func large(points int) *Side {
	rng := rand.New(rand.NewPCG(9, 10))
	var rows []results.Row
	var queries []results.QueryRow
	ease := make([]float64, 185)
	for q := range ease {
		ease[q] = rng.Float64()
	}
	for p := range points {
		id := fmt.Sprintf("point-%03d-%016x", p, rng.Uint64())
		p99 := 0.0001 * (1 + rng.Float64())
		row := results.Row{
			"run_id": "20261130-0712-large", "point_id": id, "cell_id": fmt.Sprintf("cell-%d", p/5), "status": "ok", "dataset": "corpus.jsonl", "dataset_digest": "d",
			"engine": "hnswlib", "index_kind": "hnsw", "index_spec": fmt.Sprintf("HNSW%d", 8<<(p/50)), "m": int64(8 << (p / 50)), "ef_search": int64(16 + p%50),
			"chunker": "recursive", "chunk_size": int64(256), "machine_digest": "m", "engine_version": "0.6.2",
			"params":              fmt.Sprintf(`{"chunker":{"overlap":0,"size":256,"unit":"tokens"},"index":{"M":%d},"index_search":{"ef_search":%d}}`, 8<<(p/50), 16+p%50),
			"latency_p99_seconds": p99, "latency_p99_low_seconds": p99 * 0.97, "latency_p99_high_seconds": p99 * 1.04, "index_bytes": rng.Int64N(1 << 30), "noise": rng.Float64() / 50,
		}
		rows = append(rows, row)
		for q := range ease {
			m := map[string]float64{"recall_at_10": 0, "hit_rate_at_10": 0, "ndcg_at_10": 0, "ann_recall_at_10": math.Round(10*min(1, 0.5+rng.Float64())) / 10}
			if rank := int(1 + ease[q]*14*rng.Float64()); rank <= 10 {
				m["hit_rate_at_10"], m["recall_at_10"], m["ndcg_at_10"] = 1, 1/float64(1+q%4), 1/math.Log2(float64(rank+1))/(1+float64(q%3))
			}
			queries = append(queries, results.QueryRow{RunID: "20261130-0712-large", PointID: id, QueryID: fmt.Sprintf("question-%03d", q), Scenario: []string{"a", "b", "c"}[q%3], Tags: []string{"t"}, Answerable: true, Metrics: m})
		}
	}
	s := New("out/large", rows, queries, nil)
	s.Sources = []results.Source{{Manifest: &results.Manifest{Version: 1, RunID: "20261130-0712-large", Protocol: "3 rounds", Digests: map[string]string{"corpus": "d"}}}}
	return s
}

func metrics(t testing.TB, names ...string) []Metric {
	t.Helper()
	var out []Metric
	for _, name := range names {
		m, err := LookupMetric(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// A baseline of 100 points with 185 questions fits in a repository, and says exactly what the run said.
func TestBaselineIsSmallAndExact(t *testing.T) {
	points := 100
	if testing.Short() {
		points = 12
	}
	s := large(points)
	ruled := metrics(t, "recall_at_10", "ndcg_at_10", "hit_rate_at_10", "ann_recall_at_10", "latency_p99_seconds", "index_bytes")
	for _, name := range []string{"baseline.json", "baseline.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := Record(path, s, ruled); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", name, info.Size())
		if info.Size() >= 200_000 {
			t.Errorf("%s has %d bytes, want less than 200 kB", name, info.Size())
		}
		b, err := Read(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.Points {
			want, got := &s.Points[i], &b.Points[i]
			for _, m := range ruled {
				wantValue, wantOK := want.Estimate(m)
				gotValue, gotOK := got.Estimate(m)
				if wantOK != gotOK || !same(wantValue, gotValue) {
					t.Fatalf("point %d, %s: %v, want %v", i, m.Name, gotValue, wantValue)
				}
				if m.PerQuery() && !reflect.DeepEqual(want.values[m.Name], got.values[m.Name]) {
					t.Fatalf("point %d: other values of %s", i, m.Name)
				}
			}
			for _, c := range append(DefaultMatch(), "params", "machine_digest", "noise", "engine_version") {
				if !reflect.DeepEqual(want.Row[c], got.Row[c]) {
					t.Fatalf("point %d, %s: %v, want %v", i, c, got.Row[c], want.Row[c])
				}
			}
		}
		if !reflect.DeepEqual(s.Cases, b.Cases) {
			t.Error("other questions")
		}
		m, err := Match(b, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r := m.Residue(); len(r) != 0 {
			t.Errorf("a run differs from its own baseline: %v", r)
		}
		if b.Recorded("mrr") || !b.Recorded("recall_at_10") || !s.Recorded("mrr") {
			t.Error("it is not told which metrics were recorded")
		}
		if name != "baseline.json" {
			continue
		}
		again := filepath.Join(t.TempDir(), name)
		if err := Record(again, b, ruled); err != nil {
			t.Fatal(err)
		}
		one, _ := os.ReadFile(path)
		two, _ := os.ReadFile(again)
		if !bytes.Equal(bytes.Replace(two, []byte(`"recorded_from": "baseline.json"`), []byte(`"recorded_from": "large"`), 1), one) {
			t.Error("a baseline of a baseline is another one")
		}
	}
	if err := Record("baseline.parquet", s, ruled); err == nil || !strings.Contains(err.Error(), ".json") {
		t.Errorf("another ending: %v", err)
	}
}

func same(a, b Estimate) bool {
	eq := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	return eq(a.Value, b.Value) && eq(a.Low, b.Low) && eq(a.High, b.High)
}

func TestDamagedBaselines(t *testing.T) {
	good, err := encodeBaseline(large(100), metrics(t, "recall_at_10")).text()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeBaseline(bytes.NewReader(good), false); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(s string) string{
		"byte offset":                   func(s string) string { return s[:len(s)/2] },
		"unexpected end":                func(string) string { return "" },
		"its format is":                 func(s string) string { return strings.Replace(s, baselineFormat, "frontier-baseline/9", 1) },
		"values for 99 points":          func(s string) string { return strings.Replace(s, `"points": 100`, `"points": 99`, 1) },
		"185 values for 184":            func(s string) string { return strings.Replace(s, `"question-000",`, "", 1) },
		"is there twice":                func(s string) string { return strings.Replace(s, `"question-000"`, `"question-001"`, 1) },
		"unknown type":                  func(s string) string { return strings.Replace(s, `"type":"int"`, `"type":"complex"`, 1) },
		"cannot unmarshal string":       func(s string) string { return strings.Replace(s, `"type":"string"`, `"type":"int"`, 1) },
		"it is not gzip":                nil,
		"value number":                  func(s string) string { return strings.Replace(s, `"values":[0,0.25,`, `"values":[`, 1) },
		"unknown column \"chunkerish\"": func(s string) string { return strings.Replace(s, `"chunker":`, `"chunkerish":`, 1) },
	} {
		text, packed := string(good), change == nil
		if change != nil {
			text = change(text)
			if text == string(good) {
				t.Fatalf("%s: nothing was changed", want)
			}
		}
		_, err := decodeBaseline(strings.NewReader(text), packed)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "b.json")
	if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(context.Background(), path, nil); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "record it again") {
		t.Errorf("error %v", err)
	}
}

func FuzzBaseline(f *testing.F) {
	small := New("s", []results.Row{{"run_id": "r", "point_id": "p", "status": "ok", "engine": "flat", "index_bytes": int64(3)}},
		[]results.QueryRow{{RunID: "r", PointID: "p", QueryID: "q", Metrics: map[string]float64{"recall_at_10": 0.5}}}, nil)
	good, err := encodeBaseline(small, metrics(f, "recall_at_10", "index_bytes")).text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := decodeBaseline(bytes.NewReader(text), false)
		if err != nil {
			return
		}
		for i := range s.Points {
			for name, column := range s.Points[i].values {
				if len(column) != len(s.Cases) {
					t.Errorf("%s has %d values for %d questions", name, len(column), len(s.Cases))
				}
			}
		}
	})
}
