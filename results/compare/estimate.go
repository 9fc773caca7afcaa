package compare

import (
	"math"
	"slices"

	"frontier/bench/stats"
	"frontier/results"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Estimate is a measured value with its 95% interval; Low and High are NaN where the run cannot tell how sure it is.
type Estimate struct{ Value, Low, High float64 }

// HasInterval says whether it is known how sure the value is.
func (e Estimate) HasInterval() bool { return !math.IsNaN(e.Low) && !math.IsNaN(e.High) }

// estimateConfidence is that of the intervals in results.
const estimateConfidence = 0.95

// Estimate is the point's value of a metric with the interval that its row holds; those of percentiles without one come
// from its histogram of latencies, unless the run could not tell how sure it was. It is not ok where the value is null.
func (p *Point) Estimate(m Metric) (e Estimate, ok bool) {
	if p.estimates != nil {
		e, ok = p.estimates[m.Name]
		return e, ok
	}
	v, ok := p.Row.Number(m.Name)
	if !ok {
		return Estimate{}, false
	}
	e = Estimate{v, math.NaN(), math.NaN()}
	if low, high, ok := p.Row.Interval(m.Name); ok {
		e.Low, e.High = low, high
	} else if q, ok := percentiles()[m.Name]; ok && sure(p.Row, q.columns) {
		e.Low, e.High = histogramInterval(p.Row, q.p)
	}
	return e, true
}

// percentile is a column of latency. columns are those that have an interval if the run could tell how sure it was.
type percentile struct {
	p       float64
	columns []string
}

func percentiles() map[string]percentile {
	const p50, p99 = "latency_p50_seconds", "latency_p99_seconds"
	return map[string]percentile{
		p50: {0.5, []string{p50}}, "latency_p90_seconds": {0.9, []string{p50, p99}}, "latency_p95_seconds": {0.95, []string{p50, p99}},
		p99: {0.99, []string{p99}}, "latency_p999_seconds": {0.999, []string{p99}},
	}
}

// sure says whether the histogram may tell how sure a percentile is. It holds all visits together: where they were too few,
// or too unlike, for an interval of p50 or p99 that allows for what differs between them, it knows nothing of that. Answers
// of another system come without visits, one by one.
func sure(r results.Row, columns []string) bool {
	if r["repetitions"] == nil {
		return true
	}
	return !slices.ContainsFunc(columns, func(name string) bool {
		_, has := r.Number(name)
		_, _, known := r.Interval(name)
		return has && !known
	})
}

// histogramInterval is the interval of a percentile by the order statistics of all samples, NaN where there is none.
func histogramInterval(r results.Row, q float64) (low, high float64) {
	raw, _ := r["latency_histogram"].([]byte)
	h, err := hdrhistogram.Decode(raw)
	if err != nil || h == nil {
		return math.NaN(), math.NaN() // then nothing is known of the spread, which is what NaN says
	}
	_, lo, hi, ok := stats.Percentile(h, q)
	if !ok {
		return math.NaN(), math.NaN()
	}
	return lo.Seconds(), hi.Seconds()
}

// noise is by how much the machine's speed changed while the point was measured: the interval of a time or a rate is
// widened by that share, for that much may be the machine.
func (p *Point) noise() float64 {
	v, ok := p.Row.Number("noise")
	if !ok || v < 0 {
		return 0
	}
	return v
}

// spread is how far the ends of the interval are from the value, in standard errors of a normal distribution: of the
// logarithm if relative.
func (e Estimate) spread(relative bool, noise float64) (down, up float64) {
	z := normalQuantile(estimateConfidence)
	if relative {
		return (math.Log(e.Value/e.Low) + math.Log1p(noise)) / z, (math.Log(e.High/e.Value) + math.Log1p(noise)) / z
	}
	return (e.Value - e.Low/(1+noise)) / z, (e.High*(1+noise) - e.Value) / z
}
