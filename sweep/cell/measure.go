package cell

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"frontier/bench/load"
	"frontier/bench/stats"
	"frontier/embedders"
	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/vector"
	"frontier/results/arrowfile"
)

// visited is what has been measured of one point so far.
type visited struct {
	index  int // of the point in the request
	report PointReport
	keeper *load.Keeper
	blocks []*load.Block
	next   int // where in the order of queries the next visit goes on
	noise  noise
	spent  time.Duration
}

func measure(ctx context.Context, req *MeasureRequest, reg Registry, progress func(string)) (*MeasureReport, error) {
	r, queries, err := newRetriever(req, reg)
	if err != nil {
		return nil, err
	}
	report := &MeasureReport{}
	engines, closeParts, err := loadParts(ctx, req, reg, r, report)
	if err != nil {
		return nil, err
	}
	defer closeParts()
	report.Overhead = load.Overhead().Seconds()

	points, same, err := distinct(req, r, engines, queries)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(req.Seed, 0x6d656173757265))
	order := load.Order(queries, req.Seed)
	visits := rng.Perm(len(points))
	for round := range req.Rounds {
		for _, i := range visits {
			v := points[i]
			if round > 0 && req.MaxTime > 0 && v.spent >= req.MaxTime {
				continue
			}
			progress(fmt.Sprintf("round %d of %d, point %s", round+1, req.Rounds, v.report.ID))
			if err := visit(ctx, req, r, engines, v, order); err != nil {
				return nil, fmt.Errorf("point %s: %w", v.report.ID, err)
			}
		}
		slices.Reverse(visits) // A B B A: drift of the machine spreads over the points
	}
	if err := visitMore(ctx, req, r, engines, points, order); err != nil {
		return nil, err
	}
	for _, v := range points {
		if err := v.finish(); err != nil {
			return nil, err
		}
		report.Spent += v.spent.Seconds()
	}
	for i, p := range req.Points {
		one := same[i].report
		if one.ID != p.ID {
			one.SameAs, one.ID = one.ID, p.ID
		}
		report.Points = append(report.Points, one)
	}
	for _, part := range r.parts {
		report.IndexBytes += part.Bytes()
	}
	return report, nil
}

// visitMore visits points again that have too few samples for a 99th percentile, which slow engines on few queries
// would otherwise lack, until the budget of the point is used up. These visits are interleaved and mirrored as well.
func visitMore(ctx context.Context, req *MeasureRequest, r *retriever, engines []*indexes.Engine, points []*visited, order []int) error {
	enough := int64(stats.MinSamples(0.99, 0.95))
	budget := req.MaxTime
	if budget == 0 {
		budget = defaultBudget
	}
	short := slices.Clone(points)
	for {
		short = slices.DeleteFunc(short, func(v *visited) bool { return v.samples() >= enough || v.spent >= budget })
		if len(short) == 0 {
			return nil
		}
		for _, v := range short {
			if err := visit(ctx, req, r, engines, v, order); err != nil {
				return fmt.Errorf("point %s: %w", v.report.ID, err)
			}
		}
		slices.Reverse(short)
	}
}

// defaultBudget bounds the added visits to one point of a sweep that sets no max_time.
const defaultBudget = 10 * time.Second

func (v *visited) samples() int64 {
	var n int64
	for _, b := range v.blocks {
		n += b.Samples
	}
	return n
}

