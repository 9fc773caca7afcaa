// Package knn finds, among many rows, the few that can be among the k nearest of each of many queries. It compares in
// float32, with kernels that run near the speed of the hardware, and refuses a row only where it is too far by more than
// the error bound of float32. Whoever uses it ranks the others by a distance of their own.
package knn

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"frontier/internal/kernels"
	"frontier/internal/vector"
)

// Ranker ranks candidates. It is called by several goroutines, but by one at a time for a query.
type Ranker interface {
	// Rank considers rows of the block in work for the query. Of rows that are as near, it must prefer those with smaller
	// numbers: others may be left out.
	Rank(query int, rows []int32)
	// Worst is the distance of the query's k-th nearest so far, smaller is nearer, or +Inf while fewer than k are known.
	Worst(query int) float64
}

// Config says what is searched for.
type Config struct {
	Queries *vector.Matrix // of finite values; not to be changed while the Search is in use
	Metric  vector.Metric
	K       int // at least 1
	Workers int // goroutines; at least 1
	Ranker  Ranker
	// Roundings is how many roundings of float32 the Ranker's distances may be from exact arithmetic: relative to the
	// distance for L2, to the product of the norms for IP, and absolute for Cosine. Distances in float64 have none.
	Roundings int
	// Finite returns an error if the row of the block holds a value that is not finite; nil where all are known to be.
	Finite func(row int) error
}

// The sizes of what is in work at the same time.
const (
	// tileBytes of rows stay in the second level of the cache while all queries of a block are compared with them.
	tileBytes = 192 << 10
	// blockBytes of queries stay in the third level. The rows are read once a block.
	blockBytes = 4 << 20
	// candidateBytes bounds the candidates of a block of queries.
	candidateBytes = 16 << 20
	// sampleEvery is how many tiles there are for one that is looked at first. These make good limits for the others,
	// also where the rows are in an order, and each nearer than those before it.
	sampleEvery = 32
)

// Search is the state of a search. Its methods are for one goroutine; Add itself uses many.
type Search struct {
	cfg     Config
	shape   kernels.Shape
	space   *space
	panels  []panel
	workers []*worker
	sieve   bool // pairs pass a sieve of bytes before they are compared in float32
	seen    int  // rows of earlier calls of Add
	packed  bool // the panels hold the queries, all of them, as the space has them
}

// worker is what a goroutine needs of its own.
type worker struct {
	tile   *kernels.Tile
	sifted *kernels.Sifted
	limits []float32
	rows   []int32   // the place in the block of each row of the tile
	slacks []float32 // of each row of the tile; see space
	lowers []int64   // for selecting among candidates
	chosen []int32   // candidates on their way to the Ranker
	scaled []float32 // a query on its way into a panel

	// For the sieve: the rows of the tile as bytes, if isRounded, and their offsets and squared norms; a query on its way.
	bytes            *kernels.ByteTile
	isRounded        bool
	sieved           int // tiles and panels; see Search.Sieved
	offsets, squares []float32
	rounded          []int8
}

// panel is the queries that are compared at once.
type panel struct {
	sync.Mutex
	packed  *kernels.Panel
	limits  []float32
	queries []query
	bytes   *kernels.BytePanel // for the sieve
	sieving sieving
}

// New prepares a search.
func New(cfg Config) *Search { return newSearch(cfg, hasSieve(cfg.Queries.Dim()), tileBytes) }

// hasSieve reports whether rows of dim values are sieved.
func hasSieve(dim int) bool {
	return kernels.HasSieve() && dim >= minSieveDim && dim <= kernels.MaxSieveDim
}

func newSearch(cfg Config, sieve bool, tileBytes int) *Search {
	dim := cfg.Queries.Dim()
	s := &Search{cfg: cfg, shape: kernels.TileShape(), workers: make([]*worker, cfg.Workers), sieve: sieve}
	s.space = newSpace(cfg.Metric, dim, cfg.Roundings)
	block := min(blockQueries(dim, cfg.K), cfg.Queries.Len())
	s.panels = make([]panel, (block+s.shape.Queries-1)/s.shape.Queries)
	candidates := make([]candidate, len(s.panels)*s.shape.Queries*bufferSize(cfg.K))
	for i := range s.panels {
		p := &s.panels[i]
		p.packed, p.limits = kernels.NewPanel(dim), make([]float32, s.shape.Queries)
		if sieve {
			p.bytes = kernels.NewBytePanel(dim)
		}
		p.queries = make([]query, s.shape.Queries)
		for j := range p.queries {
			p.queries[j].candidates, candidates = candidates[:0:bufferSize(cfg.K)], candidates[bufferSize(cfg.K):]
		}
	}
	for i := range s.workers {
		w := &worker{tile: kernels.NewTile(tileBytes, dim), limits: make([]float32, s.shape.Queries)}
		w.sifted = kernels.NewSifted(w.tile)
		w.rows, w.slacks = make([]int32, w.tile.Cap()), make([]float32, w.tile.Cap())
		w.lowers, w.chosen = make([]int64, bufferSize(cfg.K)), make([]int32, 0, bufferSize(cfg.K))
		w.scaled = make([]float32, dim)
		if sieve {
			w.bytes, w.rounded = kernels.NewByteTile(w.tile), make([]int8, dim)
			w.offsets, w.squares = make([]float32, w.tile.Cap()), make([]float32, w.tile.Cap())
		}
		s.workers[i] = w
	}
	return s
}

