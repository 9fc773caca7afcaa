package truth

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"frontier/internal/kernels"
	"frontier/internal/knn"
	"frontier/internal/vector"
)

// Scanner finds the exact nearest neighbours of a fixed set of queries among base rows that are handed to it block by
// block, so that the base need never be in memory as a whole. What it finds does not depend on how the base is cut into
// blocks, on the order of the blocks or on the number of workers: it is what Exact finds in all of them together.
//
// It holds its queries, k candidates a query, and what ScannerBytes counts beside these. Exact and the search through
// files are both built on it. It is for one goroutine; Add itself uses many.
type Scanner struct {
	queries *vector.Matrix
	metric  vector.Metric
	k       int
	workers int

	squares []float64 // squared norms of the queries
	found   []nearest // of each query, in one array of candidates
	search  *knn.Search

	block   *vector.Matrix // in work
	firstID int64
	rows    int64
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
	n := queries.Len()
	if err := checkFinite("query", queries, span{0, n}, 0); err != nil {
		return nil, err
	}
	s := &Scanner{
		queries: queries, metric: m, k: k, workers: workers,
		squares: make([]float64, n), found: make([]nearest, n),
	}
	s.search = knn.New(knn.Config{Queries: queries, Metric: m, K: k, Workers: workers, Ranker: ranker{s}, Finite: s.finite})
	candidates := make([]neighbor, n*k)
	for q := range n {
		row := queries.Row(q)
		s.squares[q] = kernels.Dot64(row, row)
		s.found[q] = nearest{k: k, heap: candidates[q*k : q*k : (q+1)*k]}
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
	queryBytes    = 40       // what is held of a query beside its values and candidates
	scannerBytes  = 64 << 10 // the Scanner itself, what goroutines need, and what sizes are rounded up to
)

// ScannerBytes is the most memory that a Scanner holds beside its queries and the block of rows in work, for any
// metric. It does not depend on the rows.
func ScannerBytes(queries, dim, k, workers int) int64 {
	return int64(queries)*(neighborBytes*int64(k)+queryBytes) + knn.Bytes(queries, dim, k, workers) + scannerBytes
}

// Add compares rows with all queries; their ids are firstID, firstID+1, ... A row must not be added twice. It refuses
// rows of another dimension and values that are not finite, a *NotFiniteError. It returns ctx.Err() soon after ctx is
// done. After an error the Scanner has seen a part of the rows, and must not be used any more.
func (s *Scanner) Add(ctx context.Context, rows *vector.Matrix, firstID int64) error {
	if rows.Dim() != s.queries.Dim() {
		return fmt.Errorf("base rows have %d dimensions and queries %d; both must come from the same embedding", rows.Dim(), s.queries.Dim())
	}
	s.block, s.firstID = rows, firstID
	if err := s.search.Add(ctx, rows, nil); err != nil {
		return err
	}
	s.block = nil
	s.rows += int64(rows.Len())
	return nil
}

// finite refuses a row of the block in work that holds a NaN or an infinity.
func (s *Scanner) finite(row int) error {
	return checkFinite("base", s.block, span{row, row + 1}, s.firstID)
}

// ranker ranks by Distance what the search hands on.
type ranker struct{ *Scanner }

func (r ranker) Rank(query int, rows []int32) {
	found := &r.found[query]
	for ; len(rows) >= 4; rows = rows[4:] {
		four := [4]int32(rows)
		for i, d := range r.distances(query, four) {
			found.offer(neighbor{d, r.firstID + int64(four[i])})
		}
	}
	for _, row := range rows {
		found.offer(neighbor{Distance(r.metric, r.queries.Row(query), r.block.Row(int(row))), r.firstID + int64(row)})
	}
}

func (r ranker) Worst(query int) float64 {
	if found := &r.found[query]; found.full() {
		return found.worst()
	}
	return math.Inf(1)
}

// distances is Distance of the query and each of four rows of the block in work.
func (s *Scanner) distances(query int, rows [4]int32) [4]float64 {
	q := s.queries.Row(query)
	var values [4][]float32
	for i, row := range rows {
		values[i] = s.block.Row(int(row))
	}
	if s.metric == vector.L2 {
		return kernels.SquaredL264Four(q, values)
	}
	d := kernels.Dot64Four(q, values)
	if s.metric == vector.IP {
		for i := range d {
			d[i] = -d[i]
		}
		return d
	}
	squares := kernels.Square64Four(values)
	for i := range d {
		d[i] = cosineDistance(d[i], s.squares[query], squares[i])
	}
	return d
}

// K is how many neighbours of each query are known: k, or the number of rows added if that is smaller.
func (s *Scanner) K() int { return int(min(int64(s.k), s.rows)) }

// Rows is how many base rows were added.
func (s *Scanner) Rows() int64 { return s.rows }

// Row writes the K nearest of query q into ids and distances, nearest first. More rows may be added afterwards.
func (s *Scanner) Row(q int, ids []int64, distances []float64) {
	s.row(q, ids, distances, make([]neighbor, 0, s.k))
}

// row is Row with room for k neighbors.
func (s *Scanner) row(q int, ids []int64, distances []float64, room []neighbor) {
	sorted := nearest{heap: append(room[:0], s.found[q].heap...)}
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
}

// Neighbors is what was found so far, of all queries.
func (s *Scanner) Neighbors() *Neighbors {
	k, queries := s.K(), s.queries.Len()
	n := &Neighbors{K: k, IDs: make([]int64, queries*k), Distances: make([]float64, queries*k)}
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(s.workers, queries) {
		all.Go(func() {
			room := make([]neighbor, 0, s.k)
			for q := int(next.Add(1)) - 1; q < queries; q = int(next.Add(1)) - 1 {
				s.row(q, n.IDs[q*k:(q+1)*k], n.Distances[q*k:(q+1)*k], room)
			}
		})
	}
	all.Wait()
	return n
}
