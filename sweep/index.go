package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"frontier/internal/cas"
	"frontier/sweep/cell"

	"golang.org/x/sync/errgroup"
)

const (
	buildStage   = "build"
	buildVersion = 1
)

// buildRecord is what is stored beside an index about its making.
type buildRecord struct {
	cell.BuildReport
	// Shared says that something else of this sweep ran at the same time, so that wall time says less than CPU time.
	Shared bool
	// Size teaches what the next build of this kind will take.
	Size buildSize
}

// buildAll builds the indexes that pending cells need, each in a process of its own. An index that cannot be built is
// noted in it and does not end the sweep.
func (r *runner) buildAll(ctx context.Context, cells []*cellPlan) error {
	var needed []*built
	seen := map[*built]bool{}
	for _, c := range cells {
		for _, b := range c.parts {
			if !seen[b] {
				seen[b] = true
				needed = append(needed, b)
			}
		}
	}
	r.admission = newAdmission(r.freeMemory(), r.file.Limits.Memory, r.opt.Jobs)
	r.history = sync.OnceValue(func() []buildSize { return buildHistory(ctx, r.cache) }) // not needed if all is in the cache
	var group errgroup.Group
	var running, done atomic.Int32
	weight := int64(min(r.threads, r.opt.Jobs))
	for _, b := range needed {
		if r.work.Err() != nil || r.jobs.Acquire(ctx, weight) != nil {
			break // an error has made the others useless, or the user wants to go
		}
		group.Go(func() error {
			defer r.jobs.Release(weight)
			err := r.build(ctx, b, &running)
			r.progress(Event{Stage: "build", Detail: b.describe(), Done: int(done.Add(1)), Total: len(needed)})
			if onlyCell(err) {
				b.err = err
				return nil
			}
			return err
		})
	}
	return errors.Join(group.Wait(), ctx.Err())
}

// onlyCell says that err is the failure of one cell, and not one that would meet the others as well.
func onlyCell(err error) bool {
	var failed *cellError
	var storage *cas.StorageError
	return errors.As(err, &failed) && !errors.As(err, &storage)
}

func (r *runner) build(ctx context.Context, b *built, running *atomic.Int32) error {
	art, err := r.do(ctx, "build", b.describe(), b.stage, func(ctx context.Context, dir string) error {
		limit, release, err := r.admit(ctx, b)
		if err != nil {
			return err
		}
		defer release()
		shared := running.Add(1) > 1
		defer running.Add(-1)
		if err := os.Mkdir(filepath.Join(dir, "index"), 0o755); err != nil {
			return err
		}
		reply, err := runCell(ctx, r.opt.Command, cell.Request{MemoryLimit: limit, Build: &cell.BuildRequest{
			Engine: b.engine.Name, Params: b.params, Source: b.input.source(), Seed: r.file.Seed, Threads: r.threads,
			Dir: filepath.Join(dir, "index"),
		}}, r.file.Limits.CellTime)
		if err != nil {
			return err
		}
		if reply.Built == nil {
			return fmt.Errorf("the cell's reply is not that of a build")
		}
		record := buildRecord{BuildReport: *reply.Built, Shared: shared || running.Load() > 1}
		record.Size, _ = b.size()
		if reply.Built.MemoryBytes != nil {
			record.Size.Peak = *reply.Built.MemoryBytes
		}
		r.learn(record.Size)
		r.worksFor(reply.Built.Seconds)
		return writeJSON(filepath.Join(dir, "build.json"), record)
	})
	if err != nil {
		return err
	}
	b.dir = art.Path("index")
	return readJSON(art.Path("build.json"), &b.report)
}

// admit waits until there is memory for building b.
func (r *runner) admit(ctx context.Context, b *built) (limit int64, release func(), err error) {
	size, valueBytes := b.size()
	history := r.history()
	r.mu.Lock()
	history = append(history[:len(history):len(history)], r.learned...)
	r.mu.Unlock()
	return r.admission.admit(ctx, estimateBuild(size, valueBytes, history))
}

func (r *runner) learn(s buildSize) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learned = append(r.learned, s)
}

// freeMemory is what can be allocated on this machine or in the control group of this process, 0 if unknown.
func (r *runner) freeMemory() int64 {
	free := r.available()
	if group := r.machine.MemoryLimit; group > 0 && (free == 0 || group < free) {
		return group
	}
	return free
}

func (b *built) describe() string { return describe(b.engine.Name, b.engine.Params, b.params) }

// queriesKey changes when other questions are asked.
func (r *runner) queriesKey() cas.Key {
	if r.corpus != nil {
		return r.corpus.queries.digest
	}
	return r.vectors.queriesKey
}
