package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"frontier/results"
)

// The exact interval covers every proportion with at least its confidence, and agrees with its test.
func TestExactProportion(t *testing.T) {
	for _, c := range []struct {
		hits, n   int
		low, high float64
	}{
		// Clopper-Pearson at 95%: 0 of 10, 5 of 10, 10 of 10.
		{0, 10, 0, 1 - math.Pow(0.025, 0.1)},
		{5, 10, 0.187086, 0.812914},
		{10, 10, math.Pow(0.025, 0.1), 1},
	} {
		low, high := exactProportion(c.hits, c.n, 0.95)
		if math.Abs(low-c.low) > 1e-6 || math.Abs(high-c.high) > 1e-6 {
			t.Errorf("%d of %d: %g to %g, want %g to %g", c.hits, c.n, low, high, c.low, c.high)
		}
	}
	for _, n := range []int{1, 5, 18, 40} {
		for p := 0.02; p < 1; p += 0.049 {
			covered := 0.0
			for hits := range n + 1 {
				low, high := exactProportion(hits, n, 0.99)
				if low <= p && p <= high {
					covered += binomial(hits, n, p)
				}
				if outside := p < low || p > high; outside != (proportionTails(hits, n, p) < 0.01) {
					t.Errorf("%d of %d against %g: the interval %g to %g and p %g disagree", hits, n, p, low, high, proportionTails(hits, n, p))
				}
			}
			if covered < 0.99-1e-9 {
				t.Errorf("n = %d: %g is covered with %g", n, p, covered)
			}
		}
	}
	for _, c := range []struct {
		hits, n int
		p, want float64
	}{{0, 5, 0, 1}, {1, 5, 0, 0}, {5, 5, 1, 1}, {4, 5, 1, 0}} {
		if got := proportionTails(c.hits, c.n, c.p); got != c.want {
			t.Errorf("%d of %d against %g: p %g, want %g", c.hits, c.n, c.p, got, c.want)
		}
	}
}

