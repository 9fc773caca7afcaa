package flat

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"frontier/indexes"
	"frontier/internal/kernels"
	"frontier/internal/knn"
	"frontier/internal/vector"
)

// maxSize is how large values may be for their squares, and sums of these, to stay in the range of float32.
const maxSize = 1e15

// SearchBatch compares all queries with all rows in tiles, and takes the scores of what can be among the k best as
// Search does. Hits are those of Search, to the bit.
func (x *index) SearchBatch(ctx context.Context, queries []indexes.Query, k int, allowed *indexes.IDSet, threads int, dst [][]indexes.Hit) error {
	if len(dst) != len(queries) {
		return fmt.Errorf("%s: room for the hits of %d queries, but there are %d", name, len(dst), len(queries))
	}
	if threads < 1 {
		return fmt.Errorf("%s: searching needs at least 1 thread, not %d", name, threads)
	}
	if allowed != nil {
		if err := indexes.CheckAllowed(name, allowed, x.Len()); err != nil {
			return err
		}
	}
	dim := x.vectors.Dim()
	size := x.size()
	values := make([]float32, 0, len(queries)*dim)
	for i, q := range queries {
		if err := indexes.CheckQuery(name, q, k, dim); err != nil {
			return fmt.Errorf("query %d: %w", i, err)
		}
		values = append(values, q.Vector...)
		size = max(size, largest(q.Vector))
	}
	// Where float32 overflows, scores are no guide to what the tiles may leave out.
	if len(queries) == 0 || !(size < maxSize/float64(dim)) {
		return x.oneByOne(ctx, queries, k, allowed, threads, dst)
	}
	matrix, err := vector.NewMatrix(values, dim)
	if err != nil {
		return err
	}
	r := &ranker{index: x, queries: matrix, top: make([]indexes.TopK, len(queries))}
	for i := range r.top {
		r.top[i].Reset(dst[i], min(k, x.Len()))
	}
	if x.metric == vector.Cosine {
		for i := range queries {
			kernels.Normalize(matrix.Row(i), matrix.Row(i))
		}
	}
	search := knn.New(knn.Config{
		Queries: matrix, Metric: x.metric, K: min(k, x.Len()), Workers: threads, Ranker: r, Roundings: dim + 8,
	})
	var has func(row int) bool
	if allowed != nil {
		has = func(row int) bool { return allowed.Has(int64(row)) }
	}
	if err := search.Add(ctx, x.vectors, has); err != nil {
		return err
	}
	for i := range dst {
		dst[i] = r.top[i].Sorted()
	}
	return nil
}

// oneByOne answers each query with Search or SearchFiltered.
func (x *index) oneByOne(ctx context.Context, queries []indexes.Query, k int, allowed *indexes.IDSet, threads int, dst [][]indexes.Hit) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(threads)
	for i, q := range queries {
		g.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if allowed == nil {
				dst[i], err = x.Search(q, k, dst[i])
				return err
			}
			dst[i], err = x.SearchFiltered(q, k, allowed, dst[i])
			return err
		})
	}
	return g.Wait()
}

// ranker keeps the best rows of each query by the scores of Search.
type ranker struct {
	*index
	queries *vector.Matrix // as prepare gives them
	top     []indexes.TopK
}

func (r *ranker) Rank(query int, rows []int32) {
	s := r.scratch.Get().(*scratch)
	defer r.scratch.Put(s)
	q := r.queries.Row(query)
	for _, row := range rows {
		r.top[query].Offer(int64(row), r.scores(s, q, int(row), int(row)+1)[0])
	}
}

// Worst is the k-th best score as a distance.
func (r *ranker) Worst(query int) float64 {
	score := float64(r.top[query].Threshold())
	if r.metric == vector.Cosine {
		return 1 - score
	}
	return -score
}

// largest is the largest magnitude of values, NaN or +Inf if one of them is not finite.
func largest(values []float32) float64 {
	var size float32
	for _, v := range values {
		if v < 0 {
			v = -v
		}
		if !(v <= size) {
			if v != v {
				return math.NaN()
			}
			size = v
		}
	}
	return float64(size)
}
