package sweep

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"frontier/sweep/file"
)

// BenchmarkRunner says what the runner adds to the time of stages and cells: starting processes, hashing, scoring,
// writing rows and the report. Everything but building, loading and visiting points counts as its own, calibration too.
func BenchmarkRunner(b *testing.B) {
	for _, cell := range []time.Duration{100 * time.Millisecond, 10 * time.Second} {
		b.Run(cell.String(), func(b *testing.B) {
			const points, rounds, warmup = 2, 2, time.Millisecond
			cells := 6
			if cell > time.Second {
				cells = 2
				if once() {
					cell, cells = 3*time.Second, 2 // the share of 10 s is told from the milliseconds
				}
			}
			for b.Loop() {
				own, wall := runnerTime(b, cells, cell/(points*rounds)-warmup, warmup)
				perCell := own / time.Duration(cells)
				b.ReportMetric(float64(perCell.Microseconds())/1000, "ms/cell")
				b.ReportMetric(100*own.Seconds()/(wall-own).Seconds(), "%overhead")
				b.ReportMetric(100*perCell.Seconds()/10, "%of10s")
			}
		})
	}
}

// once says that the benchmarks are run once, as a test of their answers.
func once() bool {
	f := flag.Lookup("test.benchtime")
	return f != nil && f.Value.String() == "1x"
}

// runnerTime runs a sweep of so many cells of two points, and gives the runner's own time and that of the whole.
func runnerTime(b *testing.B, cells int, minTime, warmup time.Duration) (own, wall time.Duration) {
	b.Helper()
	p := newPlace(b, fmt.Sprintf(`version: 1
build_threads: 1
vectors: {synthetic: {n: 2000, dim: 32, clusters: 20, spread: 0.5, queries: 200}, metric: l2}
indexes: [{engine: hoard, bytes: {from: 1, to: %d, steps: %d, scale: linear}}]
measure: {k: [1, 10], rounds: 2, min_time: %v, warmup: %v, max_time: %v, load: [{closed: [1, 2]}]}
`, cells, cells, minTime, warmup, 10*minTime))
	p.write("sweep.yaml", p.yaml)
	f, err := file.Read(filepath.Join(p.dir, "sweep.yaml"), testRegistry(), nil)
	if err != nil {
		b.Fatal(err)
	}
	started := time.Now()
	r, err := newRunner(f, Options{Out: p.out, Cache: p.cache, Jobs: 1, Registry: testRegistry(), Command: testCommand})
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(r.run(b.Context()), r.cache.Close()); err != nil {
		b.Fatal(err)
	}
	wall = time.Since(started)
	rows := p.rows()
	if len(rows) != 2*cells || r.summary.Failed != 0 {
		b.Fatalf("%d rows of %d cells: %+v", len(rows), cells, r.summary)
	}
	for _, row := range rows {
		if row["ann_recall_at_10"] != 1.0 {
			b.Fatalf("exact search has recall %v", row["ann_recall_at_10"])
		}
	}
	return wall - r.worked, wall
}
