package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"frontier/bench/cost"
	"frontier/bench/machine"
	"frontier/chunkers"
	"frontier/embedders"
	"frontier/internal/cas"
	"frontier/internal/kernels"
	"frontier/results"
	"frontier/sweep/file"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// runner is one sweep on its way.
type runner struct {
	opt     Options
	file    *file.File
	cache   *cas.Cache
	jobs    *semaphore.Weighted
	threads int // for building one index
	machine machine.Fingerprint

	corpus     *corpus    // text
	vectors    *embedding // or vectors
	judgements string     // digest of what answers are scored against
	builds     map[cas.Key]*built
	catalog    *cost.Catalog // prices; nil if no costs are asked for

	available func() int64 // bytes of memory that are free, 0 if unknown
	admission *admission
	history   func() []buildSize // of the cache
	learned   []buildSize        // in this run

	// work is the context of what is under way. It outlives the context of Run, so that an interruption loses nothing that
	// was paid for; abort ends it when an error has made it useless.
	work  context.Context
	abort context.CancelCauseFunc

	interrupted context.Context // ends when the user wants to go
	patience    time.Duration   // that a visit under way has left then

	runID     string
	started   time.Time
	compacted time.Time // when results.parquet was last written

	worked time.Duration // that stages and cells took by themselves; the rest of a sweep's time is the runner's

	mu      sync.Mutex
	summary Summary
}

// Run runs the sweep that f describes, or what is left of it: preparation that the cache holds is not repeated, nor is
// a measurement that the results folder holds. When ctx ends, nothing new is begun, what is under way is finished and
// saved, but for visits that would still take longer than patience, and the error is ctx's.
func Run(ctx context.Context, f *file.File, opt Options) (Summary, error) {
	r, err := newRunner(f, opt)
	if err != nil {
		return Summary{}, err
	}
	err = errors.Join(r.run(ctx), r.cache.Close())
	return r.summary, err
}

func (r *runner) run(ctx context.Context) error {
	r.work, r.abort = context.WithCancelCause(context.WithoutCancel(ctx))
	r.interrupted = ctx
	defer r.abort(nil)
	store, err := openStore(r.opt.Out)
	if err != nil {
		return err
	}
	defer store.close()
	err = r.runIn(ctx, store)
	if cause := context.Cause(r.work); cause != nil && ctx.Err() == nil && errors.Is(err, context.Canceled) {
		err = cause // what was stopped because of it may have come first
	}
	return store.explain(err)
}

// runIn runs the sweep with its results folder open.
func (r *runner) runIn(ctx context.Context, store *store) error {
	if err := checkSize(r.file, r.opt.Registry, r.opt.Cache); err != nil {
		return err
	}
	inputs, err := r.prepare(ctx)
	if err != nil {
		return err
	}
	cells, err := r.planCells(inputs)
	if err != nil {
		return err
	}
	if r.opt.Like != nil {
		if cells = r.like(cells); len(cells) == 0 {
			return fault(r.file, file.Pos{}, "indexes", "no point of the sweep has the parameters of the row that is asked for", "name a row of a run of this very file")
		}
	}
	damaged, err := store.begin(r.opt.Fresh) // not before the file and the data turned out to be good
	r.warn(damaged...)
	if err != nil {
		return err
	}
	r.runID = store.runID
	r.explainReuse(store, cells)
	pending, kept := store.pending(cells)
	r.summary.RunID, r.summary.Out, r.summary.Reused = store.runID, r.opt.Out, kept
	for _, in := range inputs {
		if in.embedding != nil {
			r.warn(in.embedding.warnings...)
		}
	}
	if len(pending) > 0 {
		// Early, so that what a killed run leaves can be read.
		if err := results.WriteManifest(store.dir, r.manifest(nil, cells, false)); err != nil {
			return err
		}
		err = r.buildAll(ctx, pending)
		if err == nil {
			err = r.measureAll(ctx, store, cells, pending)
		}
	}
	finishErr := r.finish(store, cells, err == nil)
	if err != nil && errors.Is(finishErr, syscall.ENOSPC) {
		return err // the disk is full, which err says already, or there is something worse
	}
	return errors.Join(err, finishErr)
}

