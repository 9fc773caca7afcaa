// Package ranking measures ranked lists against relevance judgements, as trec_eval defines the measures.
//
// A ranking is abstract: a list of items, each holding some of the judged units. Where a unit is a document and an item
// holds at most one, every figure equals trec_eval's. Where items are chunks that may hold several units of evidence,
// or share one, three rules keep the measures meaningful:
//
//   - A unit gains once, at the first item that holds it.
//   - Recall, hit rate, precision and reciprocal rank count items. An item is relevant if it holds a relevant unit, be
//     it one that was gained before.
//   - nDCG and average precision go through an expanded list, in which an item takes as many consecutive places as it
//     gains units that count, better grades first, and one place if it gains none. So both stay within [0,1] and are 1
//     only if no list could be better, and a chunk that holds much is not credited beyond the ideal.
package ranking

import (
	"fmt"
	"math"
	"slices"
)

// Item is one retrieved unit, a document or a chunk.
type Item struct {
	Held   []int // the judged units that it holds, as indices into the grades
	Judged bool  // it was judged, even if it holds nothing; an item holding a unit of grade 0 or more always was
}

// Metrics of one query. The slices have one value for each k. All but Judged and the counts are NaN where no unit is
// relevant, since there is nothing to divide by: whether such a query is left out, counted as zero, or scored by whether
// the system abstained is for the caller to say. All others are in [0,1], larger is better.
type Metrics struct {
	Recall    []float64 // relevant units within the first k items, over all relevant units: recall_k
	HitRate   []float64 // 1 if any of the first k items is relevant: success_k
	Precision []float64 // relevant items among the first k, over k even if fewer were retrieved: P_k
	MRR       []float64 // reciprocal rank of the first relevant item, 0 if it is beyond k
	NDCG      []float64 // gain is the grade, discount log2(rank+1): ndcg_cut_k; negative grades gain nothing
	MAP       []float64 // average precision of the first k places, over all relevant units: map_cut_k
	Judged    []float64 // share of the items within the first k that were judged; NaN if nothing was retrieved

	MRRFull float64 // without cut-off: recip_rank
	MAPFull float64 // without cut-off: map

	Retrieved         int // items: num_ret
	Relevant          int // relevant units: num_rel
	RelevantRetrieved int // relevant units that some item holds: num_rel_ret
}

// Evaluate measures list, best first, for one query. grades are those of all judged units of the query; a unit is
// relevant if its grade is at least relevanceMin, which is at least 1. nDCG uses the grades themselves. ks must be
// positive and ascend; items may be fewer than k. A unit index outside of grades is an error, a unit twice in one item
// is not.
func Evaluate(grades []int, list []Item, ks []int, relevanceMin int) (Metrics, error) {
	if relevanceMin < 1 {
		return Metrics{}, fmt.Errorf("rank metrics: the smallest relevant grade is %d, but 0 means judged and not relevant; use 1 or more", relevanceMin)
	}
	for i, k := range ks {
		if k < 1 {
			return Metrics{}, fmt.Errorf("rank metrics: k = %d; it must be at least 1", k)
		}
		if i > 0 && k <= ks[i-1] {
			return Metrics{}, fmt.Errorf("rank metrics: k = %d comes after %d; give each k once, in ascending order", k, ks[i-1])
		}
	}
	for rank, item := range list {
		for _, unit := range item.Held {
			if unit < 0 || unit >= len(grades) {
				return Metrics{}, fmt.Errorf("rank metrics: rank %d holds unit %d, but there are %d judged units", rank+1, unit, len(grades))
			}
		}
	}
	w := walk(grades, list, relevanceMin)
	m := Metrics{
		Recall: make([]float64, len(ks)), HitRate: make([]float64, len(ks)), Precision: make([]float64, len(ks)), MRR: make([]float64, len(ks)),
		NDCG: make([]float64, len(ks)), MAP: make([]float64, len(ks)), Judged: make([]float64, len(ks)),
		Retrieved: len(list), RelevantRetrieved: w.units[len(list)],
	}
	for _, g := range grades {
		if g >= relevanceMin {
			m.Relevant++
		}
	}
	for i, k := range ks {
		within := min(k, len(list))
		m.Judged[i] = float64(w.judged[within]) / float64(within)
		if m.Relevant == 0 {
			for _, metric := range [][]float64{m.Recall, m.HitRate, m.Precision, m.MRR, m.NDCG, m.MAP} {
				metric[i] = math.NaN()
			}
			continue
		}
		m.Recall[i] = float64(w.units[within]) / float64(m.Relevant)
		m.Precision[i] = float64(w.items[within]) / float64(k)
		if w.items[within] > 0 {
			m.HitRate[i] = 1
			m.MRR[i] = 1 / float64(w.firstRelevant)
		}
		m.MAP[i] = averagePrecision(w.relevant, k, m.Relevant)
	}
	if m.Relevant == 0 {
		m.MRRFull, m.MAPFull = math.NaN(), math.NaN()
		return m, nil
	}
	fillNDCG(m.NDCG, w.gains, grades, ks)
	if w.firstRelevant > 0 {
		m.MRRFull = 1 / float64(w.firstRelevant)
	}
	m.MAPFull = averagePrecision(w.relevant, len(w.relevant), m.Relevant)
	return m, nil
}

