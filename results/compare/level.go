package compare

import (
	"fmt"
	"math"

	"frontier/bench/stats"
)

// Level is a metric of one point with its interval, to be held against a fixed bound.
type Level struct {
	Metric     Metric
	Slice      Slice
	Method     Method // ByCase, ByInterval, Exactly or ByValue
	Value      float64
	Low, High  float64 // NaN where nothing is known of how the value varies
	Confidence float64
	Cases      int
	Binary     bool // every question has 0 or 1
	Hits       int  // of a binary metric
	Zeros      int  // questions with the value 0, and others
	Above      int

	values   []float64
	down, up float64
}

// Level is the point's value over the questions of a slice. The error is ErrNull where there is none.
func (s *Side) Level(p *Point, metric Metric, slice Slice, o Options) (*Level, error) {
	l := &Level{Metric: metric, Slice: slice, Confidence: o.Confidence, Low: math.NaN(), High: math.NaN()}
	if len(slice) > 0 && !metric.PerQuery() {
		return nil, fmt.Errorf("%s is not a mean over questions, so it has no slices", metric.Name)
	}
	column := p.values[metric.Name]
	if len(slice) == 0 && column == nil {
		return l, l.byRow(p)
	}
	var values []float64
	for i, v := range column {
		if !math.IsNaN(v) && slice.holds(&s.Cases[i]) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return nil, &NullError{metric.Name, "NEW", slice}
	}
	*l = *levelOf(values, o)
	l.Metric, l.Slice = metric, slice
	return l, nil
}

// levelOf is the mean of values of questions: of zeros and ones a proportion with its exact interval, else a bootstrap.
func levelOf(values []float64, o Options) *Level {
	l := &Level{Method: ByCase, Confidence: o.Confidence, Cases: len(values), Value: mean(values), Binary: true, values: values}
	for _, v := range values {
		if v == 0 {
			l.Zeros++
		} else {
			l.Above++
		}
		l.Binary = l.Binary && (v == 0 || v == 1)
	}
	if l.Binary {
		return Proportion(l.Above, l.Cases, o)
	}
	l.Low, l.High = stats.BootstrapMean(values, o.Confidence, resamples(l.Cases), o.Seed)
	return l
}

func (l *Level) byRow(p *Point) error {
	e, ok := p.Estimate(l.Metric)
	if !ok {
		return &NullError{l.Metric.Name, "NEW", l.Slice}
	}
	l.Value = e.Value
	switch {
	case e.HasInterval():
		l.Method = ByInterval
		noise := 0.0
		if l.Metric.MachineBound() {
			noise = p.noise()
		}
		l.down, l.up = e.spread(false, noise)
		z := normalQuantile(l.Confidence)
		l.Low, l.High = l.Value-z*l.down, l.Value+z*l.up
	case l.Metric.Column.Exact || l.Metric.Counted():
		l.Method = Exactly
		l.Low, l.High = l.Value, l.Value
	default:
		l.Method = ByValue
	}
	return nil
}

// PBeyond is the two-sided p-value that the metric is at the bound rather than beyond it; NaN for what has no test.
func (l *Level) PBeyond(bound float64) float64 {
	switch {
	case l.Method == ByCase && l.Binary:
		return proportionTails(l.Hits, l.Cases, bound)
	case l.Method == ByCase:
		away := make([]float64, len(l.values))
		for i, v := range l.values {
			away[i] = v - bound
		}
		return max(studentTails(l.values, bound), exactGuard(away))
	case l.Method == ByInterval:
		away := l.Value - bound
		if away == 0 {
			return 1
		}
		spread := l.down
		if away < 0 {
			spread = l.up
		}
		if spread <= 0 {
			return 0
		}
		return normalTails(away / spread)
	}
	return math.NaN()
}

// Proportion is the level of a metric of which hits of n questions have 1 and the others 0.
func Proportion(hits, n int, o Options) *Level {
	l := &Level{Method: ByCase, Confidence: o.Confidence, Cases: n, Value: float64(hits) / float64(n), Binary: true, Hits: hits, Above: hits, Zeros: n - hits}
	l.Low, l.High = exactProportion(hits, n, o.Confidence)
	return l
}
