package recall

import (
	"math"
	"slices"
	"testing"

	"frontier/bench/truth"
	"frontier/internal/vector"
)

func TestBuildCheck(t *testing.T) {
	// Rows at 0 to 9 on a line, asked from 0 and from 9; a graph with M = 4.
	base := make([]float32, 10)
	for i := range base {
		base[i] = float32(i)
	}
	const m = 4
	neighbors := truth.Neighbors{K: 6}
	for _, q := range []float32{0, 9} {
		ids := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
		if q == 9 {
			slices.Reverse(ids)
		}
		for _, id := range ids[:neighbors.K] {
			neighbors.IDs = append(neighbors.IDs, id)
			neighbors.Distances = append(neighbors.Distances, truth.Distance(vector.L2, []float32{q}, base[id:id+1]))
		}
	}
	var queries []ANN
	for q, got := range [][]int64{{0, 1, 2, 9}, {9, 8, 7, 6}} {
		var distances []float64
		for _, id := range got {
			distances = append(distances, truth.Distance(vector.L2, []float32{float32(9 * q)}, base[id:id+1]))
		}
		ids, exact := neighbors.Row(q)
		queries = append(queries, Query(ids, exact, got, distances, m))
	}
	check := func(what string, queries []ANN, m, depth, rows int, want float64) {
		t.Helper()
		got, err := BuildCheck(queries, m, depth, rows)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		} else if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	check("three of four, and all", queries, m, neighbors.K, len(base), 0.875)
	check("a failed query is zero", append(slices.Clone(queries), ANN{}), m, neighbors.K, len(base), 1.75/3)
	check("a query without truth is left out", append(slices.Clone(queries), ANN{ByID: math.NaN(), ByDistance: math.NaN()}), m, neighbors.K, len(base), 0.875)
	check("no queries", nil, m, neighbors.K, len(base), math.NaN())
	check("M beyond the base", []ANN{{ByDistance: 1}}, 48, 6, 6, 1)

	for _, bad := range [][3]int{{0, 6, 10}, {-1, 6, 10}, {7, 6, 10}, {48, 9, 10}} {
		if got, err := BuildCheck(queries, bad[0], bad[1], bad[2]); err == nil || !math.IsNaN(got) {
			t.Errorf("m=%d, depth %d, %d rows: got %v and no error", bad[0], bad[1], bad[2], got)
		}
	}
}

// A row as near as the last one does the graph no harm.
func TestBuildCheckCountsByDistance(t *testing.T) {
	q := Query([]int64{1, 2, 3}, []float64{1, 2, 2}, []int64{1, 3}, []float64{1, 2}, 2)
	if got, err := BuildCheck([]ANN{q}, 2, 3, 3); err != nil || got != 1 {
		t.Errorf("got %v, %v, want 1", got, err)
	}
}
