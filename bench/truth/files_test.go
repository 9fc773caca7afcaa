package truth

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"frontier/internal/vector"
)

// BenchmarkExactOnFiles searches base.fbin for the 100 nearest of queries.fbin, both in the folder that
// FRONTIER_TRUTH_BENCH names, on all cores; scripts/truth-bench.sh runs it beside other searches of the same files. Where
// the folder has the answers of one of these, in ids-METRIC.ibin, they must agree.
func BenchmarkExactOnFiles(b *testing.B) {
	dir := os.Getenv("FRONTIER_TRUTH_BENCH")
	if dir == "" {
		b.Skip("FRONTIER_TRUTH_BENCH names no folder; run scripts/truth-bench.sh")
	}
	base, err := vector.OpenFbin(filepath.Join(dir, "base.fbin"))
	if err != nil {
		b.Fatal(err)
	}
	defer base.Close()
	queries, err := vector.OpenFbin(filepath.Join(dir, "queries.fbin"))
	if err != nil {
		b.Fatal(err)
	}
	defer queries.Close()
	for _, m := range metrics {
		b.Run(string(m), func(b *testing.B) {
			const k = 100
			var got *Neighbors
			best := time.Duration(math.MaxInt64)
			for b.Loop() {
				start := time.Now()
				if got, err = Exact(b.Context(), base, queries, m, k, 0); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(start))
			}
			perRun := 2 * float64(base.Len()) * float64(queries.Len()) * float64(base.Dim())
			b.ReportMetric(perRun/best.Seconds()/1e9, "best-GFLOP/s") // the others are judged by their best run too
			b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
			if err := agree(got, filepath.Join(dir, fmt.Sprintf("ids-%s.ibin", m))); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// agree compares neighbours with the ids in an ibin file, if there is one, made in float32: a few may differ, where two
// distances do not.
func agree(got *Neighbors, path string) error {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(raw) != 8+4*len(got.IDs) {
		return fmt.Errorf("%s: has %d bytes, which are not %d ids", path, len(raw), len(got.IDs))
	}
	differ := 0
	for i, id := range got.IDs {
		if int64(int32(binary.LittleEndian.Uint32(raw[8+4*i:]))) != id {
			differ++
		}
	}
	if differ > len(got.IDs)/100 {
		return fmt.Errorf("%s: %d of %d ids differ", path, differ, len(got.IDs))
	}
	return nil
}
