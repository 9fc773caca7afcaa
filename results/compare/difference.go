package compare

import (
	"errors"
	"fmt"
	"math"

	"frontier/bench/stats"
)

// Method is how a difference was found, and with it how sure it can be.
type Method string

// The methods.
const (
	ByCase     Method = "paired by question"
	ByBlock    Method = "paired by block" // of frontier ab
	ByInterval Method = "by the intervals of both"
	Exactly    Method = "exact"
	ByValue    Method = "one value each" // nothing is known of how they vary
)

// Difference is how far a metric moved from BASE to NEW.
type Difference struct {
	Metric Metric
	Slice  Slice
	Method Method

	Base, New float64 // means over the same questions, or the values of the rows
	Relative  bool    // Change, Low and High are shares of Base
	Change    float64 // New - Base, or New/Base - 1
	// Low and High enclose the change at the confidence; NaN where nothing is known of how the values vary.
	Low, High  float64
	Confidence float64
	P          float64 // two-sided p-value that there is no change; NaN without a test. Of ByBlock, corrected by ab

	Cases    int      // questions, or blocks of ab, that were paired
	Unpaired int      // questions that have a value on one side only; they do not count
	Won      []string // questions that got better, and worse
	Lost     []string

	bases    []float64 // of ByCase
	sample   []float64 // of ByCase: NEW - BASE
	logs     bool      // of ByInterval: the change is one of logarithms
	down, up float64   // standard errors of ByInterval towards BASE's and NEW's ends
	at       float64   // the change on the scale of down and up
}

// ErrNull says that a side has no value of the metric: it had nothing to divide by, or too few samples.
var ErrNull = errors.New("there is no value")

// NullError names the side that has no value. It is ErrNull.
type NullError struct {
	Metric string
	Side   string // BASE, NEW or both
	Slice  Slice
}

// Error says what is missing.
func (e *NullError) Error() string {
	text := fmt.Sprintf("%s has no value in %s", e.Metric, e.Side)
	if e.Side == "both" {
		text = fmt.Sprintf("%s has no value in BASE and none in NEW", e.Metric)
	}
	if len(e.Slice) > 0 {
		text += " for " + e.Slice.String()
	}
	return text
}

// Is makes it ErrNull.
func (e *NullError) Is(target error) bool { return target == ErrNull }

// Options say how differences are computed.
type Options struct {
	Confidence float64 // of intervals, within (0,1)
	// Relative asks for the change as a share of BASE, or as a difference; nil is what suits the metric.
	Relative *bool
	Seed     uint64
}

// resamples of the bootstrap. Many, since far ends are asked for; fewer where there are so many questions that the
// mean is nearly normal anyway.
func resamples(cases int) int { return min(max(20_000_000/max(cases, 1), 2000), 10_000) }

// Difference compares the two points of pair p, both of which must be there, in one metric over the questions of a
// slice. The error is ErrNull where a side has no value, and another where the metric has no slices.
func (m *Matching) Difference(p Pair, metric Metric, slice Slice, o Options) (*Difference, error) {
	d := &Difference{Metric: metric, Slice: slice, Confidence: o.Confidence, Low: math.NaN(), High: math.NaN(), P: math.NaN(), Relative: metric.Relative()}
	if o.Relative != nil {
		d.Relative = *o.Relative
	}
	if len(slice) > 0 && !metric.PerQuery() {
		return nil, fmt.Errorf("%s is not a mean over questions, so it has no slices", metric.Name)
	}
	if found := p.byAB(metric); found != nil && len(slice) == 0 {
		return found, nil
	}
	base, next := p.Base.values[metric.Name], p.New.values[metric.Name]
	if len(slice) > 0 || (base != nil && next != nil) {
		return d, m.byCase(d, p, o)
	}
	return d, d.byRow(p)
}

