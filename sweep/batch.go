package sweep

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"
)

// Cells whose index loads quickly are visited in rounds like the points of one cell, so that drift of the machine spreads
// over cells as well. They come in batches, and the rows of a batch are committed at its end: a run that is killed loses
// no more than that.
const (
	// cheapLoading is the share of a cell's first round that loading may take, for the cell to be loaded again each round.
	cheapLoading = 0.1
	// batchTime is what the rounds of a batch may take.
	batchTime = 30 * time.Second
)

// measureAll measures the pending cells, each alone on the machine as far as sweeps go.
func (r *runner) measureAll(ctx context.Context, store *store, all, pending []*cellPlan) error {
	m := &measuring{runner: r, store: store, all: all}
	for _, c := range pending {
		m.total += len(c.points)
	}
	r.compacted = time.Now()
	for _, c := range pending {
		if ctx.Err() != nil {
			break
		}
		if err := m.first(ctx, c); err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				break // while it waited for another sweep
			}
			return err
		}
	}
	// Once begun, a batch is finished also when ctx has ended: nothing that was measured is lost.
	if err := m.flush(ctx); err != nil {
		return err
	}
	return ctx.Err()
}

// measuring is measureAll on its way.
type measuring struct {
	*runner
	store       *store
	all         []*cellPlan
	batch       []*cellRun
	batched     time.Duration // what the first round of the batch took
	done, total int
}

// first measures the first round of a cell, and all of them where loading it once more would take too long.
func (m *measuring) first(ctx context.Context, c *cellPlan) error {
	run, err := m.begin(m.store, c)
	if err != nil {
		return err
	}
	rounds := m.file.Measure.Rounds
	later := false
	err = m.session(ctx, run, func(s *session) error {
		if err := run.visits.round(s, 0); err != nil {
			return err
		}
		if rounds > 1 && s.loading.Seconds() <= cheapLoading*s.spent.Seconds() {
			later = true
			return nil
		}
		for n := 1; n < rounds; n++ {
			if err := run.visits.round(s, n); err != nil {
				return err
			}
		}
		return run.visits.settle(s)
	})
	if err != nil {
		return errors.Join(err, os.RemoveAll(run.dir))
	}
	if !later || run.err != nil {
		return m.commit(run)
	}
	m.batch = append(m.batch, run)
	m.batched += run.spent
	if m.batched*time.Duration(rounds) >= batchTime {
		return m.flush(ctx)
	}
	return nil
}

// flush measures the remaining rounds of the batch and commits its cells.
func (m *measuring) flush(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	batch := m.batch
	m.batch, m.batched = nil, 0
	for n := 1; n < m.file.Measure.Rounds; n++ {
		slices.Reverse(batch) // A B B A
		for _, run := range batch {
			err := m.session(ctx, run, func(s *session) error {
				if err := run.visits.round(s, n); err != nil || n < m.file.Measure.Rounds-1 {
					return err
				}
				return run.visits.settle(s)
			})
			if err != nil {
				return err
			}
		}
	}
	for _, run := range batch {
		if err := m.commit(run); err != nil {
			return err
		}
	}
	return nil
}

// commit scores a cell and stores its rows.
func (m *measuring) commit(run *cellRun) error {
	rows, queries, err := m.finishCell(run)
	if err != nil || len(rows) == 0 {
		return err
	}
	if err := decideFilters(m.file, m.store, run.plan, rows, queries); err != nil {
		return err
	}
	if err := m.store.commit(run.plan, rows, queries); err != nil {
		return err
	}
	m.done += len(rows)
	m.summary.Measured += len(rows)
	m.progress(Event{Stage: "measure", Detail: run.plan.describe(), Done: m.done, Total: m.total})
	if time.Since(m.compacted) > compactEvery {
		_, _, err = m.compact(m.store, m.all)
	}
	return err
}
