package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The interval ends are order statistics of the means of all subsets.
func TestExactMeanIntervalIsThatOfSubsetMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for trial := range 60 {
		values := draw(8+rng.IntN(5), func() float64 {
			if trial%3 == 0 {
				return float64(rng.IntN(5)) // ties
			}
			return 1 + rng.NormFloat64()
		})
		var means []float64
		for subset := 1; subset < 1<<len(values); subset++ {
			total, size := 0.0, 0.0
			for i, v := range values {
				if subset>>i&1 == 1 {
					total, size = total+v, size+1
				}
			}
			means = append(means, total/size)
		}
		slices.Sort(means)
		for _, confidence := range []float64{0.9, 0.99} {
			k := int((1 - confidence) / 2 * float64(len(means)+1))
			low, high := exactMeanInterval(values, confidence)
			if math.Abs(low-means[k-1]) > 1e-9 || math.Abs(high-means[len(means)-k]) > 1e-9 {
				t.Fatalf("%v at %v: got [%v, %v], want [%v, %v]", values, confidence, low, high, means[k-1], means[len(means)-k])
			}
		}
	}
}

// At 30 values and just above, where subsets are drawn, the interval is about the same.
func TestRandomMeanIntervalNearsTheExactOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	values := draw(exactPairs, func() float64 { return 1e6 + rng.ExpFloat64() })
	low, high := exactMeanInterval(values, 0.95)
	rLow, rHigh := randomMeanInterval(values, 0.95, 100_000, 1)
	if width := high - low; math.Abs(low-rLow) > 0.02*width || math.Abs(high-rHigh) > 0.02*width {
		t.Errorf("got [%v, %v], want about [%v, %v]", rLow, rHigh, low, high)
	}
}

func TestCompareDecides(t *testing.T) {
	base := []float64{1, 1.1, 0.9, 1.05, 0.95, 1, 1.02, 0.98, 1.01, 0.99}
	times := func(factors ...float64) []float64 {
		next := make([]float64, len(base))
		for i := range next {
			next[i] = base[i] * factors[i%len(factors)]
		}
		return next
	}
	for _, c := range []struct {
		name     string
		next     []float64
		margin   float64
		lower    bool
		decision Decision
	}{
		{"slower", times(1.09, 1.10, 1.11), 0.05, true, Worse},
		{"more of what should be many", times(1.09, 1.10, 1.11), 0.05, false, Better},
		{"quicker", times(0.89, 0.9, 0.91), 0.05, true, Better},
		{"surely slower, by less than matters", times(1.02, 1.01), 0.05, true, Same},
		{"surely slower, perhaps by less than matters", times(1.02, 1.07), 0.05, true, Inconclusive},
		{"the same but for noise", times(1.01, 0.99), 0.05, true, Same},
		{"too noisy to tell", times(1.3, 0.8), 0.05, true, Inconclusive},
		{"equal, with no margin", times(1), 0, true, Same},
		{"slower, with no margin", times(1.001, 1.002), 0, true, Worse},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Compare(base, c.next, CompareOptions{Confidence: 0.99, Margin: c.margin, Relative: true, LowerIsBetter: c.lower})
			if err != nil {
				t.Fatal(err)
			}
			if got.Decision != c.decision || got.Pairs != len(base) || !(got.Low <= got.Estimate && got.Estimate <= got.High) {
				t.Errorf("got %+v, want %s", got, c.decision)
			}
		})
	}
}

func TestCompareMeasuresTheChange(t *testing.T) {
	base, next := make([]float64, 12), make([]float64, 12)
	for i := range base {
		base[i] = float64(i + 1)
		next[i] = base[i] * 1.25
	}
	relative, err := Compare(base, next, CompareOptions{Confidence: 0.99, Relative: true})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(relative.Estimate-0.25) > 1e-12 || math.Abs(relative.Low-0.25) > 1e-9 || math.Abs(relative.High-0.25) > 1e-9 || relative.P != 2./4096 {
		t.Errorf("relative: got %+v, want 0.25", relative)
	}
	absolute, err := Compare(base, next, CompareOptions{Confidence: 0.99})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(absolute.Estimate-6.5/4) > 1e-12 || !(absolute.Low > 0.25 && absolute.High < 3) {
		t.Errorf("absolute: got %+v, want 1.625", absolute)
	}
	// Most queries are the same, and one in four is better by 1: the mean moves, the centre does not.
	for i := range base {
		next[i] = base[i] + float64(b2i(i%4 == 0))
	}
	centre, err := Compare(base, next, CompareOptions{Confidence: 0.9})
	if err != nil {
		t.Fatal(err)
	}
	mean, err := Compare(base, next, CompareOptions{Confidence: 0.9, Mean: true})
	if err != nil {
		t.Fatal(err)
	}
	if centre.Estimate != 0 || math.Abs(mean.Estimate-0.25) > 1e-12 {
		t.Errorf("one in four: the centre is %+v, the mean %+v", centre, mean)
	}
}

