package recall

import (
	"math"
	"slices"
)

// Summary is the recall of many queries: means over them, and the tail by id, which is what users feel.
type Summary struct {
	Queries                           int
	ByID, ByDistance, TieLow, TieHigh float64 // means; NaN without queries
	// P05 is the 5th percentile of ByID over the queries: the largest recall that at least 95% of them reach.
	P05                        float64
	Padding, Duplicates, Short int // totals
}

// Summarize adds up the recalls of all queries. A query that failed belongs in it as a zero ANN. Queries whose recall is
// NaN make the means NaN.
func Summarize(queries []ANN) Summary {
	s := Summary{Queries: len(queries), P05: math.NaN()}
	byID := make([]float64, len(queries))
	for i, q := range queries {
		byID[i] = q.ByID
		s.ByID += q.ByID
		s.ByDistance += q.ByDistance
		s.TieLow += q.TieLow
		s.TieHigh += q.TieHigh
		s.Padding += q.Padding
		s.Duplicates += q.Duplicates
		s.Short += q.Short
	}
	n := float64(len(queries))
	s.ByID, s.ByDistance, s.TieLow, s.TieHigh = s.ByID/n, s.ByDistance/n, s.TieLow/n, s.TieHigh/n
	if len(byID) > 0 {
		slices.Sort(byID)
		// Of n sorted values, floor(n/20) may lie below.
		s.P05 = byID[len(byID)/20]
	}
	return s
}
