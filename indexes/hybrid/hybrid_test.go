package hybrid

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"frontier/indexes"
)

func list(ids ...int64) []indexes.Hit {
	var hits []indexes.Hit
	for i, id := range ids {
		hits = append(hits, indexes.Hit{ID: id, Score: float32(len(ids) - i)})
	}
	return hits
}

// The worked example that is published with k = 60; document dN is row N.
func TestRRFKnownAnswer(t *testing.T) {
	fused, err := RRF(60, list(3, 7, 1, 4, 2, 9, 10), list(2, 3, 8, 1, 11, 4, 6))
	if err != nil {
		t.Fatal(err)
	}
	want := []indexes.Hit{
		{ID: 3, Score: 0.03252},
		{ID: 2, Score: 0.03178},
		{ID: 1, Score: 0.03150},
		{ID: 4, Score: 0.03078},
		{ID: 7, Score: 0.01613},
		{ID: 8, Score: 0.01587},
		{ID: 11, Score: 0.01538},
		{ID: 9, Score: 0.01515},
		{ID: 6, Score: 0.01493},
		{ID: 10, Score: 0.01493},
	}
	if len(fused) != len(want) {
		t.Fatalf("%d rows: %v", len(fused), fused)
	}
	for i, h := range fused {
		if h.ID != want[i].ID || math.Abs(float64(h.Score-want[i].Score)) > 6e-6 {
			t.Errorf("place %d is %v, expected %v", i+1, h, want[i])
		}
	}
}

func TestConvex(t *testing.T) {
	first := []indexes.Hit{{ID: 1, Score: 10}, {ID: 2, Score: 6}, {ID: 3, Score: 2}}
	second := []indexes.Hit{{ID: 4, Score: -1}, {ID: 2, Score: -2}, {ID: 5, Score: -5}}
	fused, err := Convex(0.25, first, second)
	if err != nil {
		t.Fatal(err)
	}
	want := []indexes.Hit{{ID: 4, Score: 0.75}, {ID: 2, Score: 0.25*0.5 + 0.75*0.75}, {ID: 1, Score: 0.25}, {ID: 3, Score: 0}, {ID: 5, Score: 0}}
	if !slices.Equal(fused, want) {
		t.Errorf("%v, expected %v", fused, want)
	}
	same, err := Convex(1, []indexes.Hit{{ID: 9, Score: 3}, {ID: 8, Score: 3}}, nil)
	if err != nil || !slices.Equal(same, []indexes.Hit{{ID: 8, Score: 1}, {ID: 9, Score: 1}}) {
		t.Errorf("equal scores give %v, %v", same, err)
	}
}

func TestFusionRefuses(t *testing.T) {
	twice := list(1, 2, 1)
	for what, f := range map[string]func() error{
		"k = 0":            func() error { _, err := RRF(0, list(1)); return err },
		"k < 0":            func() error { _, err := RRF(-1, list(1)); return err },
		"k NaN":            func() error { _, err := RRF(math.NaN(), list(1)); return err },
		"k infinite":       func() error { _, err := RRF(math.Inf(1), list(1)); return err },
		"a duplicate":      func() error { _, err := RRF(60, list(1), twice); return err },
		"a first one":      func() error { _, err := RRF(60, twice, list(1)); return err },
		"weight > 1":       func() error { _, err := Convex(1.1, list(1), nil); return err },
		"weight NaN":       func() error { _, err := Convex(math.NaN(), list(1), nil); return err },
		"a duplicate too":  func() error { _, err := Convex(0.5, twice, nil); return err },
		"an unknown kind":  func() error { return Fusion{"borda", 1}.Validate() },
		"a nameless kind":  func() error { return Fusion{}.Validate() },
		"an rrf without k": func() error { return Fusion{Kind: KindRRF}.Validate() },
	} {
		if f() == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}

// The order of the lists does not matter to RRF, and a list fused with itself keeps its order.
func TestRRFProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []indexes.Hit {
			return list(rapid.SliceOfNDistinct(rapid.Int64Range(0, 30), 0, 15, rapid.ID[int64]).Draw(t, name)...)
		}
		a, b, k := draw("a"), draw("b"), rapid.Float64Range(0.5, 100).Draw(t, "k")
		ab, errAB := RRF(k, a, b)
		ba, errBA := RRF(k, b, a)
		aa, errAA := RRF(k, a, a)
		if err := errors.Join(errAB, errBA, errAA); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ab, ba) {
			t.Fatalf("%v one way, %v the other", ab, ba)
		}
		for i := range aa {
			if aa[i].ID != a[i].ID {
				t.Fatalf("%v fused with itself is %v", a, aa)
			}
		}
	})
}

func TestFusionOfAnUnknownKindIsRefused(t *testing.T) {
	if _, err := (Fusion{"borda", 1}).Fuse(NewFuser(), nil, list(1), list(2)); err == nil {
		t.Error("an unknown fusion is accepted")
	}
}

func BenchmarkRRF(b *testing.B) {
	var first, second []int64
	for i := range int64(100) {
		first, second = append(first, i), append(second, 3*i)
	}
	lists := [2][]indexes.Hit{list(first...), list(second...)}
	u := NewFuser()
	var fused []indexes.Hit
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if fused, err = u.RRF(fused, 60, lists[0], lists[1]); err != nil || fused[0].ID != 0 || len(fused) != 166 {
			b.Fatal(len(fused), err)
		}
	}
}