// Exchanged variants exchange the decision; the scale of a relative comparison does not matter. Both on either side of
// where flips are drawn at random.
func TestCompareMetamorphic(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	opposite := map[Decision]Decision{Better: Worse, Worse: Better, Same: Same, Inconclusive: Inconclusive}
	seen := map[Decision]int{}
	for trial := range 60 {
		n := 8 + rng.IntN(8)
		if trial%20 < 2 {
			n = exactPairs + 5
		}
		mean := trial%2 == 1
		random := mean && n > exactPairs
		change := []float64{0, 0, 0.1, 0.1, -0.15, -0.15}[trial%6]
		base := draw(n, func() float64 { return math.Exp(0.5 * rng.NormFloat64()) })
		next, scaledBase, scaledNext := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range base {
			next[i] = base[i] * math.Exp(change+0.03*rng.NormFloat64())
			scaledBase[i], scaledNext[i] = base[i]*1e-6, next[i]*1e-6
		}
		o := CompareOptions{Confidence: 0.95, Margin: 0.05, Relative: true, LowerIsBetter: true, Mean: mean, Seed: 5}
		one, err := Compare(base, next, o)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Compare(next, base, o)
		if err != nil {
			t.Fatal(err)
		}
		scaled, err := Compare(scaledBase, scaledNext, o)
		if err != nil {
			t.Fatal(err)
		}
		seen[one.Decision]++
		if back.Decision != opposite[one.Decision] || math.Abs((1+back.Estimate)*(1+one.Estimate)-1) > 1e-9 {
			t.Errorf("%+v, exchanged %+v", one, back)
		}
		if !random && (math.Abs((1+back.Low)*(1+one.High)-1) > 1e-9 || back.P != one.P) {
			t.Errorf("%+v, exchanged %+v", one, back)
		}
		if scaled.Decision != one.Decision || math.Abs(scaled.Low-one.Low) > 1e-9 || math.Abs(scaled.High-one.High) > 1e-9 {
			t.Errorf("%+v, scaled %+v", one, scaled)
		}
		// The interval excludes no change exactly where the test does.
		if !random && (one.P <= 0.05) != (one.Low > 0 || one.High < 0) {
			t.Errorf("p and the interval disagree: %+v", one)
		}
	}
	for _, d := range []Decision{Better, Same, Worse} {
		if seen[d] == 0 {
			t.Errorf("no trial came to %q: %v", d, seen)
		}
	}
}

func TestCompareErrors(t *testing.T) {
	eight := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	good := CompareOptions{Confidence: 0.99}
	var few *TooFewPairsError
	_, err := Compare(eight[:3], eight[:3], good)
	if !errors.As(err, &few) || few.Needed != 8 || few.Pairs != 3 {
		t.Errorf("three pairs: got %v", err)
	}
	if want := "comparing pairs: 3 pairs cannot decide at a confidence of 0.99: even if all point the same way p is 0.25; measure at least 8 pairs"; err.Error() != want {
		t.Errorf("got  %v\nwant %v", err, want)
	}
	zero, inf := slices.Clone(eight), slices.Clone(eight)
	zero[4], inf[2] = 0, math.Inf(1)
	for _, c := range []struct {
		name       string
		base, next []float64
		o          CompareOptions
	}{
		{"unequal lengths", eight, eight[:7], good},
		{"confidence 1", eight, eight, CompareOptions{Confidence: 1}},
		{"confidence NaN", eight, eight, CompareOptions{Confidence: math.NaN()}},
		{"margin below 0", eight, eight, CompareOptions{Confidence: 0.9, Margin: -1}},
		{"margin NaN", eight, eight, CompareOptions{Confidence: 0.9, Margin: math.NaN()}},
		{"zero in a relative comparison", zero, eight, CompareOptions{Confidence: 0.9, Relative: true}},
		{"too many for ranks", make([]float64, 2001), make([]float64, 2001), good},
		{"infinite", eight, inf, good},
		{"infinite, relative", eight, inf, CompareOptions{Confidence: 0.9, Relative: true}},
	} {
		if _, err := Compare(c.base, c.next, c.o); err == nil || errors.As(err, &few) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

// Two one-sided tests at alpha are the same question as whether the interval of 1-2*alpha lies within the margin.
func TestEquivalenceIsIntervalInclusion(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	agreed := map[bool]int{}
	for range 200 {
		values := draw(9, func() float64 { return 0.3 + rng.NormFloat64() })
		const alpha = 0.04
		margin := 0.5 + rng.Float64()
		low, high := exactMeanInterval(values, 1-2*alpha)
		inside, p := low > -margin && high < margin, Equivalence(values, margin, 0, 0)
		if inside != (p <= alpha) {
			t.Fatalf("%v, margin %v: interval [%v, %v], but p=%v", values, margin, low, high, p)
		}
		agreed[inside]++
	}
	if agreed[true] == 0 || agreed[false] == 0 {
		t.Errorf("only one outcome was tried: %v", agreed)
	}
	many := draw(200, rng.NormFloat64)
	if p := Equivalence(many, 1, 1000, 1); p > 0.002 {
		t.Errorf("200 values, surely within 1: p=%v", p)
	}
	if p := Equivalence(many, 0.01, 1000, 1); p < 0.1 {
		t.Errorf("200 values, surely not within 0.01: p=%v", p)
	}
	for _, bad := range []float64{Equivalence(nil, 1, 10, 1), Equivalence([]float64{math.NaN()}, 1, 10, 1), Equivalence(many, 0, 10, 1), Equivalence(many, math.Inf(1), 10, 1), Equivalence(many, 1, 0, 1)} {
		if !math.IsNaN(bad) {
			t.Errorf("got %v, want NaN", bad)
		}
	}
}