// blockQueries is how many queries are compared with the rows in one go, a multiple of what a panel holds.
func blockQueries(dim, k int) int {
	panel := kernels.TileShape().Queries
	n := min(blockBytes/(4*max(dim, 1)), candidateBytes/(candidateSize*bufferSize(k)))
	return max(n/panel, 1) * panel
}

// Bytes is the most memory that a Search of so many queries holds beside them.
func Bytes(queries, dim, k, workers int) int64 {
	panel := kernels.TileShape().Queries
	panels := (min(blockQueries(dim, k), queries) + panel - 1) / panel
	perQuery := 4*dim + candidateSize*bufferSize(k) + querySize + 4
	perWorker := kernels.TileBytes(tileBytes, dim) + 8*kernels.TileRows(tileBytes, dim) + 4*(dim+3*bufferSize(k)) + 4<<10
	if hasSieve(dim) {
		perQuery += kernels.BytePanelBytes(dim)
		perWorker += kernels.ByteTileBytes(tileBytes, dim) + 8*kernels.TileRows(tileBytes, dim) + dim
	}
	// What is allocated is rounded up, by an eighth or a few pages.
	perPanel := panel*perQuery + min(panel*9*dim/8, 24<<10) + 512
	perWorker += min(perWorker/8, 64<<10)
	return int64(panels)*int64(perPanel) + int64(workers)*int64(perWorker) + 16*int64(dim) + 24<<10
}

// Add compares rows with all queries, and hands on to the Ranker each row that can be among the k nearest of a query,
// once. allowed says which rows there are; nil allows all. It returns ctx.Err() soon after ctx is done. After an error
// only a part of the rows was handed on.
func (s *Search) Add(ctx context.Context, rows *vector.Matrix, allowed func(row int) bool) error {
	if rows.Len() == 0 || s.cfg.Queries.Len() == 0 {
		return nil
	}
	if s.space.moveTo(rows) {
		s.packed = false
	}
	if s.sieve && !s.packed {
		s.chooseStep(s.workers[0], rows)
	}
	block := len(s.panels) * s.shape.Queries
	for from := 0; from < s.cfg.Queries.Len(); from += block {
		if err := s.addToBlock(ctx, rows, allowed, from, min(from+block, s.cfg.Queries.Len())); err != nil {
			return err
		}
	}
	s.packed = s.cfg.Queries.Len() <= block
	s.seen += rows.Len()
	return nil
}

// Sieved is how many times a tile of rows was compared with a panel of queries in bytes first, and few enough pairs passed
// for that to be used.
func (s *Search) Sieved() (n int) {
	for _, w := range s.workers {
		n += w.sieved
	}
	return n
}

// addToBlock compares the rows with queries [from, to).
func (s *Search) addToBlock(ctx context.Context, rows *vector.Matrix, allowed func(row int) bool, from, to int) error {
	panels := s.panels[:(to-from+s.shape.Queries-1)/s.shape.Queries]
	if err := s.each(ctx, len(panels), func(w *worker, i int) error {
		s.begin(w, rows, allowed, &panels[i], from+i*s.shape.Queries, to)
		return nil
	}); err != nil {
		return err
	}
	tileRows := s.workers[0].tile.Cap()
	tiles := (rows.Len() + tileRows - 1) / tileRows
	sieveFrom := (sieveAfter(s.cfg.Queries.Dim(), s.cfg.K) - s.seen + tileRows - 1) / tileRows
	if err := s.each(ctx, tiles, func(w *worker, i int) error {
		first := sampledFirst(i, tiles) * tileRows
		n, err := s.fill(w, rows, allowed, first, min(first+tileRows, rows.Len()))
		if err != nil || n == 0 {
			return err
		}
		for j := range panels {
			// Workers start at different panels, so that they seldom meet.
			s.compare(w, &panels[(i+j)%len(panels)], n, s.sieve && i >= sieveFrom)
		}
		return nil
	}); err != nil {
		return err
	}
	return s.each(ctx, len(panels), func(w *worker, i int) error {
		for j := range panels[i].queries {
			if q := &panels[i].queries[j]; q.id >= 0 {
				q.tighten(s.cfg.K, w.lowers)
				q.rank(s.space, s.cfg.Ranker, w.chosen)
			}
		}
		return nil
	})
}

