package file

import (
	"iter"
	"math"
)

// Count is the number of points of the grid over axes: the product of their lengths, 1 for no axes. It stops at the
// largest int.
func Count(axes []Axis) int {
	total := 1
	for _, a := range axes {
		switch n := len(a.Values); {
		case n == 0:
			return 0
		case total > math.MaxInt/n:
			total = math.MaxInt
		default:
			total *= n
		}
	}
	return total
}

// Grid yields every combination of one value from each axis, in odometer order: the last axis changes fastest. Value i
// of a point belongs to axes[i]. No axes give one empty point. Each point is a slice of its own.
func Grid(axes []Axis) iter.Seq[[]Value] {
	return func(yield func([]Value) bool) {
		if Count(axes) == 0 {
			return
		}
		digits := make([]int, len(axes))
		for {
			point := make([]Value, len(axes))
			for i, d := range digits {
				point[i] = axes[i].Values[d]
			}
			if !yield(point) {
				return
			}
			i := len(axes) - 1
			for ; i >= 0; i-- {
				if digits[i]++; digits[i] < len(axes[i].Values) {
					break
				}
				digits[i] = 0
			}
			if i < 0 {
				return
			}
		}
	}
}
