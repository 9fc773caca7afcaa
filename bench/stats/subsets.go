package stats

import (
	"math"
	"math/bits"
	"slices"
)

// exactPairs is up to how many pairs all sign flips are enumerated. They are split in two halves whose sums are sorted,
// so that 2^30 flips cost as much as two lists of 2^15.
const exactPairs = 30

// A sign-flip test compares the sum of the values with the sums after some signs were flipped. The sum after flipping a
// subset is at least the sum itself where the subset adds up to 0 or less. So the tests count subsets, and the empty one
// stands for the values as they are.

// subsetsUpToZero is how many of the 2^n subsets of values have a sum of at most 0, up to rounding.
func subsetsUpToZero(values []float64) int {
	size := 0.0
	for _, v := range values {
		size += math.Abs(v)
	}
	limit := size * 1e-13
	a, b := subsetSums(values[:len(values)/2]), subsetSums(values[len(values)/2:])
	count, j := 0, len(b)
	for _, s := range a {
		for j > 0 && s+b[j-1] > limit {
			j--
		}
		count += j
	}
	return count
}

// subsetSums is the sums of all subsets of values, ascending.
func subsetSums(values []float64) []float64 {
	sums, next := make([]float64, 1, 1<<len(values)), make([]float64, 0, 1<<len(values))
	for _, v := range values {
		next = next[:2*len(sums)]
		i, j := 0, 0
		for k := range next {
			// Two sorted lists, with and without v, are merged.
			if j == len(sums) || i < len(sums) && sums[i] <= sums[j]+v {
				next[k] = sums[i]
				i++
			} else {
				next[k] = sums[j] + v
				j++
			}
		}
		sums, next = next, sums[:0]
	}
	return sums
}

// exactMeanInterval is the confidence interval of the centre of symmetry of values, of which there are at most
// exactPairs: all centres that the sign-flip test does not refuse. Its ends are order statistics of the means of all
// subsets (Hartigan, JASA 1969: typical values). There must be MinPairs(confidence) values.
func exactMeanInterval(values []float64, confidence float64) (low, high float64) {
	tail := (1 - confidence) / 2 * (1 + 1e-9)
	least := int(math.Ldexp(tail, len(values)))
	moved := make([]float64, len(values))
	// refused says that the values are surely larger than centre, after both are multiplied by sign.
	refused := func(centre, sign float64) bool {
		for i, v := range values {
			moved[i] = sign * (v - centre)
		}
		return subsetsUpToZero(moved) <= least
	}
	smallest, largest := slices.Min(values), slices.Max(values)
	return boundary(smallest, largest, func(c float64) bool { return refused(c, 1) }),
		boundary(largest, smallest, func(c float64) bool { return refused(c, -1) })
}

// boundary bisects between an outer and an inner centre for the outermost one that is not refused.
func boundary(outer, inner float64, refused func(centre float64) bool) float64 {
	if !refused(outer) {
		return outer
	}
	for range 60 {
		middle := outer + (inner-outer)/2
		if middle == outer || middle == inner {
			break
		}
		if refused(middle) {
			outer = middle
		} else {
			inner = middle
		}
	}
	return inner
}

// randomSubsets draws subsets of values: each value is in half of them.
type randomSubsets struct {
	tables [][256]float64 // the sums of all subsets of 8 values
	last   byte           // the bits of the last table that stand for values
	rng    splitMix
}

func newRandomSubsets(values []float64, seed uint64) *randomSubsets {
	r := &randomSubsets{rng: splitMix(seed), last: math.MaxUint8}
	for eight := range slices.Chunk(values, 8) {
		var table [256]float64
		for subset := 1; subset < 1<<len(eight); subset++ {
			first := bits.TrailingZeros(uint(subset))
			table[subset] = table[subset&(subset-1)] + eight[first]
		}
		r.tables = append(r.tables, table)
		r.last = byte(1<<len(eight) - 1)
	}
	return r
}

// next is the sum and the size of another subset.
func (r *randomSubsets) next() (sum float64, size int) {
	var word uint64
	for i := range r.tables {
		if i%8 == 0 {
			word = r.rng.next()
		}
		subset := byte(word)
		word >>= 8
		if i == len(r.tables)-1 {
			subset &= r.last
		}
		sum += r.tables[i][subset]
		size += bits.OnesCount8(subset)
	}
	return sum, size
}

// randomMeanInterval is exactMeanInterval from so many random subsets, for more than exactPairs values.
func randomMeanInterval(values []float64, confidence float64, resamples int, seed uint64) (low, high float64) {
	// The deviations, and not the values, are added up, so that a large mean costs no precision.
	mean := sum(values) / float64(len(values))
	deviations := make([]float64, len(values))
	for i, v := range values {
		deviations[i] = v - mean
	}
	subsets := newRandomSubsets(deviations, seed)
	means := make([]float64, 0, resamples)
	for len(means) < resamples {
		if total, size := subsets.next(); size > 0 {
			means = append(means, total/float64(size))
		}
	}
	slices.Sort(means)
	// The values as they are count as one more subset, beyond all others on either side.
	least := min(max(int((1-confidence)/2*float64(resamples+1)), 1), resamples)
	return mean + means[least-1], mean + means[resamples-least]
}