// walked is what one pass over a ranking finds. The first three hold at index r the count over the first r items.
type walked struct {
	units  []int // relevant units gained
	items  []int // relevant items
	judged []int // judged items

	firstRelevant int    // rank of the first relevant item, from 1; 0 if there is none
	relevant      []bool // the expanded list of average precision: a place is relevant
	gains         []int  // the expanded list of nDCG: the grade gained at each place
}

func walk(grades []int, list []Item, relevanceMin int) walked {
	w := walked{
		units: make([]int, len(list)+1), items: make([]int, len(list)+1), judged: make([]int, len(list)+1),
		relevant: make([]bool, 0, len(list)), gains: make([]int, 0, len(list)),
	}
	gained := make([]bool, len(grades))
	for r, item := range list {
		judged, isRelevant, newUnits := item.Judged, false, 0
		firstGain := len(w.gains)
		for _, unit := range item.Held {
			grade := grades[unit]
			judged = judged || grade >= 0
			isRelevant = isRelevant || grade >= relevanceMin
			if gained[unit] {
				continue
			}
			gained[unit] = true
			if grade > 0 {
				w.gains = append(w.gains, grade)
			}
			if grade >= relevanceMin {
				newUnits++
				w.relevant = append(w.relevant, true)
			}
		}
		if len(w.gains) == firstGain {
			w.gains = append(w.gains, 0)
		}
		slices.SortFunc(w.gains[firstGain:], func(a, b int) int { return b - a })
		if newUnits == 0 {
			w.relevant = append(w.relevant, false)
		}
		if isRelevant && w.firstRelevant == 0 {
			w.firstRelevant = r + 1
		}
		w.units[r+1] = w.units[r] + newUnits
		w.items[r+1] = w.items[r] + one(isRelevant)
		w.judged[r+1] = w.judged[r] + one(judged)
	}
	return w
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// averagePrecision is the sum of the precisions at the relevant places among the first k, over all relevant units.
func averagePrecision(relevant []bool, k, total int) float64 {
	sum, hits := 0.0, 0
	for i, r := range relevant[:min(k, len(relevant))] {
		if r {
			hits++
			sum += float64(hits) / float64(i+1)
		}
	}
	return sum / float64(total)
}

// fillNDCG divides the discounted gains of the first k places by those of the best order of all judged units.
func fillNDCG(ndcg []float64, gains, grades, ks []int) {
	ideal := slices.DeleteFunc(slices.Clone(grades), func(g int) bool { return g <= 0 })
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	got, best, place := 0.0, 0.0, 0
	for i, k := range ks {
		for ; place < k && (place < len(gains) || place < len(ideal)); place++ {
			discount := math.Log2(float64(place + 2))
			if place < len(gains) {
				got += float64(gains[place]) / discount
			}
			if place < len(ideal) {
				best += float64(ideal[place]) / discount
			}
		}
		ndcg[i] = got / best
	}
}
