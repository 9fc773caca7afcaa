package machine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"frontier/internal/kernels"
)

const (
	throughputDim  = 128
	throughputRows = 32 // 16 KiB of rows: they stay in the first cache
)

// MeasureMultiplyAdd is how many floating point operations a second workers goroutines reach together in frontier's own
// kernel for inner products, on vectors that stay in the cache: a multiplication and an addition count as two. It is the
// best of a few stretches of d in all, and the most that exact search can hope for. It is an error if the kernel's answer
// is wrong.
func MeasureMultiplyAdd(ctx context.Context, workers int, d time.Duration) (perSecond float64, err error) {
	const dim, rows, tile = throughputDim, throughputRows, kernels.TileQueries
	type operands struct{ queries, rows, dst []float32 }
	all := make([]operands, workers)
	for w := range all {
		o := operands{make([]float32, tile*dim), make([]float32, rows*dim), make([]float32, rows*tile)}
		for i := range o.queries {
			o.queries[i] = float32(i/dim + 1)
		}
		for i := range o.rows {
			o.rows[i] = float32(i/dim%4 + 1)
		}
		all[w] = o
	}
	var wrong atomic.Bool
	perSecond, err = bestRate(ctx, workers, d, func(w int) float64 {
		const calls = 16
		o := all[w]
		for range calls {
			kernels.DotTile(o.dst, o.queries, o.rows, dim)
		}
		for i, got := range o.dst { // small whole numbers, whose sums are exact in any order
			if got != float32(dim*(i/tile%4+1)*(i%tile+1)) {
				wrong.Store(true)
			}
		}
		return calls * 2 * dim * rows * tile
	})
	if err == nil && wrong.Load() {
		return 0, errors.New("the kernel " + kernels.Variant() + " computes wrong inner products on this machine")
	}
	return perSecond, err
}
