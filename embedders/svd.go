package embedders

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

const (
	// oversampling and powerIterations are what Halko, Martinsson and Tropp (SIAM Review 53, 2011) recommend for
	// spectra that decay slowly, as those of text do.
	oversampling    = 10
	powerIterations = 2
	// rankTolerance, relative to the largest singular value, is below what text gives and above what rounding gives.
	rankTolerance = 1e-9
)

// rightSingular computes the leading right singular vectors of x by a randomised range finder. It returns them as the
// columns of v, x.cols x width, row-major, with their singular values, descending, where width is k plus some
// oversampling, or less if x is smaller. Vectors are signed so that their largest component is positive. The result
// depends on the seed, but not on the number of threads.
func rightSingular(ctx context.Context, x *sparse, k int, seed uint64) (v []float64, values []float64, err error) {
	width := min(k+oversampling, x.rows, x.cols)
	xt := x.transpose()
	tall, wide := make([]float64, x.rows*width), make([]float64, x.cols*width)
	rng := rand.New(rand.NewPCG(seed, 0x6c7361))
	for i := range wide {
		wide[i] = rng.NormFloat64()
	}
	x.multiply(wide, width, tall)
	for range powerIterations {
		orthonormalize(tall, x.rows, width, nil)
		xt.multiply(tall, width, wide)
		orthonormalize(wide, x.cols, width, nil)
		x.multiply(wide, width, tall)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
	}
	orthonormalize(tall, x.rows, width, nil)
	xt.multiply(tall, width, wide)
	// x is nearly Q B, where the rows of B are those of wide transposed = R' Q2'; the right vectors of B are Q2 U for
	// the left vectors U of R.
	r := mat.NewDense(width, width, nil)
	orthonormalize(wide, x.cols, width, r)
	var small mat.SVD
	if !small.Factorize(r, mat.SVDThin) {
		return nil, nil, errors.New("the singular values did not converge")
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var u mat.Dense
	small.UTo(&u)
	out := mat.NewDense(x.cols, width, nil)
	out.Mul(mat.NewDense(x.cols, width, wide), &u)
	fixSigns(out)
	return out.RawMatrix().Data, small.Values(nil), nil
}

// orthonormalize replaces the columns of a, rows x cols with rows >= cols, by an orthonormal basis of their span, filled
// up where they are dependent (Householder QR). If r is not nil it receives the triangular factor.
func orthonormalize(a []float64, rows, cols int, r *mat.Dense) {
	g := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: a}
	tau := make([]float64, cols)
	work := make([]float64, 1)
	lapack64.Geqrf(g, tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Geqrf(g, tau, work, len(work))
	if r != nil {
		for i := range cols {
			for j := i; j < cols; j++ {
				r.Set(i, j, a[i*cols+j])
			}
		}
	}
	work = work[:1]
	lapack64.Orgqr(g, tau, work, -1)
	work = make([]float64, int(work[0]))
	lapack64.Orgqr(g, tau, work, len(work))
}

// fixSigns makes the component of largest magnitude of every column positive.
func fixSigns(m *mat.Dense) {
	rows, cols := m.Dims()
	for j := range cols {
		largest := 0.0
		for i := range rows {
			if x := m.At(i, j); math.Abs(x) > math.Abs(largest) {
				largest = x
			}
		}
		if largest < 0 {
			for i := range rows {
				m.Set(i, j, -m.At(i, j))
			}
		}
	}
}