// patience is what a visit that is under way may still take when the user wants to go. Nearly all take less; one that asks
// each of a thousand questions at one arrival a second does not.
const patience = 10 * time.Second

func newRunner(f *file.File, opt Options) (*runner, error) {
	if opt.Jobs < 1 {
		return nil, fmt.Errorf("a sweep needs at least one job, not %d", opt.Jobs)
	}
	r := &runner{opt: opt, file: f, jobs: semaphore.NewWeighted(int64(opt.Jobs)), machine: fingerprint(), started: time.Now(), available: availableMemory, patience: patience}
	r.threads = f.BuildThreads
	if r.threads == 0 {
		r.threads = runtime.GOMAXPROCS(0)
	}
	err := r.readCatalog()
	if err == nil {
		r.cache, err = cas.Open(opt.Cache, cas.Report(r.cacheNotice))
	}
	return r, err
}

// fingerprint is that of this machine. What runs with kernels that were forced on it runs as if on another one: it is a point of
// its own, and its latencies are compared with no others.
func fingerprint() machine.Fingerprint {
	f := machine.Read()
	if forced := kernels.Forced(); forced != "" {
		f.InstructionSet = forced
	}
	return f
}

// cacheNotice passes on what the cache has to say. Damage is a warning, so that it is in the manifest too.
func (r *runner) cacheNotice(n cas.Notice) {
	if n.Kind == cas.Waiting {
		r.progress(Event{Stage: "waiting", Detail: n.String()})
		return
	}
	r.warn(n.String())
}

func (r *runner) readCatalog() (err error) {
	switch c := r.file.Cost; {
	case c == nil:
	case c.Catalog == "":
		r.catalog = cost.Example()
	default:
		r.catalog, err = cost.ReadCatalog(r.file.Rel(c.Catalog))
	}
	return err
}

// prepare makes all that indexes are built from and judged against.
func (r *runner) prepare(ctx context.Context) ([]input, error) {
	if r.file.Vectors != nil {
		e, err := r.prepareVectors(ctx)
		if err != nil {
			return nil, err
		}
		r.vectors = e
		return []input{{embedding: e}}, nil
	}
	c, err := r.prepareCorpus(ctx)
	if err != nil {
		return nil, err
	}
	r.corpus = c
	if r.judgements, err = judgementDigest(r.file, c); err != nil {
		return nil, err
	}
	return r.prepareText(ctx, c)
}

// prepareText cuts and embeds the corpus in every way that the file asks for, several at once. The inputs come in file
// order, whichever is ready first.
func (r *runner) prepareText(ctx context.Context, c *corpus) ([]input, error) {
	res := resolver{r.file, r.opt.Registry.Engines, -1, -1}
	group, ctx := errgroup.WithContext(ctx)
	var perChunking []*[]input
	var wrong error
	for _, item := range r.file.Chunkers {
		kind := chunkers.Find(r.opt.Registry.Chunkers, item.Kind)
		for params, err := range res.items(kind.Params, item) {
			if err != nil {
				wrong = errors.Join(wrong, err)
				break
			}
			inputs := new([]input) // of its own, so that the goroutine writes nothing that another reads
			perChunking = append(perChunking, inputs)
			group.Go(func() error {
				ch, err := limited(ctx, r.jobs, func() (*chunking, error) { return r.prepareChunking(ctx, c, kind, params) })
				if err != nil {
					return err
				}
				*inputs, err = r.embedAll(ctx, c, ch)
				return err
			})
		}
	}
	if err := errors.Join(wrong, group.Wait()); err != nil {
		return nil, err
	}
	var all []input
	for _, inputs := range perChunking {
		all = append(all, *inputs...)
	}
	return all, nil
}

