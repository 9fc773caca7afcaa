package stats

import "math"

// Measurements come in blocks, visits to one point that are apart in time. Within a block samples are much alike, so
// what measuring again would show is how blocks differ: intervals resample blocks, or count their degrees of freedom,
// and never those of the samples in them.

// The numbers of blocks that intervals over blocks need.
const (
	minBlocks       = 3  // fewer say next to nothing of how blocks differ
	bootstrapBlocks = 12 // from here on skew can be told from chance, below it Student's t covers better
)

// BlockRatio is the sum of numerators over the sum of denominators, each given by block, with its confidence interval:
// QPS from answers and wall seconds, mean latency from total seconds and samples. A long block weighs as much as it is
// long. The ratio is made linear in the blocks (Cochran, Sampling Techniques, chapter 6), and the interval is Student's
// t over these for up to 11 blocks, and from 12 on BootstrapMean, which resamples whole blocks.
//
// The ratio is NaN without blocks, for slices of different lengths, for denominators that are not above 0 and for
// values that are not finite; the interval is NaN also with fewer than 3 blocks and for a confidence outside of (0,1).
func BlockRatio(numerators, denominators []float64, confidence float64, resamples int, seed uint64) (ratio, low, high float64) {
	nan := math.NaN()
	n := len(numerators)
	if n == 0 || len(denominators) != n {
		return nan, nan, nan
	}
	for i, d := range denominators {
		if !(d > 0) || math.IsInf(d, 1) || math.IsNaN(numerators[i]) || math.IsInf(numerators[i], 0) {
			return nan, nan, nan
		}
	}
	whole := sum(denominators)
	ratio = sum(numerators) / whole
	if n < minBlocks || !(confidence > 0 && confidence < 1) {
		return ratio, nan, nan
	}
	linear := make([]float64, n)
	for i, d := range denominators {
		linear[i] = ratio + (numerators[i]-ratio*d)*float64(n)/whole
	}
	if n < bootstrapBlocks {
		_, low, high = MeanInterval(linear, confidence)
	} else {
		low, high = BootstrapMean(linear, confidence, resamples, seed)
	}
	return ratio, low, high
}