// each calls do for 0 to n-1 on the workers.
func (s *Search) each(ctx context.Context, n int, do func(w *worker, i int) error) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for _, w := range s.workers[:min(len(s.workers), n)] {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := do(w, i); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// sampledFirst is the i-th of n in an order in which every sampleEvery-th comes first.
func sampledFirst(i, n int) int {
	sampled := (n + sampleEvery - 1) / sampleEvery
	if i < sampled {
		return i * sampleEvery
	}
	i -= sampled
	return i + i/(sampleEvery-1) + 1
}

// begin makes p the queries [from, to), or as many as it holds.
func (s *Search) begin(w *worker, rows *vector.Matrix, allowed func(row int) bool, p *panel, from, to int) {
	for j := range p.queries {
		q := &p.queries[j]
		q.candidates = q.candidates[:0]
		q.id, p.limits[j] = -1, float32(math.Inf(1))
		if from+j >= to {
			continue // what is left of another query is compared for nothing, and not looked at
		}
		id := from + j
		if !s.packed {
			s.space.query(q, w.scaled, s.cfg.Queries.Row(id))
			p.packed.Set(j, w.scaled)
			if s.sieve {
				p.bytes.Set(j, w.scaled, w.rounded, s.space.roundQuery(q, w.rounded, w.scaled))
			}
		}
		if q.zero {
			s.rankFirst(w, id, rows, allowed)
			continue
		}
		q.id = id
		q.limit = s.space.limit(q, s.cfg.Ranker.Worst(id))
		p.limits[j] = q.limit
	}
}

// rankFirst hands on the first k rows for a query to which all rows are as near as each other.
func (s *Search) rankFirst(w *worker, id int, rows *vector.Matrix, allowed func(row int) bool) {
	first := w.chosen[:0]
	for row := 0; row < rows.Len() && len(first) < s.cfg.K; row++ {
		if allowed == nil || allowed(row) {
			first = append(first, int32(row))
		}
	}
	s.cfg.Ranker.Rank(id, first)
}

// fill packs the allowed ones of rows [from, to) into the worker's tile, and returns how many there are.
func (s *Search) fill(w *worker, rows *vector.Matrix, allowed func(row int) bool, from, to int) (int, error) {
	n := 0
	for row := from; row < to; row++ {
		if allowed != nil && !allowed(row) {
			continue
		}
		offset, slack, square := s.space.row(w.tile, n, rows.Row(row))
		if math.IsInf(float64(slack), 1) && s.cfg.Finite != nil {
			if err := s.cfg.Finite(row); err != nil {
				return 0, err
			}
		}
		w.tile.SetOffset(n, offset)
		w.rows[n], w.slacks[n] = int32(row), slack
		if s.sieve {
			w.offsets[n], w.squares[n] = offset, square
		}
		n++
	}
	w.tile.SetRows(n)
	w.isRounded = false
	return n, nil
}

// compare sifts the n rows of the worker's tile through p, and through the sieve first if that is asked for.
func (s *Search) compare(w *worker, p *panel, n int, sieve bool) {
	p.Lock()
	copy(w.limits, p.limits)
	sieve = sieve && p.sieving.due()
	p.Unlock()
	if sieve {
		if !w.isRounded {
			s.roundRows(w, n)
		}
		pairs := w.sifted.Sieve(p.bytes, w.bytes, w.limits)
		sieve = float64(pairs) <= passing(s.cfg.Queries.Dim())*float64(n*s.shape.Queries)
		p.Lock()
		p.sieving.done(sieve)
		p.Unlock()
	}
	if sieve {
		w.sieved++
		w.sifted.Rescore(p.bytes, w.bytes, w.limits)
	} else {
		w.sifted.Sift(p.packed, w.tile, w.limits)
	}
	if w.sifted.Rows() == 0 {
		return
	}
	p.Lock()
	defer p.Unlock()
	for i := range w.sifted.Rows() {
		row, mask, scores := w.sifted.Row(i)
		if row < n {
			s.collect(w, p, row, mask, scores)
		}
	}
}
