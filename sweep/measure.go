package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"frontier/bench/machine"
	"frontier/internal/param"
	"frontier/internal/vector"
	"frontier/results"
	"frontier/results/arrowfile"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// The values of the status column.
const (
	statusOK      = "ok"
	statusFailed  = "failed"
	statusTimeout = "timeout"
	statusCrashed = "crashed"
	statusKilled  = "out_of_memory"
)

// cellRun is one cell on its way to rows.
type cellRun struct {
	plan    *cellPlan
	started time.Time
	dir     string // of its answers
	loaded  *cell.Loaded
	visits  *cellVisits
	points  []*pointRun   // of each point of the plan; the same one for points that are the same in effect
	spent   time.Duration // on visits
	alive   time.Duration // of its processes
	err     *cellError
}

// begin makes a cell ready for sessions. A part that could not be built is what the cell fails of.
func (r *runner) begin(store *store, c *cellPlan) (*cellRun, error) {
	run := &cellRun{plan: c, started: time.Now().UTC()}
	for _, p := range c.parts {
		if p.err != nil {
			return run, nil
		}
	}
	var err error
	if run.dir, err = os.MkdirTemp(store.dir, answersDir); err != nil { // a killed run leaves it where the next one finds it
		return run, err
	}
	return run, r.writeFilters(c, run.dir)
}

// filtersFile is where a cell finds which rows each question may get, in the folder of its answers.
const filtersFile = "filters.bin"

func (r *runner) writeFilters(c *cellPlan, dir string) error {
	if r.corpus == nil || r.corpus.access == nil {
		return nil
	}
	docs, _, _, err := arrowfile.Spans(c.input.chunking.path)
	if err != nil {
		return err
	}
	return cell.WriteFilters(filepath.Join(dir, filtersFile), r.corpus.access.rows(docs))
}

// finishCell gives the rows of a cell, which say what became of it also where it failed. Points that an interruption cut off
// have none: the next run measures them.
func (r *runner) finishCell(run *cellRun) ([]results.Row, []results.QueryRow, error) {
	defer os.RemoveAll(run.dir) // answers are in the rows by then
	for _, p := range run.plan.parts {
		if p.err != nil {
			return r.failedRows(run.plan, run.started, "build", p.err), nil, nil
		}
	}
	if run.err != nil {
		return r.failedRows(run.plan, run.started, "measure", run.err), nil, nil
	}
	rows, queries, err := r.scoreCell(run)
	var failed *cellError
	if errors.As(err, &failed) {
		return r.failedRows(run.plan, run.started, "score", err), nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("score %s: %w", run.plan.describe(), err)
	}
	return rows, queries, nil
}

// session runs do with the loaded cell, which is measured alone: the machine's lock is held as long as it lives. What the
// cell fails of is kept in run; only a failure of the sweep itself is an error.
func (r *runner) session(ctx context.Context, run *cellRun, do func(*session) error) error {
	if run.dir == "" || run.err != nil {
		return nil
	}
	begun := time.Now()
	unlock, err := machine.Lock(ctx, func() {
		r.progress(Event{Stage: "warning", Detail: "waiting until the other sweep on this machine has measured its cell"})
	})
	if err != nil {
		return err
	}
	defer unlock()
	r.worksFor(time.Since(begun).Seconds()) // waiting for other sweeps costs time, but not because of the runner
	opened := time.Now()
	limit := r.file.Limits.CellTime
	if limit > 0 {
		limit = max(limit-run.alive, time.Millisecond) // over all sessions of the cell
	}
	s, err := openSession(r.work, r.opt.Command, r.measureRequest(run.plan, run.dir, run.loaded == nil), r.file.Limits.Memory, limit)
	if err == nil {
		defer s.close()
		s.hurry, s.patience = r.interrupted, r.patience
		r.worksFor(s.loaded.LoadSeconds)
		if run.loaded == nil {
			r.loadedFirst(run, s.loaded)
		}
		err = do(s)
		r.worksFor(s.spent.Seconds())
		run.spent += s.spent
	}
	run.alive += time.Since(opened)
	var failed *cellError
	if errors.As(err, &failed) {
		if failed.Status == "timeout" {
			failed.Msg = fmt.Sprintf("took longer than limits.cell_time (%v)", r.file.Limits.CellTime)
		}
		run.err = failed
		return nil
	}
	return err
}

