package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactRanks is up to how many differences the distribution of the signed-rank sum is computed and not approximated.
const exactRanks = 200

// signedRank is the two-sided p-value of the sign-flip test on signed ranks (Wilcoxon, Biometrics Bulletin 1945): as
// SignFlip, but of the ranks of the differences by size, so that one wild difference weighs little. Ties share the mean
// of their ranks; zeros take ranks and have no sign (Pratt, JASA 1959). Up to exactRanks differences the flips of the
// very ranks are counted, ties and all; above that the sum is taken as normal. The differences must be finite.
func signedRank(differences []float64) float64 {
	order := make([]int, len(differences))
	for i := range order {
		order[i] = i
	}
	size := func(i int) float64 { return math.Abs(differences[i]) }
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(size(a), size(b)) })
	var ranks []int // twice the ranks, which are whole, of all but zeros
	positive, total := 0, 0
	for first := 0; first < len(order); {
		last := first
		for last+1 < len(order) && size(order[last+1]) == size(order[first]) {
			last++
		}
		for _, i := range order[first : last+1] {
			if differences[i] == 0 {
				continue
			}
			rank := first + last + 2
			ranks = append(ranks, rank)
			total += rank
			if differences[i] > 0 {
				positive += rank
			}
		}
		first = last + 1
	}
	lower := min(positive, total-positive)
	if len(ranks) <= exactRanks {
		return min(1, 2*sum(subsetSumChances(ranks)[:lower+1]))
	}
	return min(1, 2*rankSumBelow(ranks, float64(lower)+1))
}

// subsetSumChances is the probability of each sum that a subset of positive numbers can have, if each is in it with 1/2.
func subsetSumChances(numbers []int) []float64 {
	total := 0
	for _, n := range numbers {
		total += n
	}
	chances := make([]float64, total+1)
	chances[0] = 1
	reached := 0
	for _, n := range numbers {
		reached += n
		for s := reached; s >= 0; s-- {
			chances[s] /= 2
			if s >= n {
				// The lower one was not halved yet.
				chances[s] += chances[s-n] / 2
			}
		}
	}
	return chances
}

// rankSumBelow is about the probability that a random subset of the ranks adds up to less than s.
func rankSumBelow(ranks []int, s float64) float64 {
	mean, variance := 0.0, 0.0
	for _, r := range ranks {
		mean += float64(r) / 2
		variance += float64(r) * float64(r) / 4
	}
	return distuv.UnitNormal.CDF((s - mean) / math.Sqrt(variance))
}

// signedRankInterval is the median of the means of all pairs of values, each with itself too, and the order statistics
// of these means that hold all centres of symmetry which signedRank does not refuse (Hodges and Lehmann, Annals of
// Mathematical Statistics 1963; Hollander and Wolfe, Nonparametric Statistical Methods, section 3.3). With ties it holds
// a little more. There must be MinPairs(confidence) values.
func signedRankInterval(values []float64, confidence float64) (centre, low, high float64) {
	means := make([]float64, 0, len(values)*(len(values)+1)/2)
	for i, a := range values {
		for _, b := range values[:i+1] {
			means = append(means, a/2+b/2)
		}
	}
	slices.Sort(means)
	m := len(means)
	least := min(leastRankSum(len(values), (1-confidence)/2*(1+1e-9)), (m+1)/2)
	return means[(m-1)/2]/2 + means[m/2]/2, means[least-1], means[m-least]
}

// leastRankSum is the smallest sum of a random subset of the ranks 1 to n that is not in the lower tail, at least 1.
func leastRankSum(n int, tail float64) int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	if n > exactRanks {
		// A search, since each look takes as long as there are ranks, and sums grow with their square.
		return 1 + sort.Search(n*(n+1)/2, func(below int) bool { return rankSumBelow(ranks, float64(below)+1.5) > tail })
	}
	below, s := 0.0, 0
	for _, chance := range subsetSumChances(ranks) {
		if below += chance; below > tail {
			break
		}
		s++
	}
	return max(s, 1)
}
