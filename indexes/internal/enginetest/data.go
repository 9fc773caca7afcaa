// Package enginetest is what every engine has to pass: the same questions, checked against exact search in float64.
package enginetest

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"frontier/indexes"
	"frontier/internal/testdata"
	"frontier/internal/vector"
)

// SIFT is the base and the query vectors of the sift5k test data: 4900 and 100 rows of 128.
func SIFT(t testing.TB) (base, queries *vector.Matrix) {
	t.Helper()
	return readFvecs(t, "sift5k/base.fvecs"), readFvecs(t, "sift5k/query.fvecs")
}

func readFvecs(t testing.TB, name string) *vector.Matrix {
	t.Helper()
	raw, err := os.ReadFile(testdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	dim := int(binary.LittleEndian.Uint32(raw))
	var values []float32
	for ; len(raw) > 0; raw = raw[4+4*dim:] {
		for i := range dim {
			values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(raw[4+4*i:])))
		}
	}
	return Matrix(t, values, dim)
}

// Matrix wraps values.
func Matrix(t testing.TB, values []float32, dim int) *vector.Matrix {
	t.Helper()
	m, err := vector.NewMatrix(values, dim)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Clustered is n rows of dim values around 20 centres, the same for the same seed.
func Clustered(t testing.TB, n, dim int, seed uint64) *vector.Matrix {
	t.Helper()
	centres := rand.New(rand.NewPCG(1, 1))
	var centre [20][]float32
	for c := range centre {
		for range dim {
			centre[c] = append(centre[c], float32(centres.NormFloat64()))
		}
	}
	r := rand.New(rand.NewPCG(seed, 2))
	values := make([]float32, 0, n*dim)
	for range n {
		c := centre[r.IntN(len(centre))]
		for j := range dim {
			values = append(values, c[j]+0.5*float32(r.NormFloat64()))
		}
	}
	return Matrix(t, values, dim)
}

// Score is the score of a row as package indexes defines it, in float64.
func Score(m vector.Metric, q, row []float32) float64 {
	switch m {
	case vector.L2:
		var sum float64
		for i, v := range row {
			d := float64(q[i]) - float64(v)
			sum += d * d
		}
		return -sum
	case vector.IP:
		return dot(q, row)
	}
	norms := math.Sqrt(dot(q, q)) * math.Sqrt(dot(row, row))
	if norms == 0 {
		return 0
	}
	return dot(q, row) / norms
}

func dot(a, b []float32) float64 {
	var sum float64
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return sum
}

// Exact is the ids of the k best rows, ties to the smaller id.
func Exact(base *vector.Matrix, m vector.Metric, q []float32, k int) []int64 {
	k = min(k, base.Len())
	scores := make([]float64, base.Len())
	for i := range scores {
		scores[i] = Score(m, q, base.Row(i))
	}
	sorted := slices.Clone(scores)
	slices.Sort(sorted)
	limit := sorted[len(sorted)-k]
	var ids []int64
	for i, score := range scores {
		if score >= limit {
			ids = append(ids, int64(i))
		}
	}
	slices.SortFunc(ids, func(a, b int64) int {
		if c := cmp.Compare(scores[b], scores[a]); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return ids[:k]
}

// Recall is the mean share of the k best rows that x finds, an equally good row counting as well.
func Recall(t testing.TB, x indexes.Index, base, queries *vector.Matrix, m vector.Metric, k int) float64 {
	t.Helper()
	var found, wanted int
	var hits []indexes.Hit
	var err error
	for i := range queries.Len() {
		q := queries.Row(i)
		truth := Exact(base, m, q, k)
		limit := Score(m, q, base.Row(int(truth[len(truth)-1])))
		limit -= 1e-6 * math.Abs(limit)
		if hits, err = x.Search(indexes.Query{Vector: q}, k, hits); err != nil {
			t.Fatal(err)
		}
		checkHits(t, hits, k, base.Len())
		for _, h := range hits {
			if Score(m, q, base.Row(int(h.ID))) >= limit {
				found++
			}
		}
		wanted += len(truth)
	}
	return float64(found) / float64(wanted)
}

// checkHits fails unless the hits are distinct rows, best first.
func checkHits(t testing.TB, hits []indexes.Hit, k, rows int) {
	t.Helper()
	if len(hits) > k {
		t.Fatalf("asked for %d hits, got %d", k, len(hits))
	}
	seen := map[int64]bool{}
	for i, h := range hits {
		if h.ID < 0 || h.ID >= int64(rows) {
			t.Fatalf("hit %d is row %d of %d", i, h.ID, rows)
		}
		if seen[h.ID] {
			t.Fatalf("row %d was found twice", h.ID)
		}
		seen[h.ID] = true
		if i > 0 && (hits[i-1].Score < h.Score || hits[i-1].Score == h.Score && hits[i-1].ID > h.ID) {
			t.Fatalf("hits %d and %d are out of order: %v, %v", i-1, i, hits[i-1], h)
		}
		if h.Score != h.Score {
			t.Fatalf("hit %d has no score", i)
		}
	}
}
