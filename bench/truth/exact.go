package truth

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"frontier/internal/kernels"
	"frontier/internal/vector"
)

const (
	// tileBytes is how much of the base is compared with a block of queries before the next part is read: half of a
	// small L2 cache.
	tileBytes = 128 << 10
	// maxQueryBlock bounds the queries of a block. The base is read once a block, so with a base larger than memory
	// bigger blocks mean fewer passes over the file.
	maxQueryBlock = 256
	// minShardRows keeps shards of the base long enough that most rows are refused by the float32 filter.
	minShardRows = 4096
)

// Exact finds the k nearest rows of base for each row of queries under m, on workers goroutines (as many as there are
// processors if workers < 1). Ids and distances equal those of a brute-force search that calls Distance for every pair,
// ties to the smaller id: float32 kernels refuse only rows whose distance is too large by more than the error bound
// of float32, and Distance decides on the others. Where k exceeds the number of base rows, K is that number. The base
// may be larger than memory; besides the result, k candidates a query in work are held.
//
// It refuses k < 1, an empty base, different dimensions, unknown metrics and values that are not finite, and returns
// ctx.Err() soon after ctx is done.
func Exact(ctx context.Context, base, queries *vector.Matrix, m vector.Metric, k, workers int) (*Neighbors, error) {
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	s, err := newSearch(ctx, base, queries, m, k, workers)
	if err != nil {
		return nil, fmt.Errorf("exact neighbours: %w", err)
	}
	blocks := spans(queries.Len(), blockSize(queries.Len(), workers))
	shards := spans(base.Len(), shardSize(base.Len(), len(blocks), workers))
	// found[b][s] is what shard s holds for the queries of block b.
	found := make([][][]nearest, len(blocks))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for b, block := range blocks {
		found[b] = make([][]nearest, len(shards))
		for i, shard := range shards {
			g.Go(func() error {
				var err error
				found[b][i], err = s.scan(ctx, block, shard)
				if err == nil && len(shards) == 1 {
					s.keep(block, found[b])
					found[b] = nil
				}
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("exact neighbours of %d queries in %d rows: %w", queries.Len(), base.Len(), err)
	}
	if len(shards) > 1 {
		for b, block := range blocks {
			s.keep(block, found[b])
		}
	}
	return s.out, nil
}

// span is the rows [from, to).
type span struct{ from, to int }

func spans(n, size int) []span {
	var all []span
	for from := 0; from < n; from += size {
		all = append(all, span{from, min(from+size, n)})
	}
	return all
}

// blockSize spreads the queries over the workers, twice as many blocks as workers where there are enough.
func blockSize(queries, workers int) int {
	size := min(max(queries/(2*workers), kernels.TileQueries), maxQueryBlock)
	return size / kernels.TileQueries * kernels.TileQueries
}

// shardSize splits the base only where there are too few blocks of queries to occupy the workers.
func shardSize(rows, blocks, workers int) int {
	if blocks >= workers || blocks == 0 {
		return rows
	}
	shards := min((2*workers+blocks-1)/blocks, max(rows/minShardRows, 1))
	return (rows + shards - 1) / shards
}

// search is one call of Exact.
type search struct {
	base, queries *vector.Matrix
	metric        vector.Metric
	filter        filter
	baseSquares   []float64 // squared norms; nil for L2, which needs none
	baseNorms     []float64
	out           *Neighbors
}

func newSearch(ctx context.Context, base, queries *vector.Matrix, m vector.Metric, k, workers int) (*search, error) {
	switch {
	case k < 1:
		return nil, fmt.Errorf("k is %d; ask for at least 1 neighbour", k)
	case base.Len() == 0:
		return nil, fmt.Errorf("the base has no rows")
	case base.Dim() != queries.Dim():
		return nil, fmt.Errorf("base rows have %d dimensions and queries %d; both must come from the same embedding", base.Dim(), queries.Dim())
	case m != vector.L2 && m != vector.IP && m != vector.Cosine:
		return nil, fmt.Errorf("unknown metric %q: use %s, %s or %s", m, vector.L2, vector.IP, vector.Cosine)
	}
	k = min(k, base.Len())
	s := &search{base: base, queries: queries, metric: m, filter: newFilter(m, base.Dim())}
	if m != vector.L2 {
		s.baseSquares, s.baseNorms = make([]float64, base.Len()), make([]float64, base.Len())
	}
	if err := checkFinite("query", queries, span{0, queries.Len()}); err != nil {
		return nil, err
	}
	if err := s.readBase(ctx, workers); err != nil {
		return nil, err
	}
	s.out = &Neighbors{K: k, IDs: make([]int64, queries.Len()*k), Distances: make([]float64, queries.Len()*k)}
	return s, nil
}

// readBase checks all base rows, and takes their norms where the metric needs them, in one pass.
func (s *search) readBase(ctx context.Context, workers int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for _, part := range spans(s.base.Len(), minShardRows) {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := checkFinite("base", s.base, part); err != nil || s.baseNorms == nil {
				return err
			}
			for i := part.from; i < part.to; i++ {
				row := s.base.Row(i)
				s.baseSquares[i] = dot(row, row)
				s.baseNorms[i] = math.Sqrt(s.baseSquares[i])
			}
			return nil
		})
	}
	return g.Wait()
}

// checkFinite refuses NaN and infinities: no order of distances exists with them.
func checkFinite(what string, m *vector.Matrix, rows span) error {
	for i := rows.from; i < rows.to; i++ {
		for j, v := range m.Row(i) {
			// Of all values, only those that are not finite leave something when subtracted from themselves.
			if v-v != 0 {
				return fmt.Errorf("%s row %d holds %v at dimension %d; remove or repair the row", what, i, v, j)
			}
		}
	}
	return nil
}

// scan finds the nearest rows of the shard for each query of the block.
func (s *search) scan(ctx context.Context, block, shard span) ([]nearest, error) {
	dim, n := s.base.Dim(), block.to-block.from
	// The last group of queries is filled up with copies of the last query, whose results are not looked at.
	padded := (n + kernels.TileQueries - 1) / kernels.TileQueries * kernels.TileQueries
	queries := make([]float32, 0, padded*dim)
	queries = append(queries, s.queries.Rows(block.from, block.to)...)
	for len(queries) < padded*dim {
		queries = append(queries, s.queries.Row(block.to-1)...)
	}
	found := make([]nearest, n)
	squares, limits := make([]float64, n), make([]limit, n)
	for i := range found {
		found[i] = nearest{k: s.out.K, heap: make([]neighbor, 0, min(s.out.K, shard.to-shard.from))}
		query := s.queries.Row(block.from + i)
		squares[i] = dot(query, query)
		limits[i] = s.filter.limitFor(math.Inf(1), math.Sqrt(squares[i]))
	}
	tileRows := max(tileBytes/(4*dim), 1)
	computed := make([]float32, tileRows*kernels.TileQueries)
	for from := shard.from; from < shard.to; from += tileRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tile := span{from, min(from+tileRows, shard.to)}
		rows := s.base.Rows(tile.from, tile.to)
		for group := 0; group < n; group += kernels.TileQueries {
			s.filter.tile(computed, queries[group*dim:(group+kernels.TileQueries)*dim], rows, dim)
			for j := range min(kernels.TileQueries, n-group) {
				i := group + j
				s.sift(computed[j:], tile, block.from+i, squares[i], &limits[i], &found[i])
			}
		}
	}
	return found, nil
}

