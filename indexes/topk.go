package indexes

import (
	"cmp"
	"math"
	"slices"
)

// TopK keeps the k best of the hits offered to it, ties going to the smaller id. It works in a caller's slice and
// allocates only if that is too small. The zero value is ready for Reset.
type TopK struct {
	heap []Hit // the worst of the kept hits is at the root
	k    int
}

// Reset empties the heap and lets it work in dst[:0].
func (t *TopK) Reset(dst []Hit, k int) { t.heap, t.k = dst[:0], k }

// Offer considers one hit. A score that is not a number counts as the worst there is.
func (t *TopK) Offer(id int64, score float32) {
	if score != score {
		score = float32(math.Inf(-1))
	}
	h := Hit{ID: id, Score: score}
	if len(t.heap) < t.k {
		t.heap = append(t.heap, h)
		t.up(len(t.heap) - 1)
		return
	}
	if t.k > 0 && better(h, t.heap[0]) {
		t.heap[0] = h
		t.down(0)
	}
}

// Threshold is the score below which no further hit can be kept.
func (t *TopK) Threshold() float32 {
	if len(t.heap) < t.k || t.k <= 0 {
		return float32(math.Inf(-1))
	}
	return t.heap[0].Score
}

// Full reports whether k hits are kept, so that a further one must be better than the worst of them.
func (t *TopK) Full() bool { return len(t.heap) >= t.k }

// Sorted returns the kept hits, best first. The heap must be Reset before it is used again.
func (t *TopK) Sorted() []Hit {
	SortHits(t.heap)
	return t.heap
}

func (t *TopK) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !better(t.heap[parent], t.heap[i]) {
			return
		}
		t.heap[parent], t.heap[i] = t.heap[i], t.heap[parent]
		i = parent
	}
}

func (t *TopK) down(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if better(t.heap[worst], t.heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// SortHits puts the best score first; ties go to the smaller id.
func SortHits(hits []Hit) { slices.SortFunc(hits, compareHits) }

func compareHits(a, b Hit) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

func better(a, b Hit) bool { return a.Score > b.Score || (a.Score == b.Score && a.ID < b.ID) }
