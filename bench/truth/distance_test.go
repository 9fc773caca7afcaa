package truth

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"frontier/internal/vector"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		name   string
		metric vector.Metric
		a, b   []float32
		want   float64
	}{
		{"l2", vector.L2, []float32{1, 2, 3, 4, 5}, []float32{0, 2, 1, 4, 8}, 14},
		{"ip", vector.IP, []float32{1, 2, 3, 4, 5}, []float32{0, 2, 1, -4, 8}, -31},
		{"cosine of orthogonal", vector.Cosine, []float32{1, 0}, []float32{0, 5}, 1},
		{"cosine of opposite", vector.Cosine, []float32{1, 2}, []float32{-2, -4}, 2},
		{"cosine of parallel", vector.Cosine, []float32{3, 4}, []float32{6, 8}, 0},
		{"cosine", vector.Cosine, []float32{1, 0}, []float32{3, 4}, 0.4},
		{"cosine with zero", vector.Cosine, []float32{0, 0}, []float32{3, 4}, 1},
		{"cosine of zeros", vector.Cosine, []float32{0, 0}, []float32{0, 0}, 1},
		{"l2 beyond float32", vector.L2, []float32{1e30}, []float32{-1e30}, 4e60},
		{"cosine of the smallest", vector.Cosine, []float32{1e-45, 0}, []float32{1e-45, 0}, 0},
		{"cosine of the largest", vector.Cosine, []float32{math.MaxFloat32, 0}, []float32{0, math.MaxFloat32}, 1},
		{"no dimensions", vector.L2, nil, nil, 0},
		{"other lengths", vector.L2, []float32{1}, []float32{1, 2}, math.NaN()},
		{"other metric", "hamming", []float32{1}, []float32{1}, math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Distance(c.metric, c.a, c.b)
			if math.IsNaN(c.want) != math.IsNaN(got) || math.Abs(got-c.want) > 1e-7*math.Abs(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestDistanceIsSymmetricAndZeroForEqualVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		dim := 1 + rng.IntN(40)
		a, b := make([]float32, dim), make([]float32, dim)
		size := math.Pow(10, 60*rng.Float64()-30)
		for i := range a {
			a[i], b[i] = float32(size*rng.NormFloat64()), float32(size*rng.NormFloat64())
		}
		for _, m := range metrics {
			if ab, ba := Distance(m, a, b), Distance(m, b, a); ab != ba {
				t.Fatalf("%s: %v one way and %v the other", m, ab, ba)
			}
			if d := Distance(m, a, a); m != vector.IP && d != 0 {
				t.Fatalf("%s: a vector is %v from itself", m, d)
			}
		}
	}
}

func TestFromIDsRefuses(t *testing.T) {
	base := matrix(t, []float32{0, 1, 2, 3, 4}, 1)
	query := matrix(t, []float32{0.1}, 1)
	for _, c := range []struct {
		name   string
		metric vector.Metric
		ids    []int64
		k      int
		want   string
	}{
		{"too few", vector.L2, []int64{0}, 2, "1 ids are not 2 for each"},
		{"padding", vector.L2, []int64{0, -1}, 2, "rank 2: id -1"},
		{"beyond the base", vector.L2, []int64{0, 5}, 2, "id 5 is not one of the 5"},
		{"twice", vector.L2, []int64{0, 1, 0}, 3, "id 0 is at ranks 1 and 3"},
		{"order", vector.L2, []int64{0, 2, 1}, 3, "rank 3: row 1 has l2 distance"},
		{"metric", "hamming", []int64{0}, 1, "not a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := FromIDs(base, query, c.metric, c.ids, c.k)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
	// Steps that float32 explains one by one must not add up.
	drift := matrix(t, []float32{1, 0.999996, 0.999992, 0.999988}, 1)
	if _, err := FromIDs(drift, matrix(t, []float32{0}, 1), vector.L2, []int64{0, 1, 2, 3}, 4); err == nil || !strings.Contains(err.Error(), "rank 3") {
		t.Errorf("small steps downwards: got error %v, want one at rank 3", err)
	}
	// What is explained is that of either row: the product with a long one is off by more than that with a short one.
	long := matrix(t, []float32{1000, 1, 0, 1.002}, 2)
	if _, err := FromIDs(long, matrix(t, []float32{0, 1}, 2), vector.IP, []int64{0, 1}, 2); err != nil {
		t.Errorf("a long row before a short one: %v", err)
	}
	if _, err := FromIDs(long, matrix(t, []float32{0, 1}, 2), vector.IP, []int64{1, 0}, 2); err != nil {
		t.Errorf("a short row before a long one: %v", err)
	}
	// What float32 cannot tell apart may come in either order, and is put right.
	near := matrix(t, []float32{1.0000001, 1}, 1)
	got, err := FromIDs(near, matrix(t, []float32{0}, 1), vector.L2, []int64{0, 1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got.IDs[0] != 1 || got.IDs[1] != 0 {
		t.Errorf("got ids %v, want the nearer first", got.IDs)
	}
}
