package compare

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"frontier/results"
)

func places(points []changePoint) []int {
	var at []int
	for _, p := range points {
		at = append(at, p.at)
	}
	return at
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestChangePoints(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	level := func(n int, mean, spread float64) (out []float64) {
		for range n {
			out = append(out, mean+spread*rng.NormFloat64())
		}
		return out
	}
	for name, c := range map[string]struct {
		values []float64
		want   []int
	}{
		"none":             {level(30, 1, 0.1), nil},
		"one":              {append(level(12, 1, 0.01), level(12, 1.1, 0.01)...), []int{12}},
		"two":              {append(append(level(12, 1, 0.01), level(12, 1.1, 0.01)...), level(12, 0.9, 0.01)...), []int{12, 24}},
		"an outlier":       {append(append(level(10, 1, 0.01), 5), level(10, 1, 0.01)...), nil},
		"constant":         {level(20, 1, 0), nil},
		"constant steps":   {append(level(8, 1, 0), level(8, 0.9, 0)...), []int{8}},
		"too few":          {[]float64{1, 1, 2, 2}, nil},
		"five and five":    {[]float64{1, 1.1, 1.2, 1.05, 1.15, 2, 2.1, 2.2, 2.05, 2.15}, []int{5}},
		"nothing":          {nil, nil},
		"a single one":     {[]float64{1}, nil},
		"equal but a pair": {[]float64{1, 1, 1, 1, 1, 1, 2}, nil},
	} {
		if got := places(changePoints(c.values, 0.01, 1)); !equal(got, c.want) {
			t.Errorf("%s: changes at %v, want %v", name, got, c.want)
		}
	}
	// At 0.05 four and four values are the least that show a change.
	if got := places(changePoints([]float64{1, 1.1, 1.2, 1.05, 2, 2.1, 2.2, 2.05}, 0.05, 1)); !equal(got, []int{4}) {
		t.Errorf("four and four: changes at %v", got)
	}
	if got := places(changePoints([]float64{1, 1.1, 1.2, 2, 2.1, 2.2, 2.05}, 0.05, 1)); got != nil {
		t.Errorf("three and four: changes at %v", got)
	}
	if got := places(steps([]float64{3, 3, 4, 4, 3})); !equal(got, []int{2, 4}) {
		t.Errorf("exact steps at %v", got)
	}
}

// In series without a change, at most alpha have one found.
func TestChangePointsRarelyFindWhatIsNotThere(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	trials, found := 400, 0
	if testing.Short() {
		trials = 100
	}
	for i := range trials {
		values := make([]float64, 20)
		for j := range values {
			values[j] = rng.ExpFloat64() // skewed, as latencies are
		}
		if len(changePoints(values, 0.05, uint64(i))) > 0 {
			found++
		}
	}
	if limit := trials * 8 / 100; found > limit { // 5% and 2.75 standard errors
		t.Errorf("changes in %d of %d series without one", found, trials)
	}
}

func historyRows() []results.Row {
	var rows []results.Row
	rng := rand.New(rand.NewPCG(15, 16))
	for i := range 24 {
		// The rows of later runs come first, so that order is seen to be by time.
		n := 23 - i
		p50, size, machine := 0.001, int64(1000), "m1"
		if n >= 12 {
			p50, size = 0.0013, 1100
		}
		if n >= 20 {
			machine = "m2"
		}
		for _, engine := range []string{"flat", "hnswlib"} {
			rows = append(rows, results.Row{
				"run_id": "run-" + string(rune('a'+n)), "point_id": engine, "status": "ok", "started_at": time.Date(2026, 11, 1+n, 0, 0, 0, 0, time.UTC),
				"engine": engine, "machine_digest": machine, "dataset_digest": "d", "k": int64(10), "index_bytes": size,
				"latency_p50_seconds": p50 * (1 + 0.01*rng.Float64()), "recall_at_10": 0.9,
			})
		}
	}
	return rows
}

func TestHistory(t *testing.T) {
	series, err := History(historyRows(), HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, s := range series {
		seen[s.Metric.Name]++
		if s.Point != "engine=flat" && s.Point != "engine=hnswlib" {
			t.Errorf("point %q", s.Point)
		}
		switch {
		case s.Metric.Name == "latency_p50_seconds" && s.Apart == "m1":
			if len(s.Runs) != 20 || len(s.Changes) != 1 || s.Changes[0].Run != "run-m" || !(s.Changes[0].Before < 0.00102 && s.Changes[0].After > 0.0013) || s.Changes[0].P == 0 {
				t.Errorf("%s: %d runs, %+v", s.Metric.Name, len(s.Runs), s.Changes)
			}
		case s.Metric.Name == "latency_p50_seconds":
			if s.Apart != "m2" || len(s.Runs) != 4 || len(s.Changes) != 0 {
				t.Errorf("on %s: %d runs, %+v", s.Apart, len(s.Runs), s.Changes)
			}
		case s.Metric.Name == "index_bytes":
			if len(s.Runs) != 24 || len(s.Changes) != 1 || s.Changes[0].Run != "run-m" || s.Changes[0].After != 1100 || s.Changes[0].P != 0 {
				t.Errorf("%s: %+v", s.Metric.Name, s.Changes)
			}
		case s.Metric.Name == "recall_at_10":
			if len(s.Changes) != 0 || s.Apart != "" {
				t.Errorf("%s: %+v", s.Metric.Name, s.Changes)
			}
		}
		for i := 1; i < len(s.Runs); i++ {
			if !s.Runs[i].Started.After(s.Runs[i-1].Started) {
				t.Fatalf("%s: run %d is before the one before", s.Metric.Name, i)
			}
		}
	}
	if seen["latency_p50_seconds"] != 4 || seen["index_bytes"] != 2 || seen["recall_at_10"] != 2 {
		t.Errorf("series %v", seen)
	}
	for format, want := range map[string]string{
		"table": "1 ms -> 1.3", "markdown": "| engine=flat |", "json": `"run": "run-m"`, "csv": "run-m,2026-11-13T00:00:00Z",
	} {
		var out strings.Builder
		if err := WriteHistory(&out, series, format); err != nil || !strings.Contains(out.String(), strings.TrimPrefix(want, "1 ms")) {
			t.Errorf("%s: %v\n%s", format, err, out.String())
		}
	}
}

// Points that only params tells apart are series of their own.
func TestHistoryOfParameters(t *testing.T) {
	rows := historyRows()
	for i, r := range rows {
		r["engine"], r["params"] = "bleve", []string{`{"k1":1.2}`, `{"k1":2}`}[i%2]
	}
	series, err := History(rows, HistoryOptions{Metrics: []string{"index_bytes"}})
	if err != nil || len(series) != 2 || len(series[0].Runs) != 24 || series[0].Point == series[1].Point {
		t.Errorf("%v, %+v", err, series)
	}
	if _, err := History(rows, HistoryOptions{Metrics: []string{"index_bytes"}, Match: []string{"engine"}}); err == nil || !strings.Contains(err.Error(), "params") {
		t.Errorf("by engine alone: error %v", err)
	}
}

func TestHistoryRefuses(t *testing.T) {
	rows := historyRows()
	for want, c := range map[string]struct {
		rows []results.Row
		o    HistoryOptions
	}{
		"needs several":      {rows[:2], HistoryOptions{}},
		"match: unknown":     {rows, HistoryOptions{Match: []string{"engin"}}},
		"unknown column":     {rows, HistoryOptions{Metrics: []string{"recal_at_10"}}},
		"2 points":           {rows, HistoryOptions{Match: []string{"dataset"}}},
		"an error rate of 2": {rows, HistoryOptions{Alpha: 2}},
	} {
		if _, err := History(c.rows, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