// distinct are the points that differ once their parameters are in effect, and for each point of the request the one that
// it is. An engine that raises two values to the same one would otherwise be measured twice, and the luckier of the two
// would win.
func distinct(req *MeasureRequest, r *retriever, engines []*indexes.Engine, queries int) (points, same []*visited, err error) {
	known := map[string]*visited{}
	for i, p := range req.Points {
		effective, warnings, err := set(req, r, engines, i)
		if err != nil {
			return nil, nil, fmt.Errorf("point %s: %w", p.ID, err)
		}
		key := fmt.Sprint(p.Fusion, p.Clients)
		for _, e := range effective {
			key += " " + e.Canonical()
		}
		v, ok := known[key]
		if !ok {
			v = &visited{index: i, report: PointReport{ID: p.ID, Effective: effective, Warnings: warnings}, keeper: load.NewKeeper(queries)}
			known[key] = v
			points = append(points, v)
		}
		same = append(same, v)
	}
	return points, same, nil
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
	if req.Embedder != "" {
		embedder, err := loadEmbedder(reg.Embedders, req)
		if err != nil {
			return nil, 0, err
		}
		r.embedder = embedder
	}
	clients := 1
	for _, p := range req.Points {
		clients = max(clients, p.Clients)
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
func loadParts(ctx context.Context, req *MeasureRequest, reg Registry, r *retriever, report *MeasureReport) ([]*indexes.Engine, func(), error) {
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
		r.dense = append(r.dense, !engine.Lexical)
	}
	report.LoadSeconds = time.Since(start).Seconds()
	if err := touch(req, r, engines); err != nil {
		closeAll()
		return nil, nil, err
	}
	debug.FreeOSMemory()
	report.ServingBytes, report.MappedBytes = readMemory().since(before)
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
	return effective, warnings, nil
}

// visit measures a point once more.
func visit(ctx context.Context, req *MeasureRequest, r *retriever, engines []*indexes.Engine, v *visited, order []int) error {
	if _, _, err := set(req, r, engines, v.index); err != nil {
		return err
	}
	first := len(v.blocks) == 0
	if first {
		r.answers = make([]arrowfile.Answer, len(order))
	}
	v.noise.start()
	started := time.Now()
	block, err := load.RunClosed(ctx, r, load.Closed{
		Clients: req.Points[v.index].Clients, Order: order, Start: v.next, EachOnce: first || req.MinTime == 0,
		Warmup: req.Warmup, MinTime: req.MinTime, Keeper: v.keeper,
	})
	if err != nil {
		return err
	}
	v.spent += time.Since(started)
	v.noise.stop()
	v.blocks, v.next = append(v.blocks, block), block.Next
	if !first {
		return nil
	}
	v.report.Answers = filepath.Join(req.Dir, v.report.ID+".arrow")
	if r.vectors == nil {
		v.report.Stages = stageNames
	}
	return arrowfile.WriteAnswers(v.report.Answers, r.answers) // now, so that the answers of one point are in memory and not of all
}

// finish sums up the visits.
func (v *visited) finish() error {
	all, err := load.Merge(v.blocks...)
	if err != nil {
		return fmt.Errorf("point %s: %w", v.report.ID, err)
	}
	for _, b := range v.blocks {
		v.report.VisitQPS = append(v.report.VisitQPS, b.QPS())
		v.report.VisitP50 = appendPercentile(v.report.VisitP50, b, 0.5)
		v.report.VisitP99 = appendPercentile(v.report.VisitP99, b, 0.99)
	}
	histogram, err := load.EncodeHistogram(all.Histogram)
	if err != nil {
		return fmt.Errorf("point %s: %w", v.report.ID, err)
	}
	v.report.Histogram = histogram
	v.report.Samples, v.report.Errors = all.Samples, all.Errors
	v.report.Repetitions = len(v.blocks)
	v.report.Longest = all.Longest
	v.report.QPS = all.QPS()
	v.report.Warnings = append(v.report.Warnings, v.noise.warnings...)
	v.report.Steal, v.report.Noise, v.report.Clock = v.noise.steal(), v.noise.spread(), v.noise.clock
	return nil
}

// appendPercentile adds the percentile of one visit, if that has samples on both sides of it.
func appendPercentile(all []time.Duration, b *load.Block, p float64) []time.Duration {
	if float64(b.Samples)*(1-p) < 1 {
		return all
	}
	value, _, _, _ := stats.Percentile(b.Histogram, p)
	return append(all, value)
}