// sift offers the rows of the tile that the filter lets pass to the query's nearest. Every TileQueries-th value of
// computed belongs to the query.
func (s *search) sift(computed []float32, tile span, query int, square float64, l *limit, found *nearest) {
	cut, norm := *l, 0.0
	for row, at := tile.from, 0; row < tile.to; row, at = row+1, at+kernels.TileQueries {
		if s.baseNorms != nil {
			norm = s.baseNorms[row]
		}
		if s.filter.tooFar(computed[at], norm, cut) {
			continue
		}
		if found.offer(neighbor{s.distance(query, row, square), int64(row)}) && found.full() {
			cut = s.filter.limitFor(found.worst(), math.Sqrt(square))
		}
	}
	*l = cut
}

// distance is Distance with the squared norms taken from where they are kept.
func (s *search) distance(query, row int, square float64) float64 {
	if s.metric == vector.Cosine {
		return cosineDistance(dot(s.queries.Row(query), s.base.Row(row)), square, s.baseSquares[row])
	}
	return Distance(s.metric, s.queries.Row(query), s.base.Row(row))
}

// keep merges what the shards found for the block's queries into the result.
func (s *search) keep(block span, shards [][]nearest) {
	for i := range block.to - block.from {
		all := nearest{k: s.out.K}
		for _, shard := range shards {
			if len(shards) == 1 {
				all = shard[i]
				break
			}
			for _, n := range shard[i].heap {
				all.offer(n)
			}
		}
		ids, distances := s.out.Row(block.from + i)
		for rank, n := range all.sorted() {
			ids[rank], distances[rank] = n.id, n.distance
		}
	}
}
