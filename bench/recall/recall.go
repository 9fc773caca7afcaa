// Package recall judges the answers of approximate search against exact ones, query by query.
package recall

import (
	"math"

	"frontier/internal/vector"
)

// Tolerance is how much further than the k-th true neighbour, relative to the magnitude of its distance, an answer may
// be and still count as near: a distance d counts if d <= d_k + Tolerance*|d_k|. It is above float32 rounding, which
// truth from elsewhere may carry, and far below any difference that matters. Being relative, it does not depend on the
// scale of the vectors. Distances may be negative (inner product): the tolerance always widens. Where d_k is exactly 0
// only 0 and less count.
const Tolerance = 1e-6

// ANN is the recall of one query at k, with what was wrong with the answer. The recalls are in [0,1], over
// min(k, number of base rows).
type ANN struct {
	ByID       float64 // share of the k true neighbours that were answered
	ByDistance float64 // share of answers at most as far as the k-th true neighbour; at least ByID
	// TieLow and TieHigh are the lowest and the highest ByID that any order of the rows tied with the k-th true
	// neighbour would give. They enclose ByID and are equal where nothing is tied.
	TieLow, TieHigh float64
	Padding         int // negative ids among the first k
	Duplicates      int // ids among the first k that had been answered before
	Short           int // how many answers less than min(k, base rows) remain without padding and duplicates
}

// Query judges the first k of gotIDs, best first, at the distances gotDist, which the caller computes anew with
// truth.Distance: what an engine says about its distances is not to be trusted. Negative ids are padding, whatever
// their distance. An id counts once. An answer without a distance, or at NaN, counts by its id only.
//
// trueIDs and trueDist are the exact neighbours, nearest first. Fewer than k mean that the base has no more rows. More
// than k make the tie interval complete: it knows of the tied rows that either list shows. Without true neighbours,
// or with k < 1, the recalls are NaN.
func Query(trueIDs []int64, trueDist []float64, gotIDs []int64, gotDist []float64, k int) ANN {
	trueIDs = trueIDs[:min(len(trueIDs), len(trueDist))]
	got := gotIDs[:min(max(k, 0), len(gotIDs))]
	denominator := min(k, len(trueIDs))
	if denominator < 1 {
		nan := math.NaN()
		return ANN{ByID: nan, ByDistance: nan, TieLow: nan, TieHigh: nan}
	}
	// Truth from elsewhere may be out of order by a rounding, hence the maximum.
	kth := math.Inf(-1)
	for _, d := range trueDist[:denominator] {
		kth = max(kth, d)
	}
	margin := Tolerance * math.Abs(kth)
	nearer := func(d float64) bool { return d < kth-margin }

	// The rows surely among the first k, and those tied for the places that remain.
	sure, tied := 0, 0
	for _, d := range trueDist[:len(trueIDs)] {
		switch {
		case nearer(d):
			sure++
		case d <= kth+margin:
			tied++
		}
	}
	var out ANN
	var byID, byDistance, gotSure, gotTied int
	truth, answered := newLookup(trueIDs), newLookup(got)
	for i, id := range got {
		if id < 0 {
			out.Padding++
			continue
		}
		if answered.first(id) < i {
			out.Duplicates++
			continue
		}
		d := math.NaN()
		if i < len(gotDist) {
			d = gotDist[i]
		}
		rank := truth.first(id)
		if rank >= 0 {
			d = trueDist[rank]
		} else if d <= kth+margin {
			tied++
		}
		if rank >= 0 && rank < denominator {
			byID++
		}
		switch {
		case rank >= 0 && nearer(d):
			gotSure++
			byDistance++
		case d <= kth+margin:
			gotTied++
			byDistance++
		}
	}
	out.Short = max(denominator-(len(got)-out.Padding-out.Duplicates), 0)
	places := max(denominator-sure, 0)
	share := func(hits int) float64 { return float64(min(hits, denominator)) / float64(denominator) }
	out.ByID = share(byID)
	out.ByDistance = share(byDistance)
	// The worst order gives the places to tied rows that were not answered, as far as there are any.
	out.TieLow = share(gotSure + max(places-(tied-gotTied), 0))
	out.TieHigh = share(gotSure + min(gotTied, places))
	return out
}

// AnnBenchmarks is recall as ann-benchmarks defines it, for comparison with published numbers: the share of the first k
// answers at a distance of at most the k-th true one plus 1e-3. That margin is absolute, so the result depends on the
// scale of the vectors, and duplicates count. Distances are those of package truth; for L2 the roots are compared, as
// there. With fewer than k true neighbours their number takes the place of k; without any, or with k < 1, it is NaN.
func AnnBenchmarks(m vector.Metric, trueDist, gotDist []float64, k int) float64 {
	const epsilon = 1e-3
	k = min(k, len(trueDist))
	if k < 1 {
		return math.NaN()
	}
	plain := func(d float64) float64 {
		if m == vector.L2 {
			return math.Sqrt(d)
		}
		return d
	}
	hits := 0
	for _, d := range gotDist[:min(k, len(gotDist))] {
		if plain(d) <= plain(trueDist[k-1])+epsilon {
			hits++
		}
	}
	return float64(hits) / float64(k)
}
