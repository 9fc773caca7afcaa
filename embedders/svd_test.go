package embedders

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// randomSparse is a matrix of the given rank at most, with falling singular values, and the same densely.
func randomSparse(rows, cols, rank int) (*sparse, *mat.Dense) {
	rng := rand.New(rand.NewPCG(7, 8))
	dense := mat.NewDense(rows, cols, nil)
	for k := range rank {
		scale := math.Pow(0.7, float64(k))
		u, v := make([]float64, rows), make([]float64, cols)
		for i := range u {
			u[i] = scale * rng.NormFloat64()
		}
		for j := range v {
			if rng.IntN(3) == 0 {
				v[j] = rng.NormFloat64()
			}
		}
		dense.RankOne(dense, 1, mat.NewVecDense(rows, u), mat.NewVecDense(cols, v))
	}
	s := &sparse{rows: rows, cols: cols, start: []int{0}}
	for i := range rows {
		for j := range cols {
			v := float32(dense.At(i, j))
			dense.Set(i, j, float64(v))
			if v != 0 {
				s.col, s.val = append(s.col, int32(j)), append(s.val, v)
			}
		}
		s.start = append(s.start, len(s.col))
	}
	return s, dense
}

func TestSingularVectorsEqualTheExactOnes(t *testing.T) {
	for _, shape := range [][2]int{{150, 90}, {60, 200}, {40, 40}} {
		x, dense := randomSparse(shape[0], shape[1], 30)
		const k = 6
		v, values, err := rightSingular(context.Background(), x, k, 1)
		if err != nil {
			t.Fatal(err)
		}
		var exact mat.SVD
		if !exact.Factorize(dense, mat.SVDThin) {
			t.Fatal("the exact decomposition failed")
		}
		var want mat.Dense
		exact.VTo(&want)
		for j := range k {
			if rel := math.Abs(values[j]/exact.Values(nil)[j] - 1); rel > 1e-6 {
				t.Errorf("%v: singular value %d is off by %g", shape, j, rel)
			}
			dot := 0.0
			for i := range x.cols {
				dot += v[i*len(values)+j] * want.At(i, j)
			}
			if math.Abs(math.Abs(dot)-1) > 1e-6 {
				t.Errorf("%v: vector %d has a cosine of %g with the exact one", shape, j, dot)
			}
		}
	}
}

func TestSingularVectorsDoNotDependOnThreads(t *testing.T) {
	x, _ := randomSparse(700, 500, 400)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want, wantValues, err := rightSingular(context.Background(), x, 150, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{2, 5} {
		runtime.GOMAXPROCS(threads)
		v, values, err := rightSingular(context.Background(), x, 150, 3)
		if err != nil || !slices.Equal(v, want) || !slices.Equal(values, wantValues) {
			t.Errorf("with %d threads the result differs (%v)", threads, err)
		}
	}
	if other, _, _ := rightSingular(context.Background(), x, 150, 4); slices.Equal(other, want) {
		t.Error("another seed gives the same bits")
	}
}

func TestTransposeAndMultiply(t *testing.T) {
	x, dense := randomSparse(130, 70, 5)
	back := x.transpose().transpose()
	if !slices.Equal(back.col, x.col) || !slices.Equal(back.val, x.val) || !slices.Equal(back.start, x.start) {
		t.Error("transposing twice changes the matrix")
	}
	const width = 9
	right := mat.NewDense(x.cols, width, nil)
	for i := range x.cols {
		for j := range width {
			right.Set(i, j, float64(i*j%7)-2)
		}
	}
	var want mat.Dense
	want.Mul(dense, right)
	got := make([]float64, x.rows*width)
	x.multiply(right.RawMatrix().Data, width, got)
	if !mat.EqualApprox(mat.NewDense(x.rows, width, got), &want, 1e-9) {
		t.Error("the product is wrong")
	}
}
