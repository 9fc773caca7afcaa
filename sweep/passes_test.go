package sweep

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// An open loop that could not ask every question once in the time of its cell is refused before anything is measured.
func TestPassesOverTheLimitAreRefused(t *testing.T) {
	rare := strings.Replace(vectorSweep, "load: [{closed: [1, 2]}]", "load: [{closed: 1}, {open: {rate: 0.5}}]", 1) // 40 queries: 80 s
	for _, yaml := range []string{rare + "limits: {cell_time: 1m}\n", strings.Replace(splitSweep, "max_time: 1ms", "max_time: 1ms, load: [{open: {rate: 0.05}}]", 1) + "limits: {cell_time: 1m}\n"} {
		p := newPlace(t, yaml)
		p.writeSplits()
		_, err := p.try()
		var inFile *file.Error
		if !errors.As(err, &inFile) || !strings.Contains(err.Error(), "1m20s, over limits.cell_time (1m0s)") || inFile.Pos.Line != 8 && inFile.Pos.Line != 7 {
			t.Errorf("%v", err)
		}
	}
	for limits, told := range map[string]bool{"": true, "max_time: 2m, ": false} {
		r := &runner{file: parse(t, strings.Replace(rare, "load:", limits+"load:", 1))}
		if err := r.checkPasses(40); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.summary.Warnings, "\n"); strings.Contains(got, "each of the 40 questions once takes about 1m20s") != told {
			t.Errorf("with %q the warnings are %q", limits, got)
		}
	}
	if took := passTime(file.Load{Rate: 1e-3}, 1<<40); took <= 0 {
		t.Errorf("a pass of ages takes %v", took)
	}
}

// Who wants to go does not wait for an open loop that goes on for minutes, and gets no row of it.
func TestInterruptedOpenLoopIsStopped(t *testing.T) {
	p := newPlace(t, strings.Replace(vectorSweep, "load: [{closed: [1, 2]}]", "load: [{open: {rate: 0.5}}]", 1))
	p.write("sweep.yaml", p.yaml)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := newRunner(parse(t, p.yaml), Options{
		Out: p.out, Cache: p.cache, Jobs: 1, Registry: testRegistry(), Command: testCommand,
		Progress: func(e Event) {
			if e.Stage == "measuring" {
				cancel()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.cache.Close()
	r.patience = time.Millisecond
	if err := r.run(ctx); !errors.Is(err, context.Canceled) || r.summary.Points != 0 || r.summary.Measured != 0 {
		t.Errorf("%v, %+v", err, r.summary)
	}
}

func interrupted(c *cellVisits) *cellVisits {
	c.ended, c.patience, c.queries = func() bool { return true }, 10*time.Second, 100
	return c
}

// After an interruption short visits that were promised are made, and points that need a long one are given up.
func TestInterruptedRoundsLeaveOutLongVisits(t *testing.T) {
	m := file.Measure{Rounds: 2, MinTime: time.Second}
	open := file.Load{Mode: file.Open, Rate: 5, Clients: 1} // 100 queries: 20 s
	quick := file.Load{Mode: file.Open, Rate: 50, Clients: 1}
	slo := file.Load{Mode: file.SLO, P99: time.Second, Clients: 1}
	c := interrupted(visitsOf(m, closedLoads(1)[0], open, quick, slo))
	f := &fakeCell{t: t}
	run(t, c, f)
	for i, want := range []int{2, 0, 2, 0} {
		if p := c.points[i]; len(p.visits) != want || f.counts[i] != want || p.cut != (want == 0) {
			t.Errorf("point %d has %d visits, of %d, cut off: %v", i, len(p.visits), f.counts[i], p.cut)
		}
	}
	// One that has had its first visit does not need the pass any more.
	c = visitsOf(m, open)
	f = &fakeCell{t: t}
	if err := c.round(f, 0); err != nil {
		t.Fatal(err)
	}
	if err := interrupted(c).round(f, 1); err != nil || c.points[0].cut || len(c.points[0].visits) != 2 {
		t.Errorf("%d visits, %v", len(c.points[0].visits), err)
	}
}

// A stopped visit counts for nothing: of a round, its point is given up; of the visits beyond, it keeps what it has.
func TestStoppedVisits(t *testing.T) {
	c := visitsOf(file.Measure{Rounds: 2, MinTime: time.Second}, closedLoads(2)...)
	f := &fakeCell{t: t, stopped: func(point, n int) bool { return point == 1 && n == 1 }}
	run(t, c, f)
	if p := c.points[1]; !p.cut || len(p.visits) != 1 || f.counts[1] != 2 {
		t.Errorf("%d visits of %d, cut off: %v", len(p.visits), f.counts[1], p.cut)
	}
	if p := c.points[0]; p.cut || len(p.visits) != 2 {
		t.Errorf("the other point: %d visits, cut off: %v", len(p.visits), p.cut)
	}
	c = visitsOf(file.Measure{Rounds: 1, MinTime: 100 * time.Millisecond}, closedLoads(1)...) // too few samples for a p99
	f = &fakeCell{t: t, stopped: func(_, n int) bool { return n == 1 }}
	run(t, c, f)
	if p := c.points[0]; p.cut || len(p.visits) != 1 || f.counts[0] != 2 {
		t.Errorf("beyond the rounds: %d visits of %d, cut off: %v", len(p.visits), f.counts[0], p.cut)
	}
}

// A search for a rate ends at once.
func TestInterruptedSearchIsGivenUp(t *testing.T) {
	c := visitsOf(file.Measure{Rounds: 1, MinTime: time.Second}, file.Load{Mode: file.SLO, P99: 5 * time.Millisecond, Clients: 1})
	f := &fakeCell{t: t, limit: 700}
	c.ended = func() bool { return len(f.visits) > 3 }
	run(t, c, f)
	if p := c.points[0]; !p.cut || len(f.visits) != 4 {
		t.Errorf("%d visits, cut off: %v", len(f.visits), p.cut)
	}
	for _, v := range f.visits[1:] {
		if v.Load.Mode != cell.Open {
			t.Errorf("%+v", v)
		}
	}
}
