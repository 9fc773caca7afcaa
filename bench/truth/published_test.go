package truth

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"frontier/internal/testdata"
	"frontier/internal/vector"
)

// vecs reads rows of an fvecs or ivecs file: an int32 count, then as many 4-byte words.
func vecs[T float32 | int64](t *testing.T, path string, word func(uint32) T) (values []T, dim int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for len(raw) > 0 {
		dim = int(binary.LittleEndian.Uint32(raw))
		raw = raw[4:]
		for range dim {
			values = append(values, word(binary.LittleEndian.Uint32(raw)))
			raw = raw[4:]
		}
	}
	return values, dim
}

func TestExactEqualsPublishedSIFT(t *testing.T) {
	baseData, dim := vecs(t, testdata.Path(t, "sift5k/base.fvecs"), math.Float32frombits)
	queryData, _ := vecs(t, testdata.Path(t, "sift5k/query.fvecs"), math.Float32frombits)
	ids, k := vecs(t, testdata.Path(t, "sift5k/groundtruth.ivecs"), func(v uint32) int64 { return int64(v) })
	squares := npyValues[float32](t, testdata.Path(t, "sift5k/groundtruth_dist2.npy"))
	wantDistances := make([]float64, len(squares))
	for i, v := range squares {
		wantDistances[i] = float64(v)
	}
	base, queries := matrix(t, baseData, dim), matrix(t, queryData, dim)
	got, err := Exact(t.Context(), base, queries, vector.L2, k, 2)
	if err != nil {
		t.Fatal(err)
	}
	// The components are small integers, so that all distances are exact.
	samePublished(t, got, ids, wantDistances, k, 0)
	given, err := FromIDs(base, queries, vector.L2, ids, k)
	if err != nil {
		t.Fatal(err)
	}
	samePublished(t, given, got.IDs, got.Distances, k, 0)
	// Neighbours that are ordered by distance are not ordered by inner product.
	if _, err := FromIDs(base, queries, vector.IP, ids, k); err == nil {
		t.Error("L2 neighbours were taken for inner-product ones")
	}
}

func TestExactEqualsPublishedMiniLM(t *testing.T) {
	base, err := vector.OpenFbin(testdata.Path(t, "minilm778/base.fbin"))
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	queries, err := vector.OpenFbin(testdata.Path(t, "minilm778/query.fbin"))
	if err != nil {
		t.Fatal(err)
	}
	defer queries.Close()
	raw := npyValues[int32](t, testdata.Path(t, "minilm778/groundtruth_cosine_ids.npy"))
	ids := make([]int64, len(raw))
	for i, v := range raw {
		ids[i] = int64(v)
	}
	similarities := npyValues[float32](t, testdata.Path(t, "minilm778/groundtruth_cosine.npy"))
	distances := make([]float64, len(similarities))
	for i, v := range similarities {
		distances[i] = 1 - float64(v)
	}
	k := len(ids) / queries.Len()
	got, err := Exact(t.Context(), base, queries, vector.Cosine, k, 2)
	if err != nil {
		t.Fatal(err)
	}
	samePublished(t, got, ids, distances, k, 1e-6)
	if _, err := FromIDs(base, queries, vector.Cosine, ids, k); err != nil {
		t.Error(err)
	}
}

// samePublished compares ids, except where the distances are equal within tolerance, and all distances.
func samePublished(t *testing.T, got *Neighbors, ids []int64, distances []float64, k int, tolerance float64) {
	t.Helper()
	if got.K != k || len(got.IDs) != len(ids) || len(got.IDs) != len(distances) {
		t.Fatalf("got %d ids, K=%d; want %d, K=%d, and have %d distances", len(got.IDs), got.K, len(ids), k, len(distances))
	}
	differ := 0
	for i := range ids {
		if math.Abs(got.Distances[i]-distances[i]) > tolerance {
			t.Errorf("query %d rank %d: distance %v, want %v", i/k, i%k+1, got.Distances[i], distances[i])
		}
		if got.IDs[i] != ids[i] {
			differ++
		}
	}
	if differ > 0 {
		t.Logf("%d of %d ids differ, all at equal distances", differ, len(ids))
	}
}
