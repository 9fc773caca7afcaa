package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"frontier/bench/stats"
)

// Request says what to compare.
type Request struct {
	Metrics    []string // empty for DefaultMetrics
	Slices     []string // field=value, or a field for each of its values; the whole always comes first
	Confidence float64  // of each interval, and of all findings together; 0 for 0.95
}

// Finding is what a difference comes to when nothing is said of how much matters.
type Finding string

// The findings.
const (
	Better    Finding = "better"
	Worse     Finding = "worse"
	Same      Finding = "same"      // equal values that do not vary, or no question changed
	Unshown   Finding = "not shown" // neither a change nor its absence
	NoValue   Finding = "no value"  // a side has none
	NotJudged Finding = "not judged alike"
)

// Line is one difference of a comparison.
type Line struct {
	Pair    Pair
	Metric  Metric
	Slice   Slice
	Diff    *Difference // nil where Finding is NoValue or NotJudged
	PHolm   float64     // corrected over all lines; NaN without a test
	Finding Finding
	Why     string // of a missing difference
}

// Comparison is two runs side by side.
type Comparison struct {
	Matching   *Matching
	Confidence float64
	Lines      []Line
	Residue    []Residue
	Warnings   []string
}

// Compare finds the differences of all points that both sides have, in each metric and slice. A finding holds after
// Holm's correction over all of them; those of frontier ab were corrected there.
func Compare(matching *Matching, r Request) (*Comparison, error) {
	base, next := matching.Base, matching.New
	if r.Confidence == 0 {
		r.Confidence = 0.95
	}
	if !(r.Confidence > 0 && r.Confidence < 1) {
		return nil, fmt.Errorf("a confidence of %g is not between 0 and 1", r.Confidence)
	}
	names := r.Metrics
	if len(names) == 0 {
		names = DefaultMetrics(base, next)
	}
	var metrics []Metric
	for _, name := range names {
		m, err := LookupMetric(name)
		if err != nil {
			return nil, err
		}
		for _, s := range []*Side{base, next} {
			if !s.Recorded(name) {
				return nil, fmt.Errorf("%s was recorded without %s; it has %s", s.Name, name, strings.Join(s.recorded, ", "))
			}
		}
		metrics = append(metrics, m)
	}
	slices, err := r.slices(base)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Matching: matching, Confidence: r.Confidence, Residue: matching.Residue()}
	for _, pair := range matching.Pairs {
		if pair.Base == nil || pair.New == nil {
			continue
		}
		if failed(pair.Base.Row) || failed(pair.New.Row) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s failed in %s", pair.Label, whichFailed(pair)))
			continue
		}
		for _, m := range metrics {
			for _, slice := range slices {
				if len(slice) > 0 && !m.PerQuery() {
					continue
				}
				line, err := matching.line(pair, m, slice, r)
				if err != nil {
					return nil, err
				}
				c.Lines = append(c.Lines, line)
			}
		}
	}
	c.find()
	c.warn()
	return c, nil
}

func whichFailed(p Pair) string {
	switch {
	case failed(p.Base.Row) && failed(p.New.Row):
		return "both"
	case failed(p.Base.Row):
		return "BASE: " + p.Base.Row.Text("error")
	}
	return "NEW: " + p.New.Row.Text("error")
}

// slices are the whole and those that were asked for.
func (r Request) slices(base *Side) ([]Slice, error) {
	out := []Slice{nil}
	for _, text := range r.Slices {
		if !strings.Contains(text, "=") {
			all := base.Slices(text)
			if len(all) == 0 {
				return nil, base.CheckSlice(Slice{{text, ""}})
			}
			out = append(out, all...)
			continue
		}
		slice, err := ParseSlice(text)
		if err != nil {
			return nil, err
		}
		if err := base.CheckSlice(slice); err != nil {
			return nil, err
		}
		out = append(out, slice)
	}
	return out, nil
}

