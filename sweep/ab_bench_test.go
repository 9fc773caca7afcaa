package sweep

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontier/bench/stats"
	"frontier/results/ab"
	"frontier/results/compare"
	"frontier/results/gate"
)

// abBenchSweep is one point of a real engine: some tens of microseconds a search.
const abBenchSweep = `version: 1
build_threads: 1
vectors: {synthetic: {n: 20000, dim: 64, clusters: 100, spread: 0.5, queries: 500}, metric: l2}
indexes: [{engine: slow, search: {percent: PERCENT}}]
measure: {k: [10]}
`

// BenchmarkAB compares hnswlib (exact search, where that is absent) with itself, and with itself slowed down by 10%, over
// and over, and reports how often each metric was called different. FRONTIER_AB_REPEATS sets how often, half as often for
// the slow-down, and an eighth as often for one of 15%, which a gate with a limit of 5% on p50 is to stop; the default is 200, and 2 with -short.
func BenchmarkAB(b *testing.B) {
	repeats := 200
	if testing.Short() {
		repeats = 2
	}
	if text := os.Getenv("FRONTIER_AB_REPEATS"); text != "" {
		var err error
		if repeats, err = strconv.Atoi(text); err != nil || repeats < 2 {
			b.Fatalf("FRONTIER_AB_REPEATS is %q: a number of at least 2 is needed", text)
		}
	}
	for _, c := range []struct {
		name    string
		percent string
		repeats int
	}{{"equal", "0", repeats}, {"slower by 10%", "10", repeats / 2}, {"slower by 15%", "15", max(repeats/8, 1)}} {
		b.Run(c.name, func(b *testing.B) {
			p := newPlace(b, "")
			for b.Loop() {
				report(b, p, c.percent, c.repeats)
			}
		})
	}
}

func report(b *testing.B, p *place, percent string, repeats int) {
	base := strings.Replace(abBenchSweep, "PERCENT", "0", 1)
	next := strings.Replace(abBenchSweep, "PERCENT", percent, 1)
	called := map[string]map[stats.Decision]int{}
	policy, err := gate.Parse("policy", []byte("rules: [{metric: latency_p50_seconds, max_rise: 5%}]\nconfidence: 0.99\non_inconclusive: pass\n"))
	if err != nil {
		b.Fatal(err)
	}
	noisy, overlap, stopped := 0, 0, 0
	pairs, seconds := 0, 0.0
	for i := range repeats {
		o := p.abOptions(base, next)
		o.Pairs, o.Block, o.Base.File.Seed, o.New.File.Seed = 0, 40*time.Millisecond, uint64(i), uint64(i)
		if testing.Short() {
			o.Pairs, o.Block = fewPairs, 5*time.Millisecond
		}
		r, err := AB(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		point := r.Points[0]
		if point.Error != "" {
			b.Fatal(point.Error)
		}
		judged, err := gate.Judge(policy, compare.MatchAB("ab", r))
		if err != nil {
			b.Fatal(err)
		}
		if judged.Verdict == gate.Fail {
			stopped++
		}
		pairs, seconds = point.Pairs, seconds+r.Seconds
		if point.Noisy > 0 {
			noisy++
		}
		for _, m := range point.Metrics {
			if called[m.Name] == nil {
				called[m.Name] = map[stats.Decision]int{}
			}
			called[m.Name][m.Decision]++
			if m.Name == "latency_p50_seconds" && overlaps(m) {
				overlap++
			}
		}
	}
	for _, name := range []string{"latency_p50_seconds", "latency_p99_seconds", "qps"} {
		short := strings.TrimSuffix(strings.TrimPrefix(name, "latency_"), "_seconds")
		n := called[name]
		b.ReportMetric(float64(n[stats.Better]), short+"_better")
		b.ReportMetric(float64(n[stats.Worse]), short+"_worse")
		b.ReportMetric(float64(n[stats.Same]), short+"_same")
	}
	if n := called["ann_recall_at_10"]; n[stats.Same] != repeats {
		b.Errorf("the same answers are not the same: %v", n)
	}
	b.ReportMetric(float64(repeats), "comparisons")
	b.ReportMetric(float64(noisy), "disturbed")
	b.ReportMetric(float64(stopped), "stopped_by_gate")
	b.ReportMetric(float64(overlap), "p50_intervals_overlap")
	b.ReportMetric(float64(pairs), "pairs")
	b.ReportMetric(seconds/float64(repeats), "s/comparison")
}

// overlaps says whether the 95% intervals of both sides have a value in common.
func overlaps(m ab.Metric) bool {
	return m.BaseLow != nil && m.NewLow != nil && *m.BaseLow <= *m.NewHigh && *m.NewLow <= *m.BaseHigh
}

// BenchmarkSameSweepTwice compares a sweep of 24 points with itself, and reports for how many points the 95% intervals of
// p50 overlap: all but one in twenty should.
func BenchmarkSameSweepTwice(b *testing.B) {
	yaml := `version: 1
build_threads: 1
vectors: {synthetic: {n: 20000, dim: 64, clusters: 100, spread: 0.5, queries: 500}, metric: l2}
indexes: [{engine: ENGINE}]
measure: {k: [10], load: [{closed: 1}, {open: {rate: 2000}}]}
`
	engine := "hnswlib, M: [8, 12, 16], search: {ef_search: [16, 32, 64, 128]}"
	if testing.Short() {
		engine = "hnswlib, M: [8], search: {ef_search: [16]}"
	}
	if engineAbsent("hnswlib") {
		engine = "flat"
	}
	p := newPlace(b, "")
	for b.Loop() {
		o := p.abOptions(strings.Replace(yaml, "ENGINE", engine, 1), strings.Replace(yaml, "ENGINE", engine, 1))
		o.Pairs, o.Block = 0, 50*time.Millisecond
		if testing.Short() {
			o.Pairs, o.Block = fewPairs, time.Millisecond
		}
		r, err := AB(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		overlap, points, different := 0, 0, 0
		for _, point := range r.Points {
			for _, m := range point.Metrics {
				if m.Name != "latency_p50_seconds" {
					continue
				}
				points++
				if overlaps(m) {
					overlap++
				}
				if m.Decision == stats.Better || m.Decision == stats.Worse {
					different++
				}
			}
		}
		if points != len(r.Points) {
			b.Fatalf("%d of %d points have a p50", points, len(r.Points))
		}
		b.ReportMetric(float64(overlap)/float64(points), "overlap")
		b.ReportMetric(float64(points), "points")
		b.ReportMetric(float64(different), "called_different")
		b.ReportMetric(r.Seconds/float64(points), "s/point")
	}
}
