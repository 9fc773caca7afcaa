package stats

import (
	"errors"
	"fmt"
	"math"
)

// Decision is what a comparison of two variants comes to.
type Decision string

// The decisions. Inconclusive is an answer too: more pairs, or a quieter machine, are needed.
const (
	Better       Decision = "better"
	Same         Decision = "same"
	Worse        Decision = "worse"
	Inconclusive Decision = "inconclusive"
)

// CompareOptions say how two variants are compared.
type CompareOptions struct {
	Confidence float64 // within (0,1), such as 0.99: at most 1-Confidence of comparisons of equals are called different
	// Margin is the smallest change that matters in practice, at least 0: a share (0.05 for 5%) if Relative, else in
	// units of the metric. A relative margin m stands for ratios from 1/(1+m) to 1+m, so that exchanging the two
	// variants exchanges better and worse and changes nothing else.
	Margin        float64
	Relative      bool // compare ratios, for times and rates; else differences, for shares such as recall
	LowerIsBetter bool // for times and costs
	// Mean tests and estimates the mean of the differences: for a metric over queries, of which most pairs may be equal.
	// Without it the centre of the differences is tested and estimated, for one figure that was measured several times.
	Mean bool
	Seed uint64 // of the random sign flips, which more than 30 pairs need if Mean
}

// Comparison is a paired comparison of two variants.
type Comparison struct {
	Pairs int
	// Estimate is the change from base to new, new/base-1 if Relative, else new-base: the median of the means of any two
	// pairs (Hodges and Lehmann), or the mean of all pairs if Mean; of logarithms if Relative. Low and High enclose it at
	// the confidence.
	Estimate, Low, High float64
	P                   float64 // two-sided p-value of the test that there is no change
	Decision            Decision
}

// The bounds of a comparison.
const (
	compareResamples = 50_000 // random flips of more than exactPairs pairs, for a mean
	mostRankedPairs  = 2000   // whose two million means of two are held in memory
)

// Compare compares pairs of measurements, such as the p50 of base and of new in pairs of blocks that ran one after the
// other, in an order that was drawn at random for each pair. The test flips the signs of the differences (of logarithms
// if Relative), and the interval holds all changes that this test does not refuse. It holds at any number of pairs, for any
// noise that treats both alike, and however the machine drifts. Where the order is mirrored (A B B A) and not random, drift
// from block to block makes the test err a little more often than it says: 1.2% of the time in place of 1% in the
// simulations of docs/measurement.md.
//
// The signs are those of ranks (Wilcoxon's signed-rank test), which finds as much as the mean does where noise is normal,
// and much more where a neighbour disturbs some blocks; or those of the differences themselves, SignFlip, if Mean.
//
// The decision:
//   - Same if the interval lies within the margin on both sides, even if it excludes 0.
//   - Better or Worse if the test and the interval exclude that there is no change, and the estimate is beyond the margin.
//   - Inconclusive otherwise.
//
// Errors are slices of different lengths, options out of range, values that are not finite (or, if Relative, not above
// 0), more than 2,000 pairs unless Mean, and a *TooFewPairsError where no outcome could decide.
func Compare(base, next []float64, o CompareOptions) (Comparison, error) {
	if err := o.validate(); err != nil {
		return Comparison{}, fmt.Errorf("comparing pairs: %w", err)
	}
	differences, err := o.differences(base, next)
	if err != nil {
		return Comparison{}, fmt.Errorf("comparing pairs: %w", err)
	}
	c := Comparison{Pairs: len(differences)}
	if needed := MinPairs(o.Confidence); c.Pairs < needed {
		return Comparison{}, fmt.Errorf("comparing pairs: %w", &TooFewPairsError{Pairs: c.Pairs, Needed: needed, Confidence: o.Confidence})
	}
	switch {
	case !o.Mean && c.Pairs > mostRankedPairs:
		return Comparison{}, fmt.Errorf("comparing pairs: %d are more than the %d whose centre is computed; compare the mean instead", c.Pairs, mostRankedPairs)
	case !o.Mean:
		c.P = signedRank(differences)
		c.Estimate, c.Low, c.High = signedRankInterval(differences, o.Confidence)
	default:
		c.P = SignFlip(differences, compareResamples, o.Seed)
		c.Estimate = sum(differences) / float64(c.Pairs)
		if c.Pairs <= exactPairs {
			c.Low, c.High = exactMeanInterval(differences, o.Confidence)
		} else {
			c.Low, c.High = randomMeanInterval(differences, o.Confidence, compareResamples, o.Seed)
		}
	}
	margin := o.Margin
	if o.Relative {
		margin = math.Log1p(o.Margin)
	}
	c.Decision = decide(c, margin, o)
	if o.Relative {
		c.Estimate, c.Low, c.High = math.Expm1(c.Estimate), math.Expm1(c.Low), math.Expm1(c.High)
	}
	return c, nil
}

// decide applies the rule of Compare, on the scale on which the interval was made.
func decide(c Comparison, margin float64, o CompareOptions) Decision {
	switch {
	case c.Low >= -margin && c.High <= margin:
		return Same
	case c.P > (1-o.Confidence)*(1+1e-9) || c.Low <= 0 && c.High >= 0 || math.Abs(c.Estimate) <= margin:
		return Inconclusive
	case c.Estimate < 0 == o.LowerIsBetter:
		return Better
	}
	return Worse
}

func (o CompareOptions) validate() error {
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return fmt.Errorf("a confidence of %g is not between 0 and 1", o.Confidence)
	}
	if !(o.Margin >= 0) || math.IsInf(o.Margin, 1) {
		return fmt.Errorf("a margin of %g is not a finite number of at least 0", o.Margin)
	}
	return nil
}

// differences is the change of each pair, of logarithms if the comparison is relative.
func (o CompareOptions) differences(base, next []float64) ([]float64, error) {
	if len(base) != len(next) {
		return nil, fmt.Errorf("there are %d values of base and %d of new; each pair needs both", len(base), len(next))
	}
	differences := make([]float64, len(base))
	for i := range base {
		differences[i] = next[i] - base[i]
		if o.Relative {
			if !(base[i] > 0 && next[i] > 0) {
				return nil, fmt.Errorf("pair %d: base is %g and new is %g; a relative change needs values above 0", i, base[i], next[i])
			}
			differences[i] = math.Log(next[i]) - math.Log(base[i])
		}
		if math.IsNaN(differences[i]) || math.IsInf(differences[i], 0) {
			return nil, fmt.Errorf("pair %d: base is %g and new is %g, whose difference is not a number", i, base[i], next[i])
		}
	}
	return differences, nil
}

// HolmDecisions corrects comparisons that were made together, each at the confidence, for there being several: of those
// called Better or Worse, the ones whose p by Holm is above 1-confidence become Inconclusive. P is replaced by Holm's.
// The argument is not changed.
func HolmDecisions(comparisons []Comparison, confidence float64) ([]Comparison, error) {
	if !(confidence > 0 && confidence < 1) {
		return nil, errors.New("correcting comparisons: the confidence is not between 0 and 1")
	}
	p := make([]float64, len(comparisons))
	for i, c := range comparisons {
		p[i] = c.P
	}
	corrected := make([]Comparison, len(comparisons))
	for i, adjusted := range Holm(p) {
		corrected[i] = comparisons[i]
		corrected[i].P = adjusted
		if d := corrected[i].Decision; (d == Better || d == Worse) && !(adjusted <= (1-confidence)*(1+1e-9)) {
			corrected[i].Decision = Inconclusive
		}
	}
	return corrected, nil
}
