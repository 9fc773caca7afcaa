package cell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"frontier/bench/load"
	"frontier/embedders"
	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/vector"
	"frontier/results/arrowfile"
)

// session is a cell that is loaded and can be visited. Which point is visited when is up to the parent.
type session struct {
	req     *MeasureRequest
	r       *retriever
	engines []*indexes.Engine
	order   []int // of the queries
	close   func()
}

// openSession loads the indexes.
func openSession(ctx context.Context, req *MeasureRequest, reg Registry) (*session, *Loaded, error) {
	r, queries, err := newRetriever(req, reg)
	if err != nil {
		return nil, nil, err
	}
	loaded := &Loaded{Queries: queries}
	s := &session{req: req, r: r, order: load.Order(queries, req.Seed)}
	if s.engines, s.close, err = loadParts(ctx, req, reg, r, loaded); err != nil {
		return nil, nil, err
	}
	if err := s.describe(loaded); err != nil {
		s.close()
		return nil, nil, err
	}
	loaded.Overhead = load.Overhead().Seconds()
	if slices.ContainsFunc(req.Points, func(p Point) bool { return p.Open }) {
		loaded.OverheadOpen = load.OverheadOpen().Seconds()
	}
	return s, loaded, nil
}

// describe says what the engines make of each point. One that raises two values to the same one would otherwise be
// measured twice, and the luckier of the two would win.
func (s *session) describe(loaded *Loaded) error {
	known := map[string]int{}
	for i, p := range s.req.Points {
		effective, warnings, err := set(s.req, s.r, s.engines, i)
		if err != nil {
			return fmt.Errorf("point %s: %w", p.ID, err)
		}
		key := fmt.Sprint(p.Fusion, " ", p.Load)
		if p.Filter != nil {
			key += fmt.Sprint(" ", p.Filter.Predicate, " ", s.r.acting.mode, " ", p.Filter.Boost)
		}
		for _, e := range effective {
			key += " " + e.Canonical()
		}
		same, ok := known[key]
		if !ok {
			same, known[key] = i, i
		}
		loaded.Points = append(loaded.Points, LoadedPoint{Effective: effective, Warnings: warnings, SameAs: same, FilterMode: s.r.acting.mode})
	}
	for _, part := range s.r.parts {
		loaded.IndexBytes += part.Bytes()
	}
	if s.req.Check == nil {
		return nil
	}
	var err error
	loaded.Check, err = s.check(*s.req.Check)
	return err
}

// check asks the first queries with other search parameters than any point's.
func (s *session) check(c Check) (string, error) {
	if len(s.r.parts) != 1 {
		return "", fmt.Errorf("the check of a graph is of one index, and this cell has %d", len(s.r.parts))
	}
	search, err := param.Complete(s.engines[0].Search, c.Search)
	if err != nil {
		return "", fmt.Errorf("the check of a graph: %w", err)
	}
	if _, _, err := s.r.parts[0].Set(search, c.Depth); err != nil {
		return "", fmt.Errorf("the check of a graph: %w", err)
	}
	depth, docs, fusion := s.r.depth, s.r.docs, s.r.fusion
	filters, acting := s.r.filters, s.r.acting
	defer func() {
		s.r.depth, s.r.docs, s.r.fusion, s.r.filters, s.r.acting = depth, docs, fusion, filters, acting
	}()
	s.r.depth, s.r.docs, s.r.fusion.Kind, s.r.filters, s.r.acting = c.Depth, nil, "", nil, pointFilters{}
	s.r.answers = make([]arrowfile.Answer, min(c.Queries, len(s.order)))
	for q := range s.r.answers {
		s.r.Keep(0, q, 0, s.r.Do(0, q))
	}
	path := filepath.Join(s.req.Dir, "check.arrow")
	return path, arrowfile.WriteAnswers(path, s.r.answers)
}