func binomial(k, n int, p float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// sides are two sides of one point with these values of recall_at_10.
func sides(base, next []float64) *Matching {
	side := func(name string, values []float64) *Side {
		var queries []results.QueryRow
		for i, v := range values {
			queries = append(queries, results.QueryRow{RunID: name, PointID: "p", QueryID: string(rune('a'+i/26)) + string(rune('a'+i%26)), Metrics: map[string]float64{"recall_at_10": v}})
		}
		return New(name, []results.Row{{"run_id": name, "point_id": "p", "status": "ok", "engine": "flat"}}, queries, nil)
	}
	m, err := Match(side("base", base), side("next", next), []string{"engine"})
	if err != nil {
		panic(err)
	}
	return m
}

func recall(t testing.TB) Metric {
	t.Helper()
	m, err := LookupMetric("recall_at_10")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Where both runs are samples of the same, a decision against the margin is wrong no more often than the confidence
// says; where one is clearly worse, it is found. Everything is drawn by seed, so the counts are always the same.
func TestDecisionsOnQuestionsHoldTheirConfidence(t *testing.T) {
	trials := 400
	if testing.Short() {
		trials = 100
	}
	const n, margin = 100, 0.02
	rng := rand.New(rand.NewPCG(3, 4))
	wrong, found := 0, 0
	for range trials {
		// Questions differ in difficulty; the two systems agree on most. The true drop is exactly the margin, the
		// worst case of what is allowed.
		draw := func(drop float64) (base, next []float64) {
			for range n {
				b := math.Round(rng.Float64()*4) / 4
				v := b
				switch u := rng.Float64(); {
				case u < 0.08:
					v = math.Max(0, b-0.5)
				case u < 0.16:
					v = math.Min(1, b+0.5)
				}
				if rng.Float64() < drop*2 {
					v = math.Max(0, v-0.5)
				}
				base, next = append(base, b), append(next, v)
			}
			return base, next
		}
		beyond := func(drop float64) bool {
			m := sides(draw(drop))
			d, err := m.Difference(m.Pairs[0], recall(t), nil, Options{Confidence: 0.95, Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			return d.High < -margin && d.PBeyond(-margin) <= 0.05
		}
		if beyond(margin) {
			wrong++
		}
		if beyond(0.25) {
			found++
		}
	}
	// One side of 95% errs in 2.5%; the drop drawn is a little less than the margin, as values stop at 0.
	if limit := trials * 5 / 100; wrong > limit {
		t.Errorf("%d of %d decisions at the margin were wrong, want at most %d", wrong, trials, limit)
	}
	if found < trials*95/100 {
		t.Errorf("only %d of %d clear drops were found", found, trials)
	}
}

// The interval of a change that is made of two covers it with at least the confidence, whatever the widths.
func TestIntervalsOfTwoCover(t *testing.T) {
	trials := 4000
	qps, err := LookupMetric("qps")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for _, spreads := range [][2]float64{{0.02, 0.02}, {0.05, 0.01}, {0.001, 0.05}} {
		covered := 0
		const ratio = 0.9
		for range trials {
			point := func(truth, spread float64) *Point {
				v := truth * math.Exp(spread*rng.NormFloat64())
				reach := 1.959963984540054 * spread
				return &Point{Row: results.Row{"qps": v, "qps_low": v * math.Exp(-reach), "qps_high": v * math.Exp(reach)}}
			}
			d, err := (&Matching{}).Difference(Pair{Base: point(1000, spreads[0]), New: point(1000*ratio, spreads[1])}, qps, nil, Options{Confidence: 0.99})
			if err != nil {
				t.Fatal(err)
			}
			if d.Low <= ratio-1 && ratio-1 <= d.High {
				covered++
			}
			if inside := d.Low <= 0.05 && 0.05 <= d.High; inside != (d.PBeyond(0.05) >= 0.01) {
				t.Fatalf("the interval %g to %g and p %g against 0.05 disagree", d.Low, d.High, d.PBeyond(0.05))
			}
		}
		if float64(covered) < float64(trials)*0.9853 { // three standard errors below 99%
			t.Errorf("spreads %v: %d of %d covered", spreads, covered, trials)
		}
	}
}

// What the machine's noise may explain is within the interval.
func TestNoiseWidens(t *testing.T) {
	p99, err := LookupMetric("latency_p99_seconds")
	if err != nil {
		t.Fatal(err)
	}
	point := func(v, noise float64) *Point {
		return &Point{Row: results.Row{"latency_p99_seconds": v, "latency_p99_low_seconds": v * 0.99, "latency_p99_high_seconds": v * 1.01, "noise": noise}}
	}
	width := func(noise float64) float64 {
		d, err := (&Matching{}).Difference(Pair{Base: point(0.001, noise), New: point(0.0011, 0)}, p99, nil, Options{Confidence: 0.95})
		if err != nil {
			t.Fatal(err)
		}
		return math.Log1p(d.High) - math.Log1p(d.Low)
	}
	if got := width(0.2) - width(0); math.Abs(got-2*math.Log(1.2)) > 1e-9 {
		t.Errorf("noise of 20%% widens by %g, want twice log(1.2)", got)
	}
}

// Exchanging the two sides turns the change around and nothing else.
func TestDifferencesAreAntisymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var base, next []float64
	for range 60 {
		base, next = append(base, math.Round(rng.Float64()*5)/5), append(next, math.Round(rng.Float64()*5)/5)
	}
	m, back := sides(base, next), sides(next, base)
	d, err := m.Difference(m.Pairs[0], recall(t), nil, Options{Confidence: 0.95, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := back.Difference(back.Pairs[0], recall(t), nil, Options{Confidence: 0.95, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(d.Change+r.Change) > 1e-12 || d.P != r.P || len(d.Won) != len(r.Lost) || math.Abs(d.PBeyond(-0.1)-r.PBeyond(0.1)) > 1e-12 {
		t.Errorf("%+v against %+v", d, r)
	}
	if math.Abs(d.Low+r.High) > 0.02 || math.Abs(d.High+r.Low) > 0.02 { // resamples differ
		t.Errorf("intervals %g to %g and %g to %g", d.Low, d.High, r.Low, r.High)
	}
}

// Known p-values: McNemar's for two questions won and none lost is 0.5; of eight lost, 2/2^8.
func TestPOfFewChanges(t *testing.T) {
	for lost, want := range map[int]float64{1: 1, 2: 0.5, 3: 0.25, 8: 2.0 / 256} {
		base, next := make([]float64, 50), make([]float64, 50)
		for i := range lost {
			base[i] = 1
		}
		m := sides(base, next)
		d, err := m.Difference(m.Pairs[0], recall(t), nil, Options{Confidence: 0.95, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if d.P != want || d.PBeyond(0) < want {
			t.Errorf("%d lost: p %g, %g against 0, want %g", lost, d.P, d.PBeyond(0), want)
		}
	}
}

func TestPrintedChanges(t *testing.T) {
	m := recall(t)
	for _, c := range []struct{ got, want string }{
		{m.FormatChange(0.91-0.86, false), "+0.05"},
		{m.FormatChange(0.86-0.91, false), "-0.05"},
		{m.FormatChange(0, false), "0"},
		{m.FormatChange(-1e-9, false), "0"},
		{m.FormatChange(0.1234, true), "+12.3%"},
		{m.FormatChange(-0.5, true), "-50%"},
		{m.FormatChange(math.NaN(), true), "unknown"},
		{m.Format(0.90000000001), "0.9"},
		{metricNamed(t, "latency_p99_seconds").Format(0.0012345), "1.234 ms"},
		{metricNamed(t, "latency_p99_seconds").FormatChange(2e-6, false), "+2 us"},
		{metricNamed(t, "index_bytes").Format(3 << 20), "3 MiB"},
		{metricNamed(t, "qps").Format(12345.6), "12346/s"},
		{metricNamed(t, "queries_failed").FormatChange(2, false), "+2"},
		{metricNamed(t, "cost_usd_per_month").Format(12.5), "$12.50"},
	} {
		if c.got != c.want {
			t.Errorf("printed %q, want %q", c.got, c.want)
		}
	}
}

func metricNamed(t *testing.T, name string) Metric {
	t.Helper()
	m, err := LookupMetric(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
