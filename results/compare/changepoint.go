package compare

import (
	"math"
	"math/rand/v2"
	"slices"
)

// changePoint is a place in a series from which on its values are others.
type changePoint struct {
	at int // the first value after the change
	p  float64
}

// maxPermutations bounds the work for one change.
const maxPermutations = 200_000

// minSegment is how many values stand on each side of a change.
const minSegment = 2

// changePoints finds where the level of a series changes. In each stretch the statistic is how much the ranks before and
// after a place differ at most, weighted by how many there are on both sides (a CUSUM of ranks; Pettitt, Applied
// Statistics 1979), and there is a change if one as large comes of at most alpha of all orders of the same values, of
// which some are drawn. Its place is the one at which values are nearest to the medians on both sides, as the ranks
// themselves favour the middle. The two stretches that it leaves are searched in turn (binary segmentation).
//
// Ranks let no single slow run pass for a change, and nothing is assumed about the distribution. What is assumed is that
// without a change every order is as likely: a slow drift is found as one or more changes. Few values show nothing: at
// an alpha of 0.01 a clear change needs 10 of them.
func changePoints(values []float64, alpha float64, seed uint64) []changePoint {
	permutations := int(min(max(math.Ceil(20/alpha), 999), maxPermutations))
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	var out []changePoint
	var search func(from, to int)
	search = func(from, to int) {
		if to-from < 2*minSegment {
			return
		}
		ranks := ranksOf(values[from:to])
		largest := furthest(ranks)
		if largest == 0 {
			return
		}
		reached := 1
		for range permutations {
			rng.Shuffle(len(ranks), func(i, j int) { ranks[i], ranks[j] = ranks[j], ranks[i] })
			if s := furthest(ranks); s >= largest*(1-1e-12) {
				reached++
			}
			if float64(reached) > alpha*float64(permutations+1) {
				return // it can be no change any more, which spares most of the work where there is none
			}
		}
		p := float64(reached) / float64(permutations+1)
		at := place(values[from:to])
		search(from, from+at)
		out = append(out, changePoint{from + at, p})
		search(from+at, to)
	}
	search(0, len(values))
	return out
}

// furthest is how far the sum of centred ranks before a place gets from 0 at most, in units that make places alike; 0
// where all ranks are equal.
func furthest(ranks []float64) (largest float64) {
	n := len(ranks)
	middle := mean(ranks)
	sum := 0.0
	for i := 1; i < n; i++ {
		sum += ranks[i-1] - middle
		if i >= minSegment && n-i >= minSegment {
			largest = max(largest, math.Abs(sum)/math.Sqrt(float64(i)*float64(n-i)))
		}
	}
	return largest
}

// place is where the values before and after are nearest to their medians, by the sum of the distances.
func place(values []float64) (at int) {
	away := func(part []float64) (sum float64) {
		m := median(part)
		for _, v := range part {
			sum += math.Abs(v - m)
		}
		return sum
	}
	least := math.Inf(1)
	for i := minSegment; i <= len(values)-minSegment; i++ {
		if cost := away(values[:i]) + away(values[i:]); cost < least {
			at, least = i, cost
		}
	}
	return at
}

// ranksOf are the ranks of values, ties in the middle.
func ranksOf(values []float64) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	ranks := make([]float64, len(values))
	for i, v := range values {
		low, _ := slices.BinarySearch(sorted, v)
		high := low
		for high < len(sorted) && sorted[high] == v {
			high++
		}
		ranks[i] = float64(low+high+1) / 2
	}
	return ranks
}

// steps are the places at which a series that repeats exactly has another value than before.
func steps(values []float64) []changePoint {
	var out []changePoint
	for i := 1; i < len(values); i++ {
		if values[i] != values[i-1] {
			out = append(out, changePoint{i, 0})
		}
	}
	return out
}
