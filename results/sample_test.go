package results

import (
	"fmt"
	"math"
	"time"
)

// sampleText is a made-up text run: five engines over three chunk sizes, one crash, one noisy point. Its numbers have
// the shape of real ones and nothing more.
func sampleText() ([]Row, *Manifest) {
	var rows []Row
	add := func(engine, kind string, size int, recall, p50 float64, set Row) {
		n := len(rows)
		r := Row{
			"run_id": "20261130-0712-quick", "point_id": fmt.Sprintf("p%02d", n), "cell_id": fmt.Sprintf("c%02d", n/3), "name": "quickstart", "status": "ok",
			"dataset": "godoc:std", "documents": int64(176), "chunks": int64(480000 / size), "queries": int64(128), "queries_answerable": int64(110),
			"k": int64(10), "unit": "document", "chunker": "recursive", "chunk_size": int64(size), "chunk_overlap": int64(0), "chunk_unit": "tokens",
			"engine": engine, "index_kind": kind, "concurrency": int64(1), "load_mode": "closed",
			"recall_at_10": recall, "recall_at_10_low": recall - 0.06, "recall_at_10_high": math.Min(1, recall+0.055),
			"ndcg_at_10": recall * 0.8, "ndcg_at_10_low": recall*0.8 - 0.05, "ndcg_at_10_high": recall*0.8 + 0.05,
			"latency_p50_seconds": p50, "latency_p99_seconds": p50 * 2.1, "latency_p99_low_seconds": p50 * 1.9, "latency_p99_high_seconds": p50 * 2.6,
			"qps": 0.9 / p50, "samples": int64(2560), "index_bytes": int64(480000 / size * 1100), "build_seconds": 12.5 / float64(size),
			"cost_usd_per_month": 61.32 + float64(n%4)*30.66, "machine_type": "general-2", "started_at": time.Date(2026, 11, 30, 7, 12, n, 0, time.UTC),
		}
		for k, v := range set {
			r[k] = v
		}
		rows = append(rows, r)
	}
	for i, size := range []int{128, 256, 512} {
		f := float64(i)
		add("flat", "flat", size, 0.71+0.02*f, 0.00042/(1+f), Row{"embedder": "lsa", "dim": int64(256)})
		for j, ef := range []int64{32, 64, 128} {
			add("hnswlib", "hnsw", size, 0.66+0.02*f+0.02*float64(j), (0.000031+0.00002*float64(j))/(1+0.2*f), Row{"embedder": "lsa", "dim": int64(256), "m": int64(16), "ef_search": ef})
		}
		for j, nprobe := range []int64{1, 4, 16} {
			add("faiss", "ivf_flat", size, 0.45+0.02*f+0.12*float64(j), 0.00002*float64(j*j+1), Row{"embedder": "lsa", "dim": int64(256), "nlist": int64(256), "nprobe": nprobe})
		}
		add("bleve", "bm25", size, 0.78+0.01*f, 0.00061+0.0001*f, nil)
		add("hybrid", "hybrid", size, 0.83+0.015*f, 0.00083-0.00005*f, Row{"embedder": "lsa", "dim": int64(256), "fusion": "rrf", "fusion_param": 60.0})
	}
	rows[4]["warnings"] = []string{"the machine was noisy: the calibration kernel took 8% longer afterwards; close other programs and run the sweep again with --fresh"}
	rows[13]["warnings"] = rows[4]["warnings"]
	rows = append(rows, Row{
		"run_id": "20261130-0712-quick", "point_id": "p99", "cell_id": "c99", "status": "crashed", "engine": "coder", "index_kind": "hnsw",
		"error": "the engine exited with signal 11 while searching; run \"frontier engines\" for its known defects, or leave it out",
	})
	finished := time.Date(2026, 11, 30, 7, 13, 31, 0, time.UTC)
	return rows, &Manifest{
		Version: 1, RunID: "20261130-0712-quick", Name: "quickstart", Started: time.Date(2026, 11, 30, 7, 12, 0, 0, time.UTC), Finished: &finished,
		Sweep: "version: 1\nname: quickstart\n", Seed: 42, Dataset: "godoc:std", Digests: map[string]string{"corpus": "sha256:5d0c9b", "queries": "sha256:91ab22"},
		Queries: 128, Answerable: 110, K: []int{1, 5, 10}, Unit: "document", Depth: 50, TitleMode: "join", EvidenceRule: "overlap", RelevanceMin: 1,
		AggregationRule: "Each metric is the mean over the 110 answerable queries; a failed query and one without results count as zero.",
		Protocol:        "One client asked all queries back to back, after a warm-up of 200ms, in 2 rounds that interleave the points of an index. A latency is the whole way from query to ranked list.",
		ScorerVersion:   "1", Engines: map[string]string{"bleve": "2.6.3", "hnswlib": "0.6.2", "faiss": "1.7.3"},
		Machine:     map[string]string{"cpu": "Example CPU 3.0 GHz", "cores": "2", "instruction_set": "avx512", "memory": "8 GiB", "go": "go1.26.0"},
		Assumptions: []string{"100 queries a second, 2 replicas, each able to carry the whole rate.", "Prices of 2026-11-01 from the built-in example catalogue, in USD; replace them with your own.", "A month has 730 hours."},
		Plan:        map[string]int{"cells": 16, "points": 28},
		Warnings:    []string{"4 queries have no judged document among the first 10; their quality is a lower bound: judge them."},
		Failures:    []Failure{{CellID: "c99", Status: "crashed", Error: "the engine exited with signal 11 while searching; run \"frontier engines\" for its known defects, or leave it out", Points: 1}},
	}
}

// sampleVectors is a made-up vector run.
func sampleVectors() []Row {
	var rows []Row
	for e, engine := range []string{"flat", "faiss", "hnswlib", "coder"} {
		for i := range 6 {
			recall := math.Min(1, 0.5+0.1*float64(i)+0.03*float64(e))
			qps := 30000 / math.Pow(1.9, float64(i)+float64(e)/2)
			if engine == "flat" {
				if i > 0 {
					break
				}
				recall, qps = 1, 210
			}
			if engine == "coder" {
				recall, qps = 0.2, 9000
			}
			rows = append(rows, Row{
				"point_id": fmt.Sprintf("%s-%d", engine, i), "status": "ok", "engine": engine, "dataset": "synthetic", "vectors": int64(100000),
				"ann_recall_at_10": recall, "qps": qps, "qps_low": qps * 0.97, "qps_high": qps * 1.03, "ef_search": int64(16 << i), "latency_p99_seconds": 1 / qps,
			})
		}
	}
	return rows
}
