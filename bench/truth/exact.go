package truth

import (
	"context"
	"fmt"

	"frontier/internal/vector"
)

const (
	// minShardRows is how many rows a goroutine looks at in one go where it does little with each.
	minShardRows = 4096
	// exactBytes is how much of the base Exact hands to its Scanner at a time, so that a base that is mapped is read from
	// its file once, and not once for each block of queries.
	exactBytes = 1 << 30
)

// Exact finds the k nearest rows of base for each row of queries under m, on workers goroutines (as many as there are
// processors if workers < 1). Ids and distances equal those of a brute-force search that calls Distance for every pair,
// ties to the smaller id: float32 kernels refuse only rows whose distance is too large by more than the error bound
// of float32, and Distance decides on the others. Where k exceeds the number of base rows, K is that number. The base
// may be larger than memory; besides the result, k candidates a query are held.
//
// It refuses k < 1, an empty base, different dimensions, unknown metrics and values that are not finite, and returns
// ctx.Err() soon after ctx is done.
func Exact(ctx context.Context, base, queries *vector.Matrix, m vector.Metric, k, workers int) (*Neighbors, error) {
	n, err := exact(ctx, base, queries, m, k, workers)
	if err != nil {
		return nil, fmt.Errorf("exact neighbours of %d queries in %d rows: %w", queries.Len(), base.Len(), err)
	}
	return n, nil
}

func exact(ctx context.Context, base, queries *vector.Matrix, m vector.Metric, k, workers int) (*Neighbors, error) {
	if base.Len() == 0 {
		return nil, fmt.Errorf("the base has no rows")
	}
	s, err := NewScanner(queries, m, min(k, base.Len()), workers)
	if err != nil {
		return nil, err
	}
	for _, part := range spans(base.Len(), max(exactBytes/(4*base.Dim()), 1)) {
		rows, err := vector.NewMatrix(base.Rows(part.from, part.to), base.Dim())
		if err != nil {
			return nil, err
		}
		if err := s.Add(ctx, rows, int64(part.from)); err != nil {
			return nil, err
		}
	}
	return s.Neighbors(), nil
}

// span is the rows [from, to).
type span struct{ from, to int }

// spans divides n rows into pieces of size rows, of which the last may be shorter.
func spans(n, size int) []span {
	var all []span
	for from := 0; from < n; from += size {
		all = append(all, span{from, min(from+size, n)})
	}
	return all
}

// NotFiniteError is a NaN or an infinity among the values: no order of distances exists with them.
type NotFiniteError struct {
	What  string // "base" or "query"
	Row   int64
	Dim   int
	Value float32
}

func (e *NotFiniteError) Error() string {
	return fmt.Sprintf("%s row %d holds %v at dimension %d; remove or repair the row", e.What, e.Row, e.Value, e.Dim)
}

// checkFinite refuses NaN and infinities. Row 0 of m is called firstID.
func checkFinite(what string, m *vector.Matrix, rows span, firstID int64) error {
	for i := rows.from; i < rows.to; i++ {
		for j, v := range m.Row(i) {
			// Of all values, only those that are not finite leave something when subtracted from themselves.
			if v-v != 0 {
				return &NotFiniteError{What: what, Row: firstID + int64(i), Dim: j, Value: v}
			}
		}
	}
	return nil
}
