package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// buildSampler builds the generator of made-up rows once for all tests.
var buildSampler = sync.OnceValues(func() (string, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	tool := filepath.Join(root, "bin", "tools", "samplerows")
	build := exec.Command("go", "build", "-o", tool, "./internal/samplerows")
	build.Dir = root
	build.Env = append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the generator: %w\n%s", err, out)
	}
	return tool, nil
})

// sampleRows makes a results file of n made-up rows in row groups of so many.
func sampleRows(tb testing.TB, n, group int) string {
	tb.Helper()
	tool, err := buildSampler()
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), "results.parquet")
	if out, err := exec.Command(tool, "-n", strconv.Itoa(n), "-group", strconv.Itoa(group), "-o", path).CombinedOutput(); err != nil {
		tb.Fatalf("writing %d rows: %v\n%s", n, err, out)
	}
	return path
}

// skyline is the frontier of three objectives in SQL. The plain question, one NOT EXISTS over all pairs, takes hours for a
// million rows; this is the fastest form that was found: first drop what the frontier of a sample dominates.
func skyline(path string, sample int) string {
	const beats = "q.r >= p.r and q.l <= p.l and q.b <= p.b and (q.r > p.r or q.l < p.l or q.b < p.b)"
	return fmt.Sprintf(`
		with points as materialized (
			select point_id, recall_at_10 r, latency_p99_seconds l, index_bytes b from read_parquet(%s)
			where status = 'ok' and recall_at_10 is not null and latency_p99_seconds is not null and index_bytes is not null),
		drawn as materialized (select r, l, b from points order by hash(point_id) limit %d),
		strong as materialized (select * from drawn p where not exists (select 1 from drawn q where %[3]s)),
		rest as materialized (select * from points p where not exists (select 1 from strong q where %[3]s))
		select point_id from rest p where not exists (select 1 from rest q where %[3]s) order by 1`, quote(path), sample, beats)
}

// BenchmarkParetoAgainstDuckDB asks both for the frontier of three objectives over one file, in turns, and compares the
// rows. DuckDB is in this process and only its query is timed; frontier is timed from its start to its end. With -short
// the file has 30,000 rows, else a million, which takes a minute or two to write.
func BenchmarkParetoAgainstDuckDB(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 30_000
	}
	path := sampleRows(b, n, 16<<10)
	binary, err := buildBinary()
	if err != nil {
		b.Fatal(err)
	}
	ask := func() (points []string, peak int64) {
		cmd := exec.Command(binary, "pareto", path, "--scan-from", "1", "--columns", "point_id", "--format", "csv",
			"--objective", "recall_at_10:max", "--objective", "latency_p99_seconds:min", "--objective", "index_bytes:min")
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil {
			b.Fatalf("%v\n%s", err, said.String())
		}
		points = strings.Fields(out.String())[1:]
		slices.Sort(points)
		return points, peakBytes(cmd.ProcessState)
	}
	_, peak := ask() // before DuckDB fills this process, whose memory counts for a child until it is another program
	db := openDuckDB(b)
	var ours, theirs time.Duration
	rounds := 0
	for b.Loop() {
		start := time.Now()
		rows, err := db.Query(skyline(path, max(1000, n/60)))
		if err != nil {
			b.Fatal(err)
		}
		var want []string
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				b.Fatal(err)
			}
			want = append(want, id)
		}
		if err := rows.Err(); err != nil {
			b.Fatal(err)
		}
		theirs += time.Since(start)

		start = time.Now()
		got, _ := ask()
		ours += time.Since(start)
		rounds++
		if len(want) == 0 || !slices.Equal(got, want) {
			b.Fatalf("frontier finds %d points, DuckDB %d, and they are not the same", len(got), len(want))
		}
		b.ReportMetric(float64(len(got)), "on_frontier")
	}
	b.ReportMetric(float64(theirs)/float64(ours), "duckdb/frontier")
	b.ReportMetric(ours.Seconds()/float64(rounds), "s/frontier")
	b.ReportMetric(theirs.Seconds()/float64(rounds), "s/duckdb")
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	if peak > 1<<30 {
		b.Errorf("frontier took %d MiB at its peak, more than 1 GiB", peak>>20)
	}
	if !testing.Short() && ours > theirs {
		b.Errorf("frontier took %v, DuckDB %v", ours, theirs)
	}
}

// peakBytes is the largest resident memory of a process that has ended.
func peakBytes(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
