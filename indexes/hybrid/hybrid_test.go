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

func TestConvexByMinMax(t *testing.T) {
	first := []indexes.Hit{{ID: 1, Score: 10}, {ID: 2, Score: 6}, {ID: 3, Score: 2}}
	second := []indexes.Hit{{ID: 4, Score: -1}, {ID: 2, Score: -2}, {ID: 5, Score: -5}}
	fused, err := Convex(NormMinMax, 0.25, first, second)
	if err != nil {
		t.Fatal(err)
	}
	want := []indexes.Hit{{ID: 4, Score: 0.75}, {ID: 2, Score: 0.25*0.5 + 0.75*0.75}, {ID: 1, Score: 0.25}, {ID: 3, Score: 0}, {ID: 5, Score: 0}}
	if !slices.Equal(fused, want) {
		t.Errorf("%v, expected %v", fused, want)
	}
	same, err := Convex(NormMinMax, 1, []indexes.Hit{{ID: 9, Score: 3}, {ID: 8, Score: 3}}, nil)
	if err != nil || !slices.Equal(same, []indexes.Hit{{ID: 8, Score: 1}, {ID: 9, Score: 1}}) {
		t.Errorf("equal scores give %v, %v", same, err)
	}
}

func TestConvexByZScore(t *testing.T) {
	// Means 6 and 0; deviations sqrt(32/3) and sqrt(8/3), so all scores are multiples of sqrt(3/2): 1, 0, -1 and 1, 0, -1.
	first := []indexes.Hit{{ID: 1, Score: 10}, {ID: 2, Score: 6}, {ID: 3, Score: 2}}
	second := []indexes.Hit{{ID: 4, Score: 2}, {ID: 2, Score: 0}, {ID: 5, Score: -2}}
	fused, err := Convex(NormZScore, 0.25, first, second)
	if err != nil {
		t.Fatal(err)
	}
	u := math.Sqrt(1.5)
	want := []struct {
		id    int64
		score float64
	}{{4, (-0.25 + 0.75) * u}, {2, 0}, {1, (0.25 - 0.75) * u}, {3, -u}, {5, -u}} // what is missing gets -u
	for i, w := range want {
		if fused[i].ID != w.id || math.Abs(float64(fused[i].Score)-w.score) > 1e-6 {
			t.Errorf("place %d is %v, expected %v", i+1, fused[i], w)
		}
	}
	same, err := Convex(NormZScore, 0.5, []indexes.Hit{{ID: 9, Score: 3}, {ID: 8, Score: 3}}, []indexes.Hit{{ID: 7, Score: 1}})
	if err != nil || !slices.Equal(same, []indexes.Hit{{ID: 7, Score: -0.5}, {ID: 8, Score: -0.5}, {ID: 9, Score: -0.5}}) {
		t.Errorf("equal scores give %v, %v", same, err)
	}
	alone, err := Convex(NormZScore, 0.5, nil, []indexes.Hit{{ID: 7, Score: 5}, {ID: 6, Score: 1}})
	if err != nil || !slices.Equal(alone, []indexes.Hit{{ID: 7, Score: 0.5}, {ID: 6, Score: -0.5}}) {
		t.Errorf("beside an empty list: %v, %v", alone, err)
	}
}

// Scores may be multiplied and shifted in either list without a change, and the weights 1 and 0 keep one list's order.
func TestConvexProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []indexes.Hit {
			hits := list(rapid.SliceOfNDistinct(rapid.Int64Range(0, 30), 0, 15, rapid.ID[int64]).Draw(t, name)...)
			for i := range hits {
				hits[i].Score = float32(rapid.IntRange(-8, 8).Draw(t, name+" score"))
			}
			indexes.SortHits(hits)
			return hits
		}
		norm := rapid.SampledFrom(Norms()).Draw(t, "norm")
		a, b, weight := draw("a"), draw("b"), float64(rapid.IntRange(0, 8).Draw(t, "weight"))/8
		fused, err := Convex(norm, weight, a, b)
		if err != nil {
			t.Fatal(err)
		}
		moved := slices.Clone(a)
		for i := range moved {
			moved[i].Score = 4*moved[i].Score + 3 // exact in float32
		}
		again, err := Convex(norm, weight, moved, b)
		if err != nil || len(again) != len(fused) {
			t.Fatal(again, err)
		}
		score := map[int64]float32{}
		for _, h := range fused {
			score[h.ID] = h.Score
		}
		for _, h := range again {
			if math.Abs(float64(h.Score-score[h.ID])) > 1e-5 {
				t.Fatalf("row %d scores %v, and %v where the first list was moved", h.ID, score[h.ID], h.Score)
			}
		}
		only, err := Convex(norm, 1, a, b)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range a { // the rest ties with its last
			if only[i].ID != h.ID && only[i].Score != only[len(a)-1].Score {
				t.Fatalf("with the whole weight %v becomes %v", a, only)
			}
		}
	})
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
		"weight > 1":       func() error { _, err := Convex(NormMinMax, 1.1, list(1), nil); return err },
		"weight NaN":       func() error { _, err := Convex(NormMinMax, math.NaN(), list(1), nil); return err },
		"a duplicate too":  func() error { _, err := Convex(NormZScore, 0.5, twice, nil); return err },
		"an unknown kind":  func() error { return Fusion{Kind: "borda", Param: 1}.Validate() },
		"a nameless kind":  func() error { return Fusion{}.Validate() },
		"an unknown scale": func() error { _, err := Convex("l2", 0.5, list(1), nil); return err },
		"no scale":         func() error { return Fusion{Kind: KindConvex, Param: 0.5}.Validate() },
		"an rrf scaled":    func() error { return Fusion{KindRRF, 60, NormMinMax}.Validate() },
		"a score of NaN": func() error {
			_, err := Convex(NormMinMax, 0.5, []indexes.Hit{{ID: 1, Score: float32(math.NaN())}}, nil)
			return err
		},
		"an infinite score": func() error {
			_, err := Convex(NormZScore, 0.5, nil, []indexes.Hit{{ID: 1, Score: float32(math.Inf(-1))}})
			return err
		},
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
	if _, err := (Fusion{Kind: "borda", Param: 1}).Fuse(NewFuser(), nil, list(1), list(2)); err == nil {
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
