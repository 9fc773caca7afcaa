package hybrid

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"frontier/indexes"
	"frontier/indexes/bleve"
	"frontier/indexes/flat"
	"frontier/indexes/internal/enginetest"
	"frontier/internal/param"
	"frontier/internal/vector"
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

func parts(t *testing.T, rows int) (parts [2]indexes.Index, base *vector.Matrix) {
	t.Helper()
	base = enginetest.Clustered(t, rows, 8, 1)
	texts := func() iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for i := range rows {
				if !yield(fmt.Sprintf("row%d group%d", i, i%7), nil) {
					return
				}
			}
		}
	}
	for i, e := range []indexes.Engine{bleve.Engine(), flat.Engine()} {
		in := indexes.Input{Vectors: base, Metric: vector.L2, Texts: texts, Threads: 1, Dir: t.TempDir()}
		params, err := param.Complete(e.Params, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Build(context.Background(), in, params); err != nil {
			t.Fatal(err)
		}
		if parts[i], err = e.Load(context.Background(), in.Dir, in, params); err != nil {
			t.Fatal(err)
		}
	}
	return parts, base
}

func TestIndex(t *testing.T) {
	both, base := parts(t, 100)
	x, err := New(both, 20, Fusion{KindRRF, 60})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	if x.Len() != 100 || x.Bytes() != both[0].Bytes()+both[1].Bytes() {
		t.Errorf("%d rows, %d bytes", x.Len(), x.Bytes())
	}
	// The row that both parts have first is first; what is asked for is a prefix of what would come.
	q := indexes.Query{Text: "row42", Vector: base.Row(42)}
	few, err := x.Search(q, 3, nil)
	if err != nil || len(few) != 3 || few[0].ID != 42 {
		t.Fatalf("%v, %v", few, err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			var hits []indexes.Hit
			for range 50 {
				var err error
				if hits, err = x.Search(q, 3, hits); err != nil || !slices.Equal(hits, few) {
					t.Errorf("%v, %v beside others; %v alone", hits, err, few)
					return
				}
			}
		})
	}
	wait.Wait()
	if all, err := x.Search(q, 20, nil); err != nil || len(all) != 20 || !slices.Equal(all[:3], few) {
		t.Errorf("%v, %v", all, err)
	}
	var wrong *param.Error
	if _, _, err := x.Set(param.Values{"ef_search": int64(1)}, 10); !errors.As(err, &wrong) {
		t.Errorf("a search parameter gives %v", err)
	}
	if _, err := x.Search(q, 0, nil); err == nil {
		t.Error("k = 0 is not refused")
	}
	if _, err := x.Search(indexes.Query{Text: "row1", Vector: []float32{1}}, 1, nil); err == nil || !strings.Contains(err.Error(), "part 2") {
		t.Errorf("a query that a part refuses gives %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	both, _ := parts(t, 20)
	defer both[0].Close()
	if _, err := New(both, 10, Fusion{"borda", 1}); err == nil {
		t.Error("an unknown fusion is accepted")
	}
	other := both
	other[1] = short{both[1]}
	if _, err := New(other, 10, Fusion{KindRRF, 60}); err == nil {
		t.Error("parts of different rows are accepted")
	}
}

type short struct{ indexes.Index }

func (short) Len() int { return 1 }

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