// visit measures a point once more.
func (s *session) visit(ctx context.Context, v Visit) (*Visited, error) {
	if v.Point < 0 || v.Point >= len(s.req.Points) {
		return nil, fmt.Errorf("visit point %d of %d", v.Point, len(s.req.Points))
	}
	p := s.req.Points[v.Point]
	if _, _, err := set(s.req, s.r, s.engines, v.Point); err != nil {
		return nil, fmt.Errorf("point %s: %w", p.ID, err)
	}
	var keeper *load.Keeper
	if v.Keep {
		s.r.answers = make([]arrowfile.Answer, len(s.order))
		keeper = load.NewKeeper(len(s.order))
	}
	noise := startNoise()
	started := time.Now()
	block, err := s.run(ctx, v, keeper)
	if err != nil && ctx.Err() != nil {
		return &Visited{Stopped: true, Load: v.Load, Spent: time.Since(started), Next: v.Start}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("point %s: %w", p.ID, err)
	}
	out := &Visited{
		Load: v.Load, Samples: block.Samples, Errors: block.Errors, TimedOut: block.TimedOut, Dropped: block.Dropped, Late: block.Late,
		Waited: block.Waited, Overslept: block.Overslept, Total: block.Total, Longest: block.Longest,
		Wall: block.Wall, Spent: time.Since(started), Next: block.Next, Noise: noise.stop(),
	}
	if block.FirstError != nil {
		out.Error = block.FirstError.Error()
	}
	if out.Histogram, err = load.EncodeHistogram(block.Histogram); err != nil {
		return nil, fmt.Errorf("point %s: %w", p.ID, err)
	}
	if block.Service != nil {
		if out.Service, err = load.EncodeHistogram(block.Service); err != nil {
			return nil, fmt.Errorf("point %s: %w", p.ID, err)
		}
	}
	if !v.Keep {
		return out, nil
	}
	out.Answers = filepath.Join(s.req.Dir, p.ID+".arrow")
	if s.r.vectors == nil {
		out.Stages = stageNames
	}
	return out, arrowfile.WriteAnswers(out.Answers, s.r.answers)
}

// run sends the load of a visit.
func (s *session) run(ctx context.Context, v Visit, keeper *load.Keeper) (*load.Block, error) {
	if v.Load.Clients < 1 || v.Load.Clients > len(s.r.clients) {
		return nil, fmt.Errorf("%d clients, and the cell was made ready for 1 to %d", v.Load.Clients, len(s.r.clients))
	}
	order, each := s.order, v.EachOnce
	if v.Count > 0 {
		order, each = s.stretch(v.Start, v.Count), true
		v.Start, v.MinTime = 0, 0
	}
	switch v.Load.Mode {
	case Closed:
		return load.RunClosed(ctx, s.r, load.Closed{
			Clients: v.Load.Clients, Order: order, Start: v.Start, EachOnce: each, Timeout: v.Load.Timeout,
			Warmup: v.Warmup, MinTime: v.MinTime, MaxTime: v.MaxTime, Keeper: keeper,
		})
	case Open:
		arrivals := load.Poisson
		if v.Load.Constant {
			arrivals = load.Constant
		}
		return load.RunOpen(ctx, s.r, load.Open{
			Rate: v.Load.Rate, Arrivals: arrivals, Seed: v.Seed, Clients: v.Load.Clients, MaxWait: v.Load.MaxWait,
			Order: order, Start: v.Start, EachOnce: each, Timeout: v.Load.Timeout,
			Warmup: v.Warmup, MinTime: v.MinTime, MaxTime: v.MaxTime, Keeper: keeper,
		})
	}
	return nil, fmt.Errorf("no load is called %q", v.Load.Mode)
}

// stretch is count queries of the order from start on.
func (s *session) stretch(start, count int) []int {
	out := make([]int, count)
	for i := range out {
		out[i] = s.order[(start+i)%len(s.order)]
	}
	return out
}

// newRetriever reads all that belongs to the harness rather than to the engine, so that the engine's memory can be
// told apart from it. It also gives the number of queries.
func newRetriever(req *MeasureRequest, reg Registry) (*retriever, int, error) {
	r := &retriever{depth: req.Depth, documents: req.Documents}
	queries := 0
	if req.QueryVectors != "" {
		m, err := vector.OpenFbin(req.QueryVectors)
		if err != nil {
			return nil, 0, err
		}
		r.vectors, queries = m, m.Len()
	}
	if req.Queries != "" {
		raw, err := os.ReadFile(req.Queries)
		if err != nil {
			return nil, 0, err
		}
		if err := json.Unmarshal(raw, &r.queries); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", req.Queries, err)
		}
		queries = len(r.queries)
	}
	if queries == 0 {
		return nil, 0, fmt.Errorf("there is no query to measure with")
	}
	if req.Documents > 0 {
		docs, _, _, err := arrowfile.Spans(req.Chunks)
		if err != nil {
			return nil, 0, err
		}
		r.docs = docs
	}
	if req.Filters != "" {
		filters, err := readFilters(req.Filters, queries)
		if err != nil {
			return nil, 0, err
		}
		r.filters, r.least = filters, req.Least
	}
	if req.Embedder != "" {
		embedder, err := loadEmbedder(reg.Embedders, req)
		if err != nil {
			return nil, 0, err
		}
		r.embedder = embedder
	}
	clients := 1
	for _, p := range req.Points {
		clients = max(clients, p.Most)
	}
	r.addClients(clients)
	return r, queries, nil
}