// loadedFirst notes what the engines make of the points.
func (r *runner) loadedFirst(run *cellRun, loaded *cell.Loaded) {
	run.loaded = loaded
	var distinct []*pointRun
	for i, p := range loaded.Points {
		if p.SameAs != i {
			run.points = append(run.points, run.points[p.SameAs])
			continue
		}
		one := &pointRun{plan: run.plan.points[i], index: i}
		run.points, distinct = append(run.points, one), append(distinct, one)
	}
	run.visits = newCellVisits(schedule{
		measure: r.file.Measure, timeout: r.file.Limits.Query, seed: r.file.Seed, queries: loaded.Queries,
		ended: func() bool { return r.interrupted.Err() != nil }, patience: r.patience,
		say: func(text string) {
			r.progress(Event{Stage: "measuring", Detail: run.plan.describe() + ": " + text})
		},
	}, distinct)
}

// worksFor notes time that went into the work itself; the rest of what a sweep takes is the runner's own.
func (r *runner) worksFor(seconds float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.worked += time.Duration(seconds * float64(time.Second))
}

func (r *runner) measureRequest(c *cellPlan, dir string, first bool) *cell.MeasureRequest {
	m := r.file.Measure
	req := &cell.MeasureRequest{Depth: m.Depth, Seed: r.file.Seed, Threads: r.threads, Dir: dir}
	for _, p := range c.parts {
		req.Parts = append(req.Parts, cell.Part{Engine: p.engine.Name, Params: p.params, Source: p.input.source(), Dir: p.dir})
	}
	for _, p := range c.points {
		req.Points = append(req.Points, cell.Point{ID: p.id, Search: p.searches, Fusion: p.fusion, Load: p.load.Canonical(), Most: p.load.Clients, Open: p.load.Mode != file.Closed})
		if p.filter != nil {
			req.Points[len(req.Points)-1].Filter = &cell.PointFilter{Predicate: p.filter.Filter, Mode: p.filter.Mode, Boost: p.filter.Boost}
		}
	}
	if first {
		req.Check = r.graphCheck(c)
	}
	if r.vectors != nil {
		req.QueryVectors = r.vectors.queries
		return req
	}
	req.Queries = r.corpus.queries.path
	if e := c.input.embedding; e != nil {
		req.Embedder, req.EmbedParams, req.Model = e.kind.Name, e.params, e.model
	}
	if m.Unit == unitDocument {
		req.Chunks, req.Documents = c.input.chunking.path, r.maxK()
	}
	if r.corpus.access != nil {
		req.Filters, req.Least = filepath.Join(dir, filtersFile), r.maxK()
	}
	return req
}

// failedRows says of every point of a cell what became of it.
func (r *runner) failedRows(c *cellPlan, started time.Time, doing string, err error) []results.Row {
	status := statusFailed
	var failed *cellError
	if errors.As(err, &failed) {
		switch failed.Status {
		case "timeout":
			status = statusTimeout
		case "crashed":
			status = statusCrashed
		case "killed":
			status = statusKilled
		}
	}
	var rows []results.Row
	for _, p := range c.points {
		row := r.parameterRow(c, p, started)
		row["status"] = status
		row["error"] = errorText(doing, err, status)
		rows = append(rows, row)
	}
	return rows
}

// describe names the cell for people.
func (c *cellPlan) describe() string {
	var parts []string
	for _, p := range c.parts {
		parts = append(parts, p.describe())
	}
	text := strings.Join(parts, " + ")
	if e := c.input.embedding; e != nil && e.kind != nil {
		text += ", " + describe(e.kind.Name, e.kind.Params, e.params)
	}
	if ch := c.input.chunking; ch != nil {
		text += ", " + describe(ch.kind.Name, ch.kind.Params, ch.params)
	}
	return text
}

// describe names a component by what differs from the defaults, in the order of its table.
func describe(name string, specs []param.Spec, values param.Values) string {
	for _, s := range specs {
		if v := values[s.Name]; v != s.Default {
			name += fmt.Sprintf(" %s=%v", s.Name, v)
		}
	}
	return name
}

// queryCount is the number of questions.
func (r *runner) queryCount() (int, error) {
	if r.corpus != nil {
		return r.corpus.queries.count, nil
	}
	m, err := vector.OpenFbin(r.vectors.queries)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	return m.Len(), nil
}