// byCase pairs the values of the questions that both sides have.
func (m *Matching) byCase(d *Difference, p Pair, o Options) error {
	d.Method = ByCase
	base, next := p.Base.values[d.Metric.Name], p.New.values[d.Metric.Name]
	value := func(column []float64, i int) float64 {
		if i < len(column) {
			return column[i]
		}
		return math.NaN()
	}
	var bases, nexts []float64
	haveBase, haveNew := 0, 0
	for i := range m.Base.Cases {
		c := &m.Base.Cases[i]
		if !d.Slice.holds(c) {
			continue
		}
		b, n := value(base, i), math.NaN()
		if j, ok := m.New.index[c.ID]; ok {
			n = value(next, j)
		}
		if !math.IsNaN(b) {
			haveBase++
		}
		if !math.IsNaN(n) {
			haveNew++
		}
		if math.IsNaN(b) || math.IsNaN(n) {
			continue
		}
		bases, nexts = append(bases, b), append(nexts, n)
		switch {
		case n == b:
		case n > b == d.Metric.Higher():
			d.Won = append(d.Won, c.ID)
		default:
			d.Lost = append(d.Lost, c.ID)
		}
	}
	for i := range m.New.Cases { // questions that only NEW was asked
		c := &m.New.Cases[i]
		if _, ok := m.Base.index[c.ID]; !ok && d.Slice.holds(c) && !math.IsNaN(value(next, i)) {
			haveNew++
		}
	}
	if err := nullError(d, haveBase > 0, haveNew > 0); err != nil {
		return err
	}
	d.Cases = len(bases)
	d.Unpaired = haveBase + haveNew - 2*d.Cases
	if d.Cases == 0 {
		return fmt.Errorf("%w: no question has %s on both sides", ErrNull, d.Metric.Name)
	}
	if err := d.fill(bases, nexts, o); err != nil {
		return err
	}
	if d.Relative && (d.Base != 0 || d.New != 0) { // nothing that stays nothing did not change
		d.Change, d.Low, d.High = d.Change/d.Base, d.Low/d.Base, d.High/d.Base
	}
	return nil
}

// fill makes the difference of the means of parallel values.
func (d *Difference) fill(bases, nexts []float64, o Options) error {
	d.bases = bases
	d.Base, d.New = mean(bases), mean(nexts)
	changed := false
	for i := range bases {
		d.sample = append(d.sample, nexts[i]-bases[i])
		changed = changed || nexts[i] != bases[i]
	}
	d.Change = d.New - d.Base
	d.P = noChange(d.sample)
	if !changed {
		d.Change, d.Low, d.High = 0, 0, 0
		return nil
	}
	diff, err := stats.PairedBootstrap(bases, nexts, o.Confidence, resamples(d.Cases), o.Seed)
	d.Low, d.High = diff.Low, diff.High
	return err
}

// Changeable is how many of the questions do not have this value in BASE.
func (d *Difference) Changeable(value float64) int {
	n := 0
	for _, b := range d.bases {
		if b != value {
			n++
		}
	}
	return n
}

// Extreme is the difference that would be found if every question of it had this value in NEW. It is for differences by
// question that are not relative, and says what such questions can show at all.
func (d *Difference) Extreme(value float64, o Options) (*Difference, error) {
	out := &Difference{Metric: d.Metric, Slice: d.Slice, Method: ByCase, Confidence: o.Confidence, Cases: d.Cases}
	nexts := make([]float64, len(d.bases))
	for i := range nexts {
		nexts[i] = value
	}
	return out, out.fill(d.bases, nexts, o)
}

// noChange is the p-value that there is no change: by the exact sign-flip test, which for values of 0 and 1 is
// McNemar's, where few questions changed, else by Student's t.
func noChange(differences []float64) float64 {
	if p := exactGuard(differences); p > 0 {
		return p
	}
	return studentTails(differences, 0)
}

