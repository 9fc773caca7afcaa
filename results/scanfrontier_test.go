package results

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// scanRows are rows of two data sets and two machines, with ties, nulls, failures and points that were measured again.
func scanRows(rng *rand.Rand, run string, n int) []Row {
	var rows []Row
	for i := range n {
		id := fmt.Sprint("p", rng.IntN(n))
		r := Row{
			"run_id": run, "point_id": id, "status": "ok", "started_at": time.Date(2026, 11, 30, 7, 0, rng.IntN(50), 0, time.UTC),
			"dataset": "d", "dataset_digest": fmt.Sprint("digest", i*2/n), "machine_digest": fmt.Sprint("machine", rng.IntN(2)), "cpu": "c", "cores": int64(2),
			"engine": []string{"flat", "hnswlib"}[rng.IntN(2)], "queries_answerable": int64(10),
		}
		r["recall_at_10"] = float64(rng.IntN(40)) / 40
		r["recall_at_10_low"], r["recall_at_10_high"] = r["recall_at_10"].(float64)-0.001, r["recall_at_10"].(float64)+0.001
		latency := float64(1+rng.IntN(40)) / 1000
		r["latency_p99_seconds"], r["latency_p99_low_seconds"], r["latency_p99_high_seconds"] = latency, latency*0.99, latency*1.01
		r["index_bytes"] = int64(rng.IntN(30))
		if rng.IntN(8) == 0 {
			delete(r, []string{"recall_at_10", "latency_p99_seconds", "index_bytes", "engine", "started_at"}[rng.IntN(5)])
		}
		if rng.IntN(10) == 0 {
			r["status"], r["error"] = "timeout", "too slow"
		}
		if rng.IntN(3) > 0 {
			r["warnings"] = []string{"noisy"}
		}
		rows = append(rows, r)
	}
	return rows
}

// A scan answers what reading all rows answers.
func TestScanFrontierEqualsReading(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(5, 9))
	ctx := context.Background()
	for round := range 6 {
		paths := []string{filepath.Join(dir, fmt.Sprint(round, "a.parquet")), filepath.Join(dir, fmt.Sprint(round, "b.parquet"))}
		for i, path := range paths {
			rows := scanRows(rng, fmt.Sprint("run", i), 300)
			if err := writeRowGroups(path, rows, 64); err != nil {
				t.Fatal(err)
			}
		}
		objs := paretoObjectives()[:1+round%3]
		where := []string{"", `engine == "hnswlib" and latency_p99_seconds < 30ms`, `status == "ok" or recall_at_10 > 0.5`}[round%3]
		columns := []string{"point_id", "run_id", "engine", "recall_at_10", "recall_at_10_low", "warnings", "status"}
		got, err := ScanFrontier(ctx, ScanQuestion{Objectives: objs, Where: where, Columns: columns, Named: columns, Places: true}, paths...)
		if err != nil {
			t.Fatal(err)
		}
		all, err := ReadRows(ctx, paths...)
		if err != nil {
			t.Fatal(err)
		}
		kept := all
		if where != "" {
			holds, err := Where(where)
			if err != nil {
				t.Fatal(err)
			}
			kept = slices.DeleteFunc(slices.Clone(all), func(r Row) bool { ok, _ := holds(r); return !ok })
		}
		if got.Read != len(all) || got.Kept != len(kept) || len(got.Absent)+len(got.NoFrontier) > 0 {
			t.Fatalf("%d and %d rows, absent %v %v; want %d and %d, nothing absent", got.Read, got.Kept, got.Absent, got.NoFrontier, len(all), len(kept))
		}
		if want := CommonWarnings(kept); !slices.Equal(got.Common, want) {
			t.Errorf("warnings %v, want %v", got.Common, want)
		}
		groups := Groups(kept)
		if !reflect.DeepEqual(MixWarnings(got.Groups), MixWarnings(groups)) {
			t.Errorf("data sets and machines: %v, want %v", MixWarnings(got.Groups), MixWarnings(groups))
		}
		for g := range groups {
			j, err := groups[g].Judge(objs, Certainty{}, OnFrontier)
			if err != nil {
				t.Fatal(err)
			}
			if len(j.Rows) != len(got.Groups[g].Rows) {
				t.Fatalf("data set %d: %d rows on the frontier, want %d", g, len(got.Groups[g].Rows), len(j.Rows))
			}
			for i, want := range j.Rows {
				for _, name := range append(columns, "place", "knee") {
					if v := got.Groups[g].Rows[i][name]; !reflect.DeepEqual(v, want[name]) {
						t.Fatalf("data set %d, row %d: %s is %v, want %v", g, i, name, v, want[name])
					}
				}
			}
		}
	}
}

