package truth

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"frontier/internal/kernels"
	"frontier/internal/vector"
)

// Scanner finds the exact nearest neighbours of a fixed set of queries among base rows that are handed to it block by
// block, so that the base need never be in memory as a whole. What it finds does not depend on how the base is cut into
// blocks, on the order of the blocks or on the number of workers: it is what Exact finds in all of them together.
//
// It holds its queries, k candidates a query, and what ScannerBytes counts beside these. Exact and the search through
// files are both built on it, so whoever makes Add faster makes everything faster; ScannerBytes must stay an upper bound.
// It is for one goroutine; Add itself uses many.
type Scanner struct {
	queries *vector.Matrix
	metric  vector.Metric
	filter  filter
	k       int
	workers int

	squares []float64    // squared norms of the queries
	tail    []float32    // the last queries, filled up to TileQueries with copies of the last of them
	found   []nearest    // of each query, in one array of candidates
	limits  []limit      // of each query, as of what was found
	locks   []sync.Mutex // of found and limits: parts of a block may be compared with one query at the same time

	tiles       [][]float32 // what the filter looks at, one a worker
	baseSquares []float64   // squared norms of the rows of the block in work; nil for L2, which needs none
	baseNorms   []float64
	rows        int64
}

// NewScanner prepares a search for the k nearest rows of each query under m, on workers goroutines (as many as there
// are processors if workers < 1). The queries must not change while the Scanner is in use. It refuses k < 1, unknown
// metrics and queries that are not finite.
func NewScanner(queries *vector.Matrix, m vector.Metric, k, workers int) (*Scanner, error) {
	workers = workersOr(workers)
	switch {
	case k < 1:
		return nil, fmt.Errorf("k is %d; ask for at least 1 neighbour", k)
	case m != vector.L2 && m != vector.IP && m != vector.Cosine:
		return nil, fmt.Errorf("unknown metric %q: use %s, %s or %s", m, vector.L2, vector.IP, vector.Cosine)
	case queries.Len() > math.MaxInt/neighborBytes/k:
		return nil, fmt.Errorf("%d neighbours of %d queries are more than any memory holds", k, queries.Len())
	}
	n, dim := queries.Len(), queries.Dim()
	if err := checkFinite("query", queries, span{0, n}, 0); err != nil {
		return nil, err
	}
	s := &Scanner{
		queries: queries, metric: m, filter: newFilter(m, dim), k: k, workers: workers,
		squares: make([]float64, n), found: make([]nearest, n), limits: make([]limit, n), locks: make([]sync.Mutex, n),
		tiles: make([][]float32, workers),
	}
	candidates := make([]neighbor, n*k)
	for q := range n {
		row := queries.Row(q)
		s.squares[q] = dot(row, row)
		s.found[q] = nearest{k: k, heap: candidates[q*k : q*k : (q+1)*k]}
		s.limits[q] = s.filter.limitFor(math.Inf(1), math.Sqrt(s.squares[q]))
	}
	if rest := n % kernels.TileQueries; rest > 0 {
		s.tail = append(s.tail, queries.Rows(n-rest, n)...)
		for len(s.tail) < kernels.TileQueries*dim {
			s.tail = append(s.tail, queries.Row(n-1)...)
		}
	}
	for w := range s.tiles {
		s.tiles[w] = make([]float32, tileRows(dim)*kernels.TileQueries)
	}
	return s, nil
}

// workersOr is how many goroutines are meant: as many as there are processors where less than one is asked for.
func workersOr(workers int) int {
	if workers < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return workers
}

const (
	neighborBytes = 16       // a candidate: its distance and its id
	queryBytes    = 72       // what is held of a query beside its values and candidates
	scannerBytes  = 64 << 10 // the Scanner itself, what goroutines need, and what sizes are rounded up to
	normBytes     = 16       // what is held of a row of the block in work beside its values, where the metric needs norms
)

// ScannerBytes is the most memory that a Scanner holds beside its queries and the block of rows in work, for any
// metric and blocks of at most rows.
func ScannerBytes(queries, dim, k, workers, rows int) int64 {
	perWorker := 4*int64(tileRows(dim))*kernels.TileQueries + 4<<10
	return int64(queries)*(neighborBytes*int64(k)+queryBytes) + int64(rows)*normBytes + int64(workers)*perWorker +
		4*int64(dim)*2*kernels.TileQueries + scannerBytes
}