func loadEmbedder(kinds []embedders.Kind, req *MeasureRequest) (embedders.Embedder, error) {
	kind := embedders.Find(kinds, req.Embedder)
	if kind == nil {
		return nil, fmt.Errorf("no embedder is called %q", req.Embedder)
	}
	params, err := param.Complete(kind.Params, req.EmbedParams)
	if err != nil {
		return nil, err
	}
	return kind.Load(req.Model, params)
}

// loadParts loads the indexes and takes the time and the memory that this takes.
func loadParts(ctx context.Context, req *MeasureRequest, reg Registry, r *retriever, loaded *Loaded) ([]*indexes.Engine, func(), error) {
	var engines []*indexes.Engine
	var closers []func()
	closeAll := func() {
		for _, c := range closers {
			c()
		}
	}
	debug.FreeOSMemory()
	before, start := readMemory(), time.Now()
	for _, p := range req.Parts {
		engine, params, err := find(reg.Engines, p.Engine, p.Params)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		in, closeInput, err := open(p.Source)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		in.Threads = req.Threads
		in.Seed = req.Seed
		index, err := engine.Load(ctx, p.Dir, in, params)
		if err != nil {
			closeInput()
			closeAll()
			return nil, nil, fmt.Errorf("load %s: %w", p.Engine, err)
		}
		closers = append(closers, func() {
			if err := index.Close(); err != nil {
				fmt.Fprintf(os.Stderr, "cell: close %s: %v\n", p.Engine, err) // the measurements stand
			}
			closeInput()
		})
		engines = append(engines, engine)
		r.parts = append(r.parts, index)
		r.dense, r.names = append(r.dense, !engine.Lexical), append(r.names, engine.Name)
	}
	loaded.LoadSeconds = time.Since(start).Seconds()
	if err := r.probeParts(); err != nil {
		closeAll()
		return nil, nil, err
	}
	if err := touch(req, r, engines); err != nil {
		closeAll()
		return nil, nil, err
	}
	debug.FreeOSMemory()
	loaded.ServingBytes, loaded.MappedBytes = readMemory().since(before)
	return engines, closeAll, nil
}

// touch asks each query once before memory is read, so that lazily loaded parts of an index count. A failing query is
// not an error here: it fails again where it is measured, and is counted there.
func touch(req *MeasureRequest, r *retriever, engines []*indexes.Engine) error {
	if len(req.Points) == 0 {
		return nil
	}
	if _, _, err := set(req, r, engines, 0); err != nil {
		return err
	}
	n := len(r.queries)
	if r.vectors != nil {
		n = r.vectors.Len()
	}
	for q := range min(n, 1000) {
		_ = r.Do(0, q)
	}
	return nil
}

// set makes the loaded parts ready for point i.
func set(req *MeasureRequest, r *retriever, engines []*indexes.Engine, i int) (effective []param.Values, warnings []string, err error) {
	p := req.Points[i]
	if len(p.Search) != len(r.parts) {
		return nil, nil, fmt.Errorf("%d sets of search parameters for %d parts", len(p.Search), len(r.parts))
	}
	r.fusion = p.Fusion
	for j, part := range r.parts {
		search, err := param.Complete(engines[j].Search, p.Search[j])
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", engines[j].Name, err)
		}
		eff, warn, err := part.Set(search, req.Depth)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", engines[j].Name, err)
		}
		effective = append(effective, eff)
		warnings = append(warnings, warn...)
	}
	filtering, err := r.usePoint(p.Filter)
	if err != nil {
		return nil, nil, err
	}
	return effective, append(warnings, filtering...), nil
}
