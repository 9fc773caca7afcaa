package truth

import (
	"math"

	"frontier/internal/kernels"
	"frontier/internal/vector"
)

// filter tells from a float32 distance whether a row can be among the nearest, with an error bound that always holds
// (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1): a sum of d float32 products is within
// gamma = d*u/(1-d*u), u = 2^-24, of the sum of their magnitudes. For L2 the terms are the distance itself; for inner
// products the magnitudes are at most the product of the norms.
type filter struct {
	metric    vector.Metric
	gamma     float64
	underflow float64 // what products too small for float32 can lose, absolutely
}

func newFilter(m vector.Metric, dim int) filter {
	// Three roundings more than the products have, for the subtraction and its square under L2.
	du := float64(dim+3) * 0x1p-24
	f := filter{metric: m, gamma: math.Inf(1), underflow: float64(dim) * 0x1p-149}
	if du < 0.5 {
		// The slack covers the float64 roundings of distances, norms and limits.
		f.gamma = du/(1-du) + float64(dim)*0x1p-52 + 1e-12
	}
	return f
}

// tile computes what the filter looks at: squared distances for L2, inner products otherwise.
func (f filter) tile(dst, queries, rows []float32, dim int) {
	if f.metric == vector.L2 {
		kernels.SquaredL2Tile(dst, queries, rows, dim)
		return
	}
	kernels.DotTile(dst, queries, rows, dim)
}

// limit is where rows stop being candidates. A computed squared distance above cut is too far. A computed inner
// product below cut + slope*|row| is too small. What is not finite decides nothing.
type limit struct{ cut, slope float64 }

// limitFor is the limit of a query of the given norm once k rows within distance worst are known.
func (f filter) limitFor(worst, norm float64) limit {
	switch f.metric {
	case vector.L2:
		// computed <= exact*(1+gamma) + underflow, and an exact distance above worst cannot enter.
		return limit{cut: worst*(1+f.gamma) + f.underflow}
	case vector.IP:
		return limit{cut: -worst - f.underflow - 1e-12*math.Abs(worst), slope: -f.gamma * norm}
	default:
		return limit{cut: -f.underflow, slope: (1 - worst - f.gamma) * norm}
	}
}

// tooFar reports whether the row with this computed value and norm surely has more than the distance of the limit.
func (f filter) tooFar(computed float32, norm float64, l limit) bool {
	if !(computed <= math.MaxFloat32 && computed >= -math.MaxFloat32) {
		return false
	}
	if f.metric == vector.L2 {
		return float64(computed) > l.cut
	}
	return float64(computed) < l.cut+l.slope*norm
}