func nullError(d *Difference, base, next bool) error {
	switch {
	case base && next:
		return nil
	case base:
		return &NullError{d.Metric.Name, "NEW", d.Slice}
	case next:
		return &NullError{d.Metric.Name, "BASE", d.Slice}
	}
	return &NullError{d.Metric.Name, "both", d.Slice}
}

// byRow compares what the rows say.
func (d *Difference) byRow(p Pair) error {
	base, haveBase := p.Base.Estimate(d.Metric)
	next, haveNew := p.New.Estimate(d.Metric)
	if err := nullError(d, haveBase, haveNew); err != nil {
		return err
	}
	d.Base, d.New = base.Value, next.Value
	d.Change = d.New - d.Base
	if d.Relative {
		d.Change = d.New/d.Base - 1
		if d.New == d.Base {
			d.Change = 0
		}
	}
	switch {
	case base.HasInterval() && next.HasInterval():
		d.Method = ByInterval
		d.byInterval(base, next, p)
	case d.Metric.Column.Exact || d.Metric.Counted():
		d.Method = Exactly
		d.Low, d.High = d.Change, d.Change
	default:
		d.Method = ByValue
	}
	return nil
}

// byInterval makes the interval of the change from those of the two values: from NEW's low end against BASE's high end
// to the reverse, each end first moved out by the noise of its machine, and then by the ratio of normal quantiles from
// 95% to the confidence asked for. If both are normal that covers the change with at least the confidence, whatever their
// widths, and with more where they are alike; where both are correlated, as on one busy machine, it is not narrower.
func (d *Difference) byInterval(base, next Estimate, p Pair) {
	logs := d.Relative && base.Low > 0 && next.Low > 0
	noiseBase, noiseNew := 0.0, 0.0
	if d.Metric.MachineBound() {
		noiseBase, noiseNew = p.Base.noise(), p.New.noise()
	}
	baseDown, baseUp := base.spread(logs, noiseBase)
	nextDown, nextUp := next.spread(logs, noiseNew)
	d.logs = logs
	d.down, d.up = nextDown+baseUp, nextUp+baseDown
	d.at = next.Value - base.Value
	if logs {
		d.at = math.Log(next.Value / base.Value)
	}
	z := normalQuantile(d.Confidence)
	d.Low, d.High = d.at-z*d.down, d.at+z*d.up
	switch {
	case logs:
		d.Low, d.High = math.Expm1(d.Low), math.Expm1(d.High)
	case d.Relative:
		d.Low, d.High = max(d.Low/d.Base, -1), d.High/d.Base // nothing measured is below 0
	}
	d.P = d.PBeyond(0)
}

// PBeyond is the two-sided p-value that the change is the margin, a share if the difference is relative, rather than
// beyond it. Student's t against the margin and, where few questions changed, the exact sign-flip test against no change
// must both refuse it, so the larger counts. It is NaN for what has no test, and for what frontier ab decided.
func (d *Difference) PBeyond(margin float64) float64 {
	switch d.Method {
	case ByCase:
		at := margin
		if d.Relative {
			at = margin * d.Base
		}
		return max(studentTails(d.sample, at), exactGuard(d.sample))
	case ByInterval:
		at := margin
		switch {
		case d.logs:
			at = math.Log1p(margin)
		case d.Relative:
			at = margin * d.Base
		}
		away := d.at - at
		if away == 0 {
			return 1
		}
		spread := d.down // the side of the estimate that faces the margin
		if away < 0 {
			spread = d.up
		}
		if spread <= 0 {
			return 0
		}
		return normalTails(away / spread)
	}
	return math.NaN()
}

// exactGuard is the sign-flip test where it is exact, that is where at most 30 questions changed, and 0 elsewhere: with
// more changes Student's t is close enough.
func exactGuard(differences []float64) float64 {
	changed := 0
	for _, v := range differences {
		if v != 0 {
			changed++
		}
	}
	if changed > 30 {
		return 0
	}
	return stats.SignFlip(differences, 1, 0) // no flip is drawn at random
}