// Add compares rows with all queries; their ids are firstID, firstID+1, ... A row must not be added twice. It refuses
// rows of another dimension and values that are not finite, a *NotFiniteError. It returns ctx.Err() soon after ctx is
// done. After an error the Scanner has seen a part of the rows, and must not be used any more.
func (s *Scanner) Add(ctx context.Context, rows *vector.Matrix, firstID int64) error {
	if rows.Dim() != s.queries.Dim() {
		return fmt.Errorf("base rows have %d dimensions and queries %d; both must come from the same embedding", rows.Dim(), s.queries.Dim())
	}
	if err := s.readBlock(ctx, rows, firstID); err != nil {
		return err
	}
	blocks := spans(s.queries.Len(), blockSize(s.queries.Len(), s.workers))
	parts := spans(rows.Len(), shardSize(rows.Len(), len(blocks), s.workers))
	tiles := make(chan []float32, s.workers)
	for _, tile := range s.tiles {
		tiles <- tile
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.workers)
	for _, block := range blocks {
		for _, part := range parts {
			g.Go(func() error {
				computed := <-tiles
				defer func() { tiles <- computed }()
				return s.scan(ctx, computed, rows, firstID, block, part)
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	s.rows += int64(rows.Len())
	return nil
}

// readBlock checks all rows, and takes their norms where the metric needs them, in one pass.
func (s *Scanner) readBlock(ctx context.Context, rows *vector.Matrix, firstID int64) error {
	if s.metric != vector.L2 && len(s.baseNorms) < rows.Len() {
		s.baseSquares, s.baseNorms = make([]float64, rows.Len()), make([]float64, rows.Len())
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(s.workers)
	for _, part := range spans(rows.Len(), minShardRows) {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := checkFinite("base", rows, part, firstID); err != nil || s.metric == vector.L2 {
				return err
			}
			for i := part.from; i < part.to; i++ {
				row := rows.Row(i)
				s.baseSquares[i] = dot(row, row)
				s.baseNorms[i] = math.Sqrt(s.baseSquares[i])
			}
			return nil
		})
	}
	return g.Wait()
}

// scan compares a part of the rows with a block of queries.
func (s *Scanner) scan(ctx context.Context, computed []float32, rows *vector.Matrix, firstID int64, block, part span) error {
	dim := rows.Dim()
	for _, tile := range spansOf(part, tileRows(dim)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		values := rows.Rows(tile.from, tile.to)
		for group := block.from; group < block.to; group += kernels.TileQueries {
			queries := s.tail
			if group+kernels.TileQueries <= s.queries.Len() {
				queries = s.queries.Rows(group, group+kernels.TileQueries)
			}
			s.filter.tile(computed, queries, values, dim)
			for j := range min(kernels.TileQueries, block.to-group) {
				s.sift(computed[j:], rows, firstID, tile, group+j)
			}
		}
	}
	return nil
}

// sift offers the rows of the tile that the filter lets pass to the query's nearest. Every TileQueries-th value of
// computed belongs to the query.
func (s *Scanner) sift(computed []float32, rows *vector.Matrix, firstID int64, tile span, query int) {
	lock, norm := &s.locks[query], 0.0
	lock.Lock()
	cut := s.limits[query]
	lock.Unlock()
	for row, at := tile.from, 0; row < tile.to; row, at = row+1, at+kernels.TileQueries {
		if s.metric != vector.L2 {
			norm = s.baseNorms[row]
		}
		if s.filter.tooFar(computed[at], norm, cut) {
			continue
		}
		candidate := neighbor{s.distance(query, rows, row), firstID + int64(row)}
		lock.Lock()
		if found := &s.found[query]; found.offer(candidate) && found.full() {
			s.limits[query] = s.filter.limitFor(found.worst(), math.Sqrt(s.squares[query]))
		}
		cut = s.limits[query]
		lock.Unlock()
	}
}

// distance is Distance with the squared norms taken from where they are kept.
func (s *Scanner) distance(query int, rows *vector.Matrix, row int) float64 {
	if s.metric == vector.Cosine {
		return cosineDistance(dot(s.queries.Row(query), rows.Row(row)), s.squares[query], s.baseSquares[row])
	}
	return Distance(s.metric, s.queries.Row(query), rows.Row(row))
}

// K is how many neighbours of each query are known: k, or the number of rows added if that is smaller.
func (s *Scanner) K() int { return int(min(int64(s.k), s.rows)) }

// Rows is how many base rows were added.
func (s *Scanner) Rows() int64 { return s.rows }

// Row writes the K nearest of query q into ids and distances, nearest first. More rows may be added afterwards.
func (s *Scanner) Row(q int, ids []int64, distances []float64) {
	sorted := nearest{heap: append(make([]neighbor, 0, s.k), s.found[q].heap...)}
	for rank, n := range sorted.sorted() {
		ids[rank], distances[rank] = n.id, n.distance
	}
}

// candidates is the K nearest of query q in no order. It is valid until the next Add.
func (s *Scanner) candidates(q int) []neighbor { return s.found[q].heap }

// restore takes up the candidates that query q had in a Scanner of the same queries, metric and k.
func (s *Scanner) restore(q int, candidates []neighbor) {
	for _, c := range candidates {
		s.found[q].offer(c)
	}
	if s.found[q].full() {
		s.limits[q] = s.filter.limitFor(s.found[q].worst(), math.Sqrt(s.squares[q]))
	}
}

// Neighbors is what was found so far, of all queries.
func (s *Scanner) Neighbors() *Neighbors {
	k := s.K()
	n := &Neighbors{K: k, IDs: make([]int64, s.queries.Len()*k), Distances: make([]float64, s.queries.Len()*k)}
	for q := range s.queries.Len() {
		s.Row(q, n.IDs[q*k:(q+1)*k], n.Distances[q*k:(q+1)*k])
	}
	return n
}
