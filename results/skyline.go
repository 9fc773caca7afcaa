package results

import "slices"

// Of more points than these, the ones that a few good ones dominate are dropped before the others are sorted.
const (
	fewPoints  = 4096
	sampleSize = 8192
	mostStrong = 64
)

// survivors leaves out points that some others dominate, cheaply, and keeps the rest in their order: it takes the
// frontier of a regular sample, and of it the points that dominate most. What it leaves is less to be sorted (after the
// elimination filter of Godfrey, Shipley and Gryz, VLDB Journal 16, 2007).
func survivors(costs [][]float64, points []int) []int {
	if len(points) <= fewPoints {
		return points
	}
	sample := every(points, sampleSize)
	strong := strongest(costs, every(frontAmong(costs, sample), 512), every(sample, 1024))
	out := make([]int, 0, len(points)/8)
	for _, k := range points {
		if !slices.ContainsFunc(strong, func(a int) bool { return dominatesAt(costs, a, costs, k) }) {
			out = append(out, k)
		}
	}
	return out
}

// every takes up to n points at equal steps.
func every(points []int, n int) []int {
	if len(points) <= n {
		return points
	}
	out := make([]int, n)
	for i := range out {
		out[i] = points[i*len(points)/n]
	}
	return out
}

// strongest takes from the front, one after the other, the point that dominates most of what is left of the sample.
func strongest(costs [][]float64, front, sample []int) []int {
	left := slices.Clone(sample)
	var out []int
	for len(out) < mostStrong && len(left) > 0 {
		best, most := -1, 0
		for _, a := range front {
			n := 0
			for _, k := range left {
				if dominatesAt(costs, a, costs, k) {
					n++
				}
			}
			if n > most {
				best, most = a, n
			}
		}
		if best < 0 {
			break
		}
		out = append(out, best)
		left = slices.DeleteFunc(left, func(k int) bool { return dominatesAt(costs, best, costs, k) })
	}
	return out
}