func (m *Matching) line(p Pair, metric Metric, slice Slice, r Request) (Line, error) {
	line := Line{Pair: p, Metric: metric, Slice: slice, PHolm: math.NaN()}
	if other := p.OtherData(); other != "" && metric.Quality() {
		line.Finding, line.Why = NotJudged, other
		return line, nil
	}
	var err error
	line.Diff, err = m.Difference(p, metric, slice, Options{Confidence: r.Confidence, Seed: 42})
	if errors.Is(err, ErrNull) {
		line.Diff, line.Finding, line.Why = nil, NoValue, err.Error()
		return line, nil
	}
	return line, err
}

// find corrects all p-values together and says what each line shows.
func (c *Comparison) find() {
	p := make([]float64, len(c.Lines))
	for i, l := range c.Lines {
		p[i] = math.NaN()
		if l.Diff != nil && l.Diff.Method != ByBlock {
			p[i] = l.Diff.P
		}
	}
	for i, adjusted := range stats.Holm(p) {
		l := &c.Lines[i]
		l.PHolm = adjusted
		d := l.Diff
		if d == nil {
			continue
		}
		if d.Method == ByBlock {
			adjusted, l.PHolm = d.P, d.P
		}
		certain := d.Method == Exactly || adjusted <= (1-c.Confidence)*(1+1e-9) && (d.Low > 0 || d.High < 0)
		moved := l.Metric.MachineBound() && d.Method != ByBlock && l.Pair.OtherMachine()
		switch {
		case d.Low == 0 && d.High == 0: // equal values with intervals of some width may still differ
			l.Finding = Same
		case !certain || moved:
			l.Finding = Unshown
		case d.Change > 0 == l.Metric.Higher():
			l.Finding = Better
		default:
			l.Finding = Worse
		}
	}
}

func (c *Comparison) warn() {
	machines, judged := 0, 0
	for _, p := range c.Matching.Pairs {
		if p.Base == nil || p.New == nil || failed(p.Base.Row) || failed(p.New.Row) {
			continue
		}
		if p.OtherMachine() {
			machines++
		}
		if p.OtherData() != "" {
			judged++
		}
	}
	if machines > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d points were measured on different machines: their times, rates and memory cannot be compared, and nothing is called better or worse by them", machines))
	}
	if judged > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d points were not judged alike, so their quality is not compared; measure BASE again on the data of NEW", judged))
	}
	if !slices.ContainsFunc(c.Matching.Pairs, func(p Pair) bool { return p.Base != nil && p.New != nil }) {
		text := "no point of BASE is in NEW"
		if apart := c.Matching.Disjoint(); len(apart) > 0 {
			text += "; choose with --match the columns that make points the same, without " + strings.Join(apart, "; ")
		}
		c.Warnings = append(c.Warnings, text)
	}
	for _, s := range []*Side{c.Matching.Base, c.Matching.New} {
		for _, w := range s.Warnings {
			c.Warnings = append(c.Warnings, s.Name+": "+w)
		}
	}
}

// Only are the labels of points that one side lacks.
func (c *Comparison) Only() (base, next []string) {
	for _, p := range c.Matching.Pairs {
		switch {
		case p.New == nil:
			base = append(base, p.Label)
		case p.Base == nil:
			next = append(next, p.Label)
		}
	}
	return base, next
}

// DefaultMetrics are those that most people ask for and both sides have: quality at the largest cut-off, recall of
// the index, latency, throughput and size.
func DefaultMetrics(base, next *Side) []string {
	k := 0
	for i := range next.Points {
		if v, ok := next.Points[i].Row.Number("k"); ok {
			k = max(k, int(v))
		}
	}
	var names []string
	for _, family := range []string{"recall", "hit_rate", "ndcg", "mrr", "ann_recall"} {
		names = append(names, fmt.Sprintf("%s_at_%d", family, k))
	}
	names = append(names, "latency_p50_seconds", "latency_p99_seconds", "qps", "index_bytes", "memory_serving_bytes")
	if base.recorded != nil {
		names = base.recorded
	}
	has := func(s *Side, name string) bool {
		m, err := LookupMetric(name)
		return err == nil && slices.ContainsFunc(s.Points, func(p Point) bool { _, ok := p.Estimate(m); return ok })
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !has(base, name) || !has(next, name) })
}
