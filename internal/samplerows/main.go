// Command samplerows writes made-up result rows, for tests and benchmarks of what reads many of them. The rows have the
// columns, the types and the shape of real ones (recall and latency trade off, values have intervals, a few rows failed),
// and are the same for the same seed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"frontier/results"
)

func main() {
	n := flag.Int("n", 1000, "rows")
	out := flag.String("o", "", "the Parquet file to write")
	seed := flag.Uint64("seed", 1, "seed")
	group := flag.Int("group", 16<<10, "rows in memory, and in a row group")
	flag.Parse()
	if err := run(*n, *group, *seed, *out); err != nil {
		fmt.Fprintln(os.Stderr, "samplerows:", err)
		os.Exit(1)
	}
}

func run(n, group int, seed uint64, out string) error {
	if out == "" || n < 0 || group < 1 {
		return errors.New("give a file with -o, a number of rows that is not negative, and row groups of at least one row")
	}
	return results.WriteRowBatches(out, []int{1, 10}, batches(n, group, seed))
}

func batches(n, group int, seed uint64) iter.Seq2[[]results.Row, error] {
	return func(yield func([]results.Row, error) bool) {
		rng := rand.New(rand.NewPCG(seed, seed))
		measures := measuredColumns()
		for start := 0; start < n; start += group {
			rows := make([]results.Row, min(group, n-start))
			for i := range rows {
				rows[i] = row(rng, measures, start+i, n)
			}
			if !yield(rows, nil) {
				return
			}
		}
	}
}

// measuredColumns are the columns that only a measurement fills.
func measuredColumns() map[string]bool {
	out := map[string]bool{}
	for _, c := range results.Columns() {
		switch c.Group {
		case "build", "ann", "quality", "load", "latency":
			for _, k := range []string{"_at_1", "_at_10"} {
				out[strings.Replace(c.Name, "_at_K", k, 1)] = true
			}
		}
	}
	return out
}

// row is point i of n: engines one after the other, and within each by recall, more or less, as WriteRows stores many.
func row(rng *rand.Rand, measures map[string]bool, i, n int) results.Row {
	engine := []string{"bleve", "coder", "faiss", "flat", "hnswlib"}[i*5/n]
	effort := float64(i*5%n) / float64(n) // of the search: more recall, more time
	recall := math.Round((0.35+0.6*math.Sqrt(effort)+0.04*rng.Float64())*1e4) / 1e4
	latency := 20e-6 * math.Exp(5*effort+1.2*rng.Float64())
	bytes := int64(1e6 * math.Exp(3*rng.Float64()))
	size := int64(128 << (i % 3))
	ef := int64(16 << (i % 6))
	r := results.Row{
		"run_id": fmt.Sprintf("20261130-%04d", i*40/n), "point_id": fmt.Sprintf("%016x", rng.Uint64()), "cell_id": fmt.Sprintf("%012x", i/6),
		"name": "made up", "started_at": time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second), "status": "ok",
		"dataset": "made-up", "dataset_digest": "5d0c9b91ab2277aa", "title_mode": "join", "documents": int64(1000), "chunks": 480000 / size,
		"vectors": 480000 / size, "dim": int64(256), "metric": "cosine", "queries": int64(200), "queries_answerable": int64(180), "k": int64(10),
		"unit": "document", "depth": int64(50), "depth_effective": int64(50), "evidence_rule": "overlap", "relevance_min": int64(1),
		"chunker": "recursive", "chunk_size": size, "chunk_overlap": size / 10, "chunk_unit": "tokens", "chunk_chars_mean": float64(size) * 3.9,
		"embedder": "lsa", "engine": engine, "index_kind": "hnsw", "index_spec": "HNSW16,efConstruction100", "m": int64(16), "ef_construction": int64(100),
		"ef_search": ef, "params": fmt.Sprintf(`{"index":{"M":16,"ef_construction":100},"search":{"ef_search":%d}}`, ef),
		"build_seconds": 1 + rng.Float64(), "build_threads": int64(1), "load_seconds": 0.01, "index_bytes": bytes, "memory_serving_bytes": bytes * 2,
		"queries_expected": int64(200), "queries_failed": int64(0), "load_mode": "closed", "concurrency": int64(1), "errors": int64(0),
		"qps": 0.9 / latency, "qps_low": 0.88 / latency, "qps_high": 0.92 / latency,
		"latency_mean_seconds": latency * 0.6, "latency_p50_seconds": latency * 0.5, "latency_p50_low_seconds": latency * 0.49, "latency_p50_high_seconds": latency * 0.51,
		"latency_p90_seconds": latency * 0.7, "latency_p95_seconds": latency * 0.8, "latency_p99_seconds": latency,
		"latency_p99_low_seconds": latency * (0.9 + 0.08*rng.Float64()), "latency_p99_high_seconds": latency * (1.02 + 0.2*rng.Float64()),
		"latency_max_seconds": latency * 3, "samples": int64(4000), "repetitions": int64(3), "harness_overhead_seconds": 4e-8,
		"machine_digest": "91ab225d0c9b77aa", "cpu": "Example CPU 3.0 GHz", "cores": int64(2), "instruction_set": "avx512", "noise": 0.01 * rng.Float64(),
		"go_version": "go1.26.0", "engine_version": "1.0", "on_frontier": false,
	}
	for _, k := range []string{"_at_1", "_at_10"} {
		for name, v := range map[string]float64{"recall": recall, "ndcg": recall * 0.8, "hit_rate": math.Sqrt(recall), "mrr": recall * 0.7} {
			r[name+k], r[name+k+"_low"], r[name+k+"_high"] = v, max(0, v-0.03), min(1, v+0.03)
		}
		r["ann_recall"+k] = min(1, recall+0.05)
	}
	if rng.IntN(100) == 0 { // it was not measured
		for name := range r {
			if measures[name] {
				delete(r, name)
			}
		}
		r["status"], r["error"] = "timeout", "the cell took longer than 10m; raise limits.cell_time"
	}
	return r
}
