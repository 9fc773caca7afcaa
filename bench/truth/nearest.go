package truth

import "slices"

// neighbor is one candidate. Nearer comes first; of two as near, the smaller id.
type neighbor struct {
	distance float64
	id       int64
}

func (a neighbor) before(b neighbor) bool {
	return a.distance < b.distance || a.distance == b.distance && a.id < b.id
}

// nearest keeps the first k of the neighbors that it is offered, in a heap with the last of them on top.
type nearest struct {
	k    int
	heap []neighbor
}

// offer takes n if it is among the first k so far, and says whether it did.
func (h *nearest) offer(n neighbor) bool {
	if len(h.heap) < h.k {
		h.heap = append(h.heap, n)
		child := len(h.heap) - 1
		for child > 0 {
			parent := (child - 1) / 2
			if !h.heap[parent].before(h.heap[child]) {
				break
			}
			h.heap[parent], h.heap[child] = h.heap[child], h.heap[parent]
			child = parent
		}
		return true
	}
	if !n.before(h.heap[0]) {
		return false
	}
	h.heap[0] = n
	parent := 0
	for {
		last, left := parent, 2*parent+1
		if left < len(h.heap) && h.heap[last].before(h.heap[left]) {
			last = left
		}
		if right := left + 1; right < len(h.heap) && h.heap[last].before(h.heap[right]) {
			last = right
		}
		if last == parent {
			return true
		}
		h.heap[parent], h.heap[last] = h.heap[last], h.heap[parent]
		parent = last
	}
}

// full reports whether k candidates are held, so that worst bounds what can still enter.
func (h *nearest) full() bool { return len(h.heap) == h.k }

// worst is the distance of the last neighbor held.
func (h *nearest) worst() float64 { return h.heap[0].distance }

// sorted is the neighbors held, nearest first. It destroys the heap.
func (h *nearest) sorted() []neighbor {
	slices.SortFunc(h.heap, compareNeighbors)
	return h.heap
}

func compareNeighbors(a, b neighbor) int {
	switch {
	case a.before(b):
		return -1
	case b.before(a):
		return 1
	}
	return 0
}
