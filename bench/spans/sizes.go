package spans

import "slices"

// Sizes are the realised sizes of chunks, in whatever the lengths count. A quantile p is the smallest length that at least
// p of all do not exceed.
type Sizes struct {
	Chunks             int
	Sum                int64
	Mean               float64
	Min, P05, P50, P95 int
	Max                int
}

// SizesOf summarises lengths; of none it is zero. It sorts a copy.
func SizesOf(lengths []int) Sizes {
	s := Sizes{Chunks: len(lengths)}
	if len(lengths) == 0 {
		return s
	}
	sorted := slices.Clone(lengths)
	slices.Sort(sorted)
	for _, n := range sorted {
		s.Sum += int64(n)
	}
	s.Mean = float64(s.Sum) / float64(len(sorted))
	percentile := func(p int) int { return sorted[max((len(sorted)*p+99)/100, 1)-1] }
	s.Min, s.P05, s.P50, s.P95, s.Max = sorted[0], percentile(5), percentile(50), percentile(95), sorted[len(sorted)-1]
	return s
}
