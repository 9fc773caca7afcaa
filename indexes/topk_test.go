package indexes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The heap keeps what sorting everything would, for any k, with many ties.
func TestTopKEqualsSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n, k := r.IntN(40), r.IntN(45)
		var all []Hit
		for i := range n {
			all = append(all, Hit{ID: int64(i), Score: float32(r.IntN(8))})
		}
		r.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		var top TopK
		top.Reset(nil, k)
		for _, h := range all {
			top.Offer(h.ID, h.Score)
		}
		got := top.Sorted()
		SortHits(all)
		if want := all[:min(k, n)]; !slices.Equal(got, want) {
			t.Fatalf("k = %d: %v, expected %v", k, got, want)
		}
	}
}

func TestTopKThreshold(t *testing.T) {
	var top TopK
	top.Reset(nil, 2)
	top.Offer(1, 5)
	if !math.IsInf(float64(top.Threshold()), -1) {
		t.Errorf("threshold is %v with room left", top.Threshold())
	}
	top.Offer(2, 7)
	top.Offer(3, 6)
	if top.Threshold() != 6 {
		t.Errorf("threshold is %v, expected 6", top.Threshold())
	}
}

func TestTopKPutsWhatIsNoNumberLast(t *testing.T) {
	var top TopK
	top.Reset(nil, 2)
	nan := float32(math.NaN())
	top.Offer(1, nan)
	top.Offer(2, 3)
	top.Offer(3, nan)
	top.Offer(4, -1e30)
	if got := top.Sorted(); got[0].ID != 2 || got[1].ID != 4 {
		t.Errorf("kept %v", got)
	}
}

func TestTopKUsesTheCallersSlice(t *testing.T) {
	room := make([]Hit, 7, 10)
	var top TopK
	allocs := testing.AllocsPerRun(10, func() {
		top.Reset(room, 10)
		for i := range int64(50) {
			top.Offer(i, float32(i%13))
		}
		if got := top.Sorted(); &got[0] != &room[0] || len(got) != 10 {
			t.Fatal("the answer is elsewhere")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
