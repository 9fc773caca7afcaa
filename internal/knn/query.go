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
func (q *query) tighten(k int, scratch []int64) {
	if len(q.candidates) < k {
		return
	}
	lowers := scratch[:len(q.candidates)]
	for i, c := range q.candidates {
		lowers[i] = order(c.lower)
	}
	// The query's part of the error bound counts for the k candidates and for what is compared with them.
	q.limit = max(q.limit, roundDown(float64(ordered(largest(lowers, k)))-2*q.slack))
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

// order is a number that is ordered as v is, for all v that are numbers.
func order(v float32) int64 {
	bits := int32(math.Float32bits(v))
	return int64(bits ^ bits>>31&math.MaxInt32)
}

// ordered is the value that has the order.
func ordered(order int64) float32 {
	bits := int32(order)
	return math.Float32frombits(uint32(bits ^ bits>>31&math.MaxInt32))
}

// largest is the k-th largest of orders, which it permutes: Hoare's selection with Lomuto's partition. Comparisons are
// subtractions, since a processor would mispredict half of the branches.
func largest(orders []int64, k int) int64 {
	at := len(orders) - k // in ascending order
	for len(orders) > 1 {
		pivot := median(orders[0], orders[len(orders)/2], orders[len(orders)-1])
		below := partition(orders, pivot)
		if at < below {
			orders = orders[:below]
			continue
		}
		orders, at = orders[below:], at-below
		same := partition(orders, pivot+1)
		if at < same {
			return pivot
		}
		orders, at = orders[same:], at-same
	}
	return orders[0]
}

// partition moves the orders below the pivot to the front, and returns how many there are.
func partition(orders []int64, pivot int64) int {
	n := 0
	for i, v := range orders {
		orders[i] = orders[n]
		orders[n] = v
		n += int(uint64(v-pivot) >> 63)
	}
	return n
}

func median(a, b, c int64) int64 {
	return max(min(a, b), min(max(a, b), c))
}
