//go:build faiss && cgo

package faiss

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"frontier/indexes"
	"frontier/indexes/internal/enginetest"
	"frontier/internal/param"
	"frontier/internal/vector"
)

// few is so little of SIFT that everything trains at once.
func few(t *testing.T) (base, queries *vector.Matrix) {
	t.Helper()
	base, queries = enginetest.SIFT(t)
	base, err := vector.NewMatrix(base.Rows(0, 600), base.Dim())
	if err != nil {
		t.Fatal(err)
	}
	return base, queries
}

// Kinds that filter give allowed rows only; where everything is looked at, they give what is left of a search for all
// rows. Search parameters that were set still act.
func TestSearchFilteredByKind(t *testing.T) {
	base, queries := few(t)
	rng := rand.New(rand.NewPCG(7, 8))
	allowed := indexes.NewIDSet(base.Len())
	for i := range base.Len() {
		if rng.IntN(4) == 0 {
			allowed.Add(int64(i))
		}
	}
	for _, c := range []struct {
		factory string
		search  param.Values
		exact   bool // all rows are looked at
	}{
		{"Flat", nil, true},
		{"SQ8", nil, true},
		{"PCA64,Flat", nil, true},
		{"IVF8,Flat", param.Values{"nprobe": int64(8)}, true},
		{"IVF8,SQ8", param.Values{"nprobe": int64(8)}, true},
		{"IVF8,PQ8x4np", param.Values{"nprobe": int64(8)}, true},
		{"OPQ4_32,IVF8,PQ8x4np", param.Values{"nprobe": int64(8)}, true},
		{"HNSW16", param.Values{"ef_search": int64(400)}, false},
		{"HNSW16,SQ8", param.Values{"ef_search": int64(400)}, false},
	} {
		t.Run(c.factory, func(t *testing.T) {
			x := suite(c.factory, 0, nil).Build(t, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1, Threads: 1})
			if _, _, err := x.Set(c.search, 10); err != nil {
				t.Fatal(err)
			}
			hits, right := 0, 0
			for i := range 20 {
				q := indexes.Query{Vector: queries.Row(i)}
				got, err := x.(indexes.Filtered).SearchFiltered(q, 10, allowed, nil)
				if err != nil || len(got) != 10 {
					t.Fatalf("%v, %v", got, err)
				}
				everything, err := x.Search(q, base.Len(), nil)
				if err != nil {
					t.Fatal(err)
				}
				want := slices.DeleteFunc(everything, func(h indexes.Hit) bool { return !allowed.Has(h.ID) })
				for j, h := range got {
					if !allowed.Has(h.ID) {
						t.Fatalf("row %d is not allowed", h.ID)
					}
					if c.exact && h.Score != want[j].Score { // equal scores may change places
						t.Fatalf("query %d, place %d: %v, expected %v", i, j, h, want[j])
					}
				}
				if c.exact {
					continue
				}
				among := slices.DeleteFunc(enginetest.Exact(base, vector.L2, q.Vector, base.Len()), func(id int64) bool { return !allowed.Has(id) })
				for _, id := range among[:10] {
					hits++
					if slices.ContainsFunc(got, func(h indexes.Hit) bool { return h.ID == id }) {
						right++
					}
				}
			}
			if float64(right) < 0.9*float64(hits) {
				t.Errorf("finds %d of %d", right, hits)
			}
		})
	}
}

func TestKindsThatCannotFilterSaySo(t *testing.T) {
	base, queries := few(t)
	for _, factory := range []string{"PQ8x4np", "Flat,RFlat", "IDMap,Flat", "LSH", "PQ8x4fs", "IVF8,PQ8x4fs", "IVF8,PQ8x4np,RFlat"} {
		x := suite(factory, 0, nil).Build(t, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1, Threads: 1})
		q := indexes.Query{Vector: queries.Row(0)}
		got, err := x.(indexes.Filtered).SearchFiltered(q, 10, indexes.NewIDSet(base.Len()), nil)
		if !errors.Is(err, indexes.ErrNoFilter) || len(got) != 0 {
			t.Errorf("%s: %v, %v", factory, got, err)
		}
	}
	x := suite("Flat", 0, nil).Build(t, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1, Threads: 1})
	if _, err := x.(indexes.Filtered).SearchFiltered(indexes.Query{Vector: queries.Row(0)}, 10, indexes.NewIDSet(3), nil); err == nil {
		t.Error("a set of other rows is accepted")
	}
	if got, err := x.(indexes.Filtered).SearchFiltered(indexes.Query{Vector: queries.Row(0)}, 10, indexes.NewIDSet(base.Len()), nil); err != nil || len(got) != 0 {
		t.Errorf("no row is allowed: %v, %v", got, err)
	}
}