// A column may be an objective and of use otherwise.
func TestScanFrontierOfColumnsInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	rows := []Row{
		{"point_id": "a", "status": "ok", "machine_digest": "m", "cores": int64(4), "qps": 100.0, "qps_low": 99.0, "qps_high": 101.0},
		{"point_id": "b", "status": "ok", "machine_digest": "m", "cores": int64(4), "qps": 90.0, "qps_low": 80.0, "qps_high": 100.0},
	}
	writeRows(t, path, rows)
	objs := []Objective{{"qps", Higher}, {"qps_low", Higher}, {"cores", Higher}}
	got, err := ScanFrontier(context.Background(), ScanQuestion{Objectives: objs, Columns: []string{"point_id"}, Places: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Groups(rows)[0].Judge(objs, Certainty{}, OnFrontier)
	if err != nil {
		t.Fatal(err)
	}
	g := got.Groups[0]
	if len(g.Machines) != 1 || g.Machines[0].Cores != 4 || len(g.Rows) != 1 || len(want.Rows) != 1 || g.Rows[0]["place"] != want.Rows[0]["place"] {
		t.Errorf("%+v, want %+v", g, want.Rows)
	}
}

func TestScanFrontierSaysWhatIsAbsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	rows := scanRows(rand.New(rand.NewPCG(1, 1)), "run", 50)
	writeRows(t, path, rows)
	ctx := context.Background()
	objs := []Objective{{"recall_at_7", Higher}, {"index_bytes", Lower}}
	got, err := ScanFrontier(ctx, ScanQuestion{Objectives: objs, Where: "qps > 0 or index_bytes >= 0", Columns: []string{"cost_usd_per_month"}, Named: []string{"cost_usd_per_month"}}, path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := ReadRows(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	if want := Absent(read, []string{"cost_usd_per_month", "qps"}); !slices.Equal(got.Absent, want) {
		t.Errorf("absent: %q, want %q", got.Absent, want)
	}
	if want := Absent(read, []string{"recall_at_7"}); !slices.Equal(got.NoFrontier, want) || !strings.Contains(want[0], "k = 7 was not measured") {
		t.Errorf("absent objectives: %q, want %q", got.NoFrontier, want)
	}
	if n, err := CountRows(path); n != 50 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

// Columns of another version are named by a scan as by reading.
func TestScanFrontierNamesUnknownColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	fields := []field{{"point_id", String}, {"status", String}, {"qps", Float}, {"warnings", Strings}, {"glow", Float}}
	rows := []Row{{"point_id": "a", "status": "ok", "qps": 5.0, "warnings": []string{"noisy"}}, {"point_id": "b", "status": "ok", "qps": 7.0, "glow": 1.0}}
	if err := writeParquet(path, fields, len(rows), func(row, f int) any { return rows[row][fields[f].name] }); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	read, err := ReadRows(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ScanFrontier(ctx, ScanQuestion{Objectives: []Objective{{"qps", Higher}}, Columns: []string{"point_id", "warnings"}}, path)
	if err != nil {
		t.Fatal(err)
	}
	if want := CommonWarnings(read); !slices.Equal(got.Common, want) || len(want) != 1 || !strings.Contains(want[0].Text, `column "glow"`) {
		t.Errorf("common warnings %v, want %v", got.Common, want)
	}
	if front := got.Groups[0].Rows; len(front) != 1 || !reflect.DeepEqual(front[0]["warnings"], read[1]["warnings"]) {
		t.Errorf("on the frontier: %v, want the warnings %v", front, read[1]["warnings"])
	}
}

// Damage is told by a scan as by reading: no mutilated file gives fewer rows without an error.
func TestScanOfMutilatedFiles(t *testing.T) {
	raw := smallFile(t)
	path := filepath.Join(t.TempDir(), "r.parquet")
	q := ScanQuestion{Objectives: []Objective{{"qps", Higher}}, Columns: []string{"point_id", "qps"}, Places: true}
	refused := 0
	for i := 0; i < len(raw); i += 53 {
		flipped := slices.Clone(raw)
		flipped[i] ^= 1 << (i % 8)
		writeFile(t, path, flipped)
		got, err := ScanFrontier(context.Background(), q, path)
		if err != nil {
			refused++
		} else if got.Read != 3 {
			t.Errorf("bit flipped in byte %d: %d rows and no error", i, got.Read)
		}
		writeFile(t, path, raw[:i])
		if _, err := ScanFrontier(context.Background(), q, path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("cut to %d of %d bytes: %v", i, len(raw), err)
		}
	}
	if refused == 0 {
		t.Error("no flipped file was refused")
	}
}

func writeFile(t *testing.T, path string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkScanFrontier finds the frontier of three objectives in a file.
func BenchmarkScanFrontier(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 5_000
	}
	rng := rand.New(rand.NewPCG(3, 7))
	path := filepath.Join(b.TempDir(), "r.parquet")
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{
			"run_id": "r", "point_id": fmt.Sprint("p", i), "status": "ok", "started_at": time.Unix(int64(i), 0).UTC(), "dataset_digest": "d", "engine": "flat",
			"recall_at_10": rng.Float64(), "latency_p99_seconds": rng.Float64(), "index_bytes": rng.Int64N(1 << 40),
		}
	}
	writeRows(b, path, rows)
	objs := paretoObjectives()[:3]
	on, _, err := Frontier(rows, objs)
	if err != nil {
		b.Fatal(err)
	}
	want := 0
	for _, is := range on {
		if is {
			want++
		}
	}
	for b.Loop() {
		got, err := ScanFrontier(context.Background(), ScanQuestion{Objectives: objs, Columns: []string{"point_id"}}, path)
		if err != nil || len(got.Groups[0].Rows) != want {
			b.Fatalf("%v, %v; want %d rows", got, err, want)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
