package ranking

import (
	"fmt"
	"math"
	"slices"
)

// Unjudged is the grade of a document that was not judged. So is any other grade below 0.
const Unjudged = -1

// Scorer measures rankings of documents, one query after the other, without allocating. It is for one goroutine.
type Scorer struct {
	measures     []Measure
	kinds        []kind // of measures
	relevanceMin int32

	judged    []place // of the ranking at hand
	relevant  []hit
	ideal     []int32
	discounts []float64 // log2(rank+1) of the ranks from 1
}

// place is a judged document that was retrieved; rank counts from 1.
type place struct{ rank, grade int32 }

// hit is a relevant document that was retrieved, with the number of judged documents before it that are not relevant.
type hit struct{ rank, nonrelevant int32 }

// NewScorer makes a Scorer. A document is relevant if its grade is at least relevanceMin, which is at least 1.
func NewScorer(measures []Measure, relevanceMin int) (*Scorer, error) {
	if relevanceMin < 1 || relevanceMin > math.MaxInt32 {
		return nil, fmt.Errorf("the smallest relevant grade is %d, but 0 means judged and not relevant; use 1 or more", relevanceMin)
	}
	s := &Scorer{measures: measures, relevanceMin: int32(relevanceMin)}
	for _, m := range measures {
		s.kinds = append(s.kinds, m.of().kind)
	}
	return s, nil
}

// Measures are those that Score writes, in its order.
func (s *Scorer) Measures() []Measure { return s.measures }

// counts are those of one query.
type counts struct {
	retrieved, relevant, nonrelevant int // relevant and nonrelevant are over all judged documents
}

// Score writes the figure of each measure to out. ranked has the grade of each retrieved document, best first; judged has the
// grades of all documents that were judged for the query, retrieved or not. A query without a relevant document scores 0, as in
// trec_eval; judged_k of an empty ranking is NaN. Measures without a figure for a single query get what Totals needs.
func (s *Scorer) Score(ranked, judged []int32, out []float64) {
	c := s.walk(ranked, judged)
	for i, m := range s.measures {
		out[i] = s.figure(s.kinds[i], m, c)
	}
}

func (s *Scorer) walk(ranked, judged []int32) counts {
	c := counts{retrieved: len(ranked)}
	s.judged, s.relevant, s.ideal = s.judged[:0], s.relevant[:0], s.ideal[:0]
	for _, grade := range judged {
		switch {
		case grade >= s.relevanceMin:
			c.relevant++
		case grade >= 0:
			c.nonrelevant++
		}
		if grade > 0 {
			s.ideal = append(s.ideal, grade)
		}
	}
	slices.SortFunc(s.ideal, func(a, b int32) int { return int(b) - int(a) })
	nonrelevant := int32(0)
	for i, grade := range ranked {
		if grade < 0 {
			continue
		}
		rank := int32(i + 1)
		s.judged = append(s.judged, place{rank, grade})
		if grade >= s.relevanceMin {
			s.relevant = append(s.relevant, hit{rank, nonrelevant})
		} else {
			nonrelevant++
		}
	}
	for n := max(len(ranked), len(s.ideal)); len(s.discounts) < n; {
		s.discounts = append(s.discounts, math.Log2(float64(len(s.discounts)+2)))
	}
	return c
}

func (s *Scorer) figure(kind kind, m Measure, c counts) float64 {
	k := m.k
	if k == 0 {
		k = math.MaxInt32
	}
	switch kind {
	case runID:
		return math.NaN()
	case numQueries:
		return 1
	case numRetrieved:
		return float64(c.retrieved)
	case numRelevant:
		return float64(c.relevant)
	case numRelevantRetrieved:
		return float64(len(s.relevant))
	case judgedAt:
		return float64(s.judgedWithin(k)) / float64(min(k, c.retrieved))
	case ndcgKind:
		return s.ndcg(k)
	case precisionAt:
		return float64(s.hits(k)) / float64(k)
	case successAt:
		return float64(min(s.hits(k), 1))
	}
	if c.relevant == 0 {
		return 0
	}
	switch kind {
	case averagePrecisionKind:
		return s.averagePrecision(k) / float64(c.relevant)
	case rPrecision:
		return float64(s.hits(c.relevant)) / float64(c.relevant)
	case binaryPreference:
		return s.bpref(c)
	case reciprocalRank:
		if s.hits(k) > 0 {
			return 1 / float64(s.relevant[0].rank)
		}
	case interpolatedPrecision:
		return s.interpolated(m.level, c)
	case recallAt:
		return float64(s.hits(k)) / float64(c.relevant)
	}
	return 0
}

// hits is how many of the first k are relevant.
func (s *Scorer) hits(k int) int {
	n := 0
	for n < len(s.relevant) && int(s.relevant[n].rank) <= k {
		n++
	}
	return n
}

func (s *Scorer) judgedWithin(k int) int {
	n := 0
	for n < len(s.judged) && int(s.judged[n].rank) <= k {
		n++
	}
	return n
}

// averagePrecision is not yet divided by the number of relevant documents.
func (s *Scorer) averagePrecision(k int) (sum float64) {
	for i, h := range s.relevant {
		if int(h.rank) > k {
			break
		}
		sum += float64(i+1) / float64(h.rank)
	}
	return sum
}

// ndcg is 0 if no document has a gain.
func (s *Scorer) ndcg(k int) float64 {
	var got, best float64
	for _, p := range s.judged {
		if int(p.rank) > k {
			break
		}
		if p.grade > 0 {
			got += float64(p.grade) / s.discounts[p.rank-1]
		}
	}
	for i, grade := range s.ideal[:min(k, len(s.ideal))] {
		best += float64(grade) / s.discounts[i]
	}
	if best == 0 {
		return 0
	}
	return got / best
}

// bpref is the share of pairs in their right order, of the relevant documents and the first R that were judged and are not
// relevant: Buckley and Voorhees, SIGIR 2004, with the denominator that trec_eval has since 8.0.
func (s *Scorer) bpref(c counts) (sum float64) {
	for _, h := range s.relevant {
		sum++
		if h.nonrelevant > 0 {
			sum -= float64(min(int(h.nonrelevant), c.relevant)) / float64(min(c.nonrelevant, c.relevant))
		}
	}
	return sum / float64(c.relevant)
}

// interpolated is the best precision at any rank by which the recall is reached, which is that of one of the hits.
func (s *Scorer) interpolated(level float64, c counts) (best float64) {
	needed := max(int(math.Round(level*float64(c.relevant))), 1)
	for i := needed - 1; i < len(s.relevant); i++ {
		best = max(best, float64(i+1)/float64(s.relevant[i].rank))
	}
	return best
}

// smallestAveragePrecision is what gm_map takes for less, lest one query make it 0.
const smallestAveragePrecision = 0.00001

// Totals are the figures over all queries: sums of counts, and means of everything else. A query whose figure is NaN has
// no part in a mean; the mean of nothing is NaN.
func Totals(measures []Measure, queries [][]float64) []float64 {
	totals := make([]float64, len(measures))
	for i, m := range measures {
		n, f := 0, m.of()
		for _, figures := range queries {
			v := figures[i]
			if math.IsNaN(v) {
				continue
			}
			n++
			if f.total == geometricMean {
				v = math.Log(max(v, smallestAveragePrecision))
			}
			totals[i] += v
		}
		switch f.total {
		case mean:
			totals[i] /= float64(n)
		case geometricMean:
			totals[i] = math.Exp(totals[i] / float64(n))
		case noTotal:
			totals[i] = math.NaN()
		}
	}
	return totals
}
