package knn

import (
	"math"
	"math/bits"
	"unsafe"
)

// query is one query while it is compared with a block of rows.
type query struct {
	id         int // -1 where the panel has room left
	candidates []candidate
	limit      float32 // what a score must reach
	zero       bool    // all rows are as near as each other
	// The factors between scores and distances, and the part of the error bound that depends on the query; see space.
	origin, factor, slack float64
}

// candidate is a row that reached the limit. The score that follows from its distance lies between lower and upper,
// beside the part of the error bound that depends on the query.
type candidate struct {
	upper, lower float32
	row          int32
}

const (
	candidateSize = int(unsafe.Sizeof(candidate{}))
	querySize     = int(unsafe.Sizeof(query{}))
)

// bufferSize is how many candidates a query collects before it tightens its limit. Each time this doubles or triples
// the rows that k new ones take, so that it happens about as often as the logarithm of rows/k.
func bufferSize(k int) int { return 3*k + 32 }

// collect takes the scores of a row of the tile that are marked in mask as candidates of their queries.
func (s *Search) collect(w *worker, p *panel, row int, mask uint32, scores []float32) {
	slack, block := w.slacks[row], w.rows[row]
	for ; mask != 0; mask &= mask - 1 {
		j := bits.TrailingZeros32(mask)
		q, score := &p.queries[j], scores[j]
		if q.id < 0 || score < q.limit { // the limit may be higher by now
			continue
		}
		c := candidate{score, score - slack, block}
		if !(c.lower >= -math.MaxFloat32 && c.upper <= math.MaxFloat32) {
			c.upper, c.lower = float32(math.Inf(1)), float32(math.Inf(-1))
		}
		q.candidates = append(q.candidates, c)
		if len(q.candidates) < cap(q.candidates) {
			continue
		}
		q.tighten(s.cfg.K, w.lowers)
		if len(q.candidates) > cap(q.candidates)*3/4 {
			q.rank(s.space, s.cfg.Ranker, w.chosen)
		}
		p.limits[j] = q.limit
	}
}

// tighten raises the limit to what k candidates have at least, and drops the candidates below it.
func (q *query) tighten(k int, scratch []float32) {
	if len(q.candidates) < k {
		return
	}
	lowers := scratch[:len(q.candidates)]
	for i, c := range q.candidates {
		lowers[i] = c.lower
	}
	// The query's part of the error bound counts for the k candidates and for what is compared with them.
	q.limit = max(q.limit, roundDown(float64(largest(lowers, k))-2*q.slack))
	kept := q.candidates[:0]
	for _, c := range q.candidates {
		if c.upper >= q.limit {
			kept = append(kept, c)
		}
	}
	q.candidates = kept
}

// rank hands the candidates on, and takes the limit from the k-th nearest.
func (q *query) rank(sp *space, r Ranker, chosen []int32) {
	if len(q.candidates) == 0 {
		return
	}
	chosen = chosen[:0]
	for _, c := range q.candidates {
		chosen = append(chosen, c.row)
	}
	r.Rank(q.id, chosen)
	q.candidates = q.candidates[:0]
	q.limit = max(q.limit, sp.limit(q, r.Worst(q.id)))
}

// largest is the k-th largest of values, which it reorders (Hoare's selection, the pivot being the median of three).
func largest(values []float32, k int) float32 {
	at := len(values) - k // in ascending order
	low, high := 0, len(values)-1
	for low < high {
		pivot := median(values[low], values[(low+high)/2], values[high])
		i, j := low, high
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case at <= j:
			high = j
		case at >= i:
			low = i
		default:
			return values[at]
		}
	}
	return values[at]
}

func median(a, b, c float32) float32 {
	return max(min(a, b), min(max(a, b), c))
}
