package machine

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"frontier/internal/kernels"
)

const (
	throughputDim   = 128
	throughputBytes = 32 << 10 // of rows: they stay in the first cache
)

// MeasureMultiplyAdd is how many floating point operations a second workers goroutines reach together in frontier's own
// kernel for inner products of float32, on vectors that stay in the cache: a multiplication and an addition count as two.
// It is the best of a few stretches of d in all, and the most that exact search can hope for where it compares in
// float32 only. It is an error if the kernel's answer is wrong.
func MeasureMultiplyAdd(ctx context.Context, workers int, d time.Duration) (perSecond float64, err error) {
	const dim = throughputDim
	queries := kernels.TileShape().Queries
	panel, limits, value := kernels.NewPanel(dim), make([]float32, queries), make([]float32, dim)
	fill := func(v int) []float32 {
		for i := range value {
			value[i] = float32(v)
		}
		return value
	}
	for j := range queries {
		panel.Set(j, fill(j+1))
		limits[j] = float32(math.Inf(1))
	}
	limits[0] = dim // what the first query has with the first row, so that there is something to check
	type operands struct {
		tile   *kernels.Tile
		sifted *kernels.Sifted
	}
	all, zeros := make([]operands, workers), make([]float32, dim)
	for w := range all {
		tile := kernels.NewTile(throughputBytes, dim)
		for i := range tile.Cap() {
			tile.Pack(i, fill(i%4+1), zeros, 1)
			tile.SetOffset(i, 0)
		}
		tile.SetRows(tile.Cap())
		all[w] = operands{tile, kernels.NewSifted(tile)}
	}
	var wrong atomic.Bool
	perSecond, err = bestRate(ctx, workers, d, func(w int) float64 {
		const calls = 16
		o := all[w]
		for range calls {
			o.sifted.Sift(panel, o.tile, limits)
		}
		for i := range o.sifted.Rows() { // small whole numbers, whose sums are exact in any order
			row, mask, scores := o.sifted.Row(i)
			for j, got := range scores {
				if mask != 1 || got != float32(dim*(row%4+1)*(j+1)) {
					wrong.Store(true)
				}
			}
		}
		if o.sifted.Rows() != o.tile.Cap() {
			wrong.Store(true)
		}
		return float64(calls * 2 * dim * o.tile.Cap() * queries)
	})
	if err == nil && wrong.Load() {
		return 0, errors.New("the kernel " + kernels.Variant() + " computes wrong inner products on this machine")
	}
	return perSecond, err
}