// embedAll embeds one chunking with every embedder. The first input is the chunking itself, for lexical engines.
func (r *runner) embedAll(ctx context.Context, c *corpus, ch *chunking) ([]input, error) {
	res := resolver{r.file, r.opt.Registry.Engines, ch.stats.Chunks, -1}
	group, ctx := errgroup.WithContext(ctx)
	all := []*input{{chunking: ch}}
	var wrong error
	for _, item := range r.file.Embedders {
		kind := embedders.Find(r.opt.Registry.Embedders, item.Kind)
		for params, err := range res.items(kind.Params, item) {
			if err != nil {
				wrong = errors.Join(wrong, err)
				break
			}
			in := &input{chunking: ch}
			all = append(all, in)
			group.Go(func() error {
				e, err := limited(ctx, r.jobs, func() (*embedding, error) { return r.prepareEmbedding(ctx, c, ch, kind, params, item) })
				in.embedding = e
				return err
			})
		}
	}
	if err := errors.Join(wrong, group.Wait()); err != nil {
		return nil, err
	}
	inputs := make([]input, len(all))
	for i, in := range all {
		inputs[i] = *in
	}
	return inputs, nil
}

// limited runs f when a job is free.
func limited[T any](ctx context.Context, jobs *semaphore.Weighted, f func() (T, error)) (T, error) {
	if err := jobs.Acquire(ctx, 1); err != nil {
		var none T
		return none, err
	}
	defer jobs.Release(1)
	return f()
}

// do makes an artifact or finds it in the cache, and counts which of the two it was. Once begun, an artifact is finished
// also when ctx ends.
func (r *runner) do(ctx context.Context, name, detail string, s cas.Stage, build func(context.Context, string) error) (cas.Artifact, error) {
	art, err := r.cache.Do(ctx, s, func(ctx context.Context, dir string) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		defer r.stageEnds(s, time.Now())
		return build(r.work, dir)
	})
	if err != nil && !onlyCell(err) && ctx.Err() == nil {
		r.abort(err) // the sweep ends with this error: nobody needs what else is under way
	}
	if err != nil {
		return art, err
	}
	r.mu.Lock()
	if art.Hit {
		r.summary.Cached++
	} else {
		r.summary.Prepared++
	}
	r.mu.Unlock()
	r.progress(Event{Stage: name, Detail: detail, Cached: art.Hit})
	return art, nil
}

// stageEnds notes what a stage of this process took. A build says for itself what it took in its cell.
func (r *runner) stageEnds(s cas.Stage, started time.Time) {
	if s.Name != buildStage {
		r.worksFor(time.Since(started).Seconds())
	}
}

func (r *runner) progress(e Event) {
	if r.opt.Progress != nil {
		r.opt.Progress(e)
	}
}

// warn notes what a reader of the results must know. The same warning is noted once.
func (r *runner) warn(warnings ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range warnings {
		known := false
		for _, old := range r.summary.Warnings {
			known = known || old == w
		}
		if !known {
			r.summary.Warnings = append(r.summary.Warnings, w)
			r.progress(Event{Stage: "warning", Detail: w})
		}
	}
}

func (r *runner) maxK() int { return r.file.Measure.K[len(r.file.Measure.K)-1] }

// compactEvery is how often results.parquet is written anew while a sweep runs; the parts have everything in between.
const compactEvery = 30 * time.Second

// compact writes results.parquet from all rows that there are, with what only all of them together can tell.
func (r *runner) compact(store *store, cells []*cellPlan) ([]results.Row, []results.Objective, error) {
	r.compacted = time.Now()
	rows := store.rows(cells)
	if len(rows) == 0 {
		return nil, nil, nil
	}
	for _, row := range rows {
		r.costColumns(row)
	}
	objectives, err := r.objectives()
	if err != nil {
		return nil, nil, err
	}
	if err := markFrontier(rows, objectives); err != nil {
		return nil, nil, err
	}
	return rows, objectives, results.WriteRows(filepath.Join(store.dir, "results.parquet"), rows)
}

// finish writes the results, the manifest and the report.
func (r *runner) finish(store *store, cells []*cellPlan, complete bool) error {
	rows, objectives, err := r.compact(store, cells)
	if err != nil || len(rows) == 0 {
		return err
	}
	r.summary.Points = len(rows)
	for _, row := range rows {
		if row["status"] != statusOK {
			r.summary.Failed++
		}
	}
	r.warn(brokenPromises(rows)...)
	m := r.manifest(rows, cells, complete)
	if err := results.WriteManifest(store.dir, m); err != nil {
		return err
	}
	return writeReport(store.dir, rows, m, objectives)
}
