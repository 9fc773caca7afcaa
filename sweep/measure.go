package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"frontier/bench/machine"
	"frontier/internal/param"
	"frontier/internal/vector"
	"frontier/results"
	"frontier/sweep/cell"
)

// The values of the status column.
const (
	statusOK      = "ok"
	statusFailed  = "failed"
	statusTimeout = "timeout"
	statusCrashed = "crashed"
	statusKilled  = "out_of_memory"
)

// measureCell measures the points of one cell in a process of its own and scores the answers. A cell that fails gives
// rows that say so; only a failure of the sweep itself is an error.
func (r *runner) measureCell(ctx context.Context, store *store, c *cellPlan) ([]results.Row, []results.QueryRow, error) {
	started := time.Now().UTC()
	for _, p := range c.parts {
		if p.err != nil {
			return r.failedRows(c, started, "build", p.err), nil, nil
		}
	}
	dir, err := os.MkdirTemp(store.dir, answersDir) // a killed run leaves it where the next one finds it
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir) // answers are in the rows by then
	report, err := r.runMeasure(ctx, c, dir)
	var failed *cellError
	if errors.As(err, &failed) {
		return r.failedRows(c, started, "measure", failed), nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	rows, queries, err := r.scoreCell(c, report, started)
	if err != nil {
		return nil, nil, fmt.Errorf("score %s: %w", c.describe(), err)
	}
	return rows, queries, nil
}

// runMeasure holds the machine's lock only while the cell runs; scoring is not measuring.
func (r *runner) runMeasure(ctx context.Context, c *cellPlan, dir string) (*cell.MeasureReport, error) {
	begun := time.Now()
	unlock, err := machine.Lock(ctx, func() {
		r.progress(Event{Stage: "warning", Detail: "waiting until the other sweep on this machine has measured its cell"})
	})
	if err != nil {
		return nil, err
	}
	defer unlock()
	r.worksFor(time.Since(begun).Seconds()) // waiting for other sweeps costs time, but not because of the runner
	req := r.measureRequest(c, dir)
	reply, err := runCell(r.work, r.opt.Command, cell.Request{MemoryLimit: r.file.Limits.Memory, Measure: req}, r.file.Limits.CellTime, func(text string) {
		r.progress(Event{Stage: "measuring", Detail: c.describe() + ": " + text})
	})
	if err != nil {
		return nil, err
	}
	if reply.Measured == nil || len(reply.Measured.Points) != len(c.points) {
		return nil, fmt.Errorf("%s: the cell's reply is not that of %d measured points", c.describe(), len(c.points))
	}
	r.worksFor(reply.Measured.LoadSeconds + reply.Measured.Spent)
	return reply.Measured, nil
}

// worksFor notes time that went into the work itself; the rest of what a sweep takes is the runner's own.
func (r *runner) worksFor(seconds float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.worked += time.Duration(seconds * float64(time.Second))
}

func (r *runner) measureRequest(c *cellPlan, dir string) *cell.MeasureRequest {
	m := r.file.Measure
	req := &cell.MeasureRequest{
		Depth: m.Depth, Rounds: m.Rounds, Warmup: m.Warmup, MinTime: m.MinTime, MaxTime: m.MaxTime,
		Seed: r.file.Seed, Threads: r.threads, Dir: dir,
	}
	for _, p := range c.parts {
		req.Parts = append(req.Parts, cell.Part{Engine: p.engine.Name, Params: p.params, Source: p.input.source(), Dir: p.dir})
	}
	for _, p := range c.points {
		req.Points = append(req.Points, cell.Point{ID: p.id, Search: p.searches, Fusion: p.fusion, Clients: p.clients})
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
