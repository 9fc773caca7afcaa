package compare

import (
	"testing"

	"frontier/results"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Where a run could not tell how sure it is of p50 or p99, as with two visits or with visits that differ tenfold, the
// histogram of all visits together must not tell it either.
func TestHistogramIntervals(t *testing.T) {
	h := hdrhistogram.New(1, 1e9, 3)
	for i := range 20_000 {
		if err := h.RecordValue(int64(1e6 + 100*i)); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	row := func(without ...string) *Point {
		r := results.Row{
			"latency_p50_seconds": 0.002, "latency_p50_low_seconds": 0.0019, "latency_p50_high_seconds": 0.0021, "latency_p90_seconds": 0.0028,
			"latency_p95_seconds": 0.0029, "latency_p99_seconds": 0.00298, "latency_p99_low_seconds": 0.0029, "latency_p99_high_seconds": 0.003,
			"latency_p999_seconds": 0.002998, "latency_histogram": raw, "repetitions": int64(3),
		}
		for _, name := range without {
			delete(r, name)
		}
		return &Point{Row: r}
	}
	for name, c := range map[string]struct {
		point *Point
		want  map[string]bool
	}{
		"all is known":    {row(), map[string]bool{"p50": true, "p90": true, "p95": true, "p99": true, "p999": true}},
		"unlike visits":   {row("latency_p99_low_seconds", "latency_p99_high_seconds"), map[string]bool{"p50": true, "p90": false, "p95": false, "p99": false, "p999": false}},
		"two visits":      {row("latency_p50_low_seconds", "latency_p99_low_seconds"), map[string]bool{"p50": false, "p90": false, "p99": false, "p999": false}},
		"no p99":          {row("latency_p99_seconds", "latency_p99_low_seconds", "latency_p999_seconds"), map[string]bool{"p50": true, "p90": true, "p95": true}},
		"another system":  {row("repetitions", "latency_p50_low_seconds", "latency_p99_low_seconds"), map[string]bool{"p50": true, "p90": true, "p99": true, "p999": true}},
		"without samples": {row("latency_histogram"), map[string]bool{"p50": true, "p90": false, "p99": true}},
	} {
		for short, want := range c.want {
			m, err := LookupMetric("latency_" + short + "_seconds")
			if err != nil {
				t.Fatal(err)
			}
			e, ok := c.point.Estimate(m)
			if !ok || e.HasInterval() != want || want && !(e.Low <= e.Value*1.001 && e.Value <= e.High*1.001) {
				t.Errorf("%s: %s is %+v, %v; want an interval: %v", name, short, e, ok, want)
			}
		}
	}
}
