package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"frontier/bench/load"
	"frontier/sweep/cell"
	"frontier/sweep/file"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// fakeCell answers visits without a process: took says what each query of the nth visit to a point takes.
type fakeCell struct {
	t     *testing.T
	took  func(point, n int) time.Duration
	noisy func(point, n int) bool
	// stopped says which visits come back so.
	stopped func(point, n int) bool
	limit   float64 // queries a second that the cell can serve; arrivals beyond it wait a second
	visits  []cell.Visit
	counts  map[int]int
}

func (f *fakeCell) visit(v cell.Visit) (*cell.Visited, error) {
	f.t.Helper()
	if f.counts == nil {
		f.counts = map[int]int{}
	}
	n := f.counts[v.Point]
	f.counts[v.Point]++
	f.visits = append(f.visits, v)
	if f.stopped != nil && f.stopped(v.Point, n) {
		return &cell.Visited{Stopped: true, Load: v.Load, Next: v.Start}, nil
	}
	h := hdrhistogram.New(1, int64(load.MaxLatency), 3)
	took := time.Millisecond
	if f.took != nil {
		took = f.took(v.Point, n)
	}
	samples := int64(max(v.MinTime/took, 1))
	if v.Load.Mode == cell.Open {
		samples = int64(v.MinTime.Seconds() * v.Load.Rate)
		if v.Load.Rate > f.limit && f.limit > 0 {
			took = time.Second
		}
	}
	if err := h.RecordValues(int64(took), samples); err != nil {
		return nil, err
	}
	raw, err := load.EncodeHistogram(h)
	if err != nil {
		return nil, err
	}
	out := &cell.Visited{Load: v.Load, Histogram: raw, Samples: samples, Total: took * time.Duration(samples), Longest: took, Wall: v.MinTime, Spent: v.Warmup + v.MinTime, Next: v.Start + int(samples)}
	if v.Load.Mode == cell.Open {
		out.Service = raw
	}
	if v.Keep {
		out.Answers = fmt.Sprint("answers of ", v.Point)
	}
	if f.noisy != nil && f.noisy(v.Point, n) {
		out.Noise.Reasons = []string{"steal"}
	}
	return out, nil
}

func (f *fakeCell) order() string {
	var s []string
	for _, v := range f.visits {
		s = append(s, fmt.Sprint(v.Point))
	}
	return strings.Join(s, "")
}

func visitsOf(m file.Measure, loads ...file.Load) *cellVisits {
	var points []*pointRun
	for i, l := range loads {
		points = append(points, &pointRun{plan: pointPlan{id: fmt.Sprint("p", i), load: l}, index: i})
	}
	if m.Noisy == "" {
		m.Noisy = noisyRepeat
	}
	return newCellVisits(schedule{measure: m, seed: 3, say: func(string) {}, ended: func() bool { return false }, patience: patience}, points)
}

func closedLoads(n int) []file.Load {
	return slices.Repeat([]file.Load{{Mode: file.Closed, Clients: 1}}, n)
}

func run(t *testing.T, c *cellVisits, f *fakeCell) {
	t.Helper()
	for n := range c.measure.Rounds {
		if err := c.round(f, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.settle(f); err != nil {
		t.Fatal(err)
	}
}

func TestRoundsAreMirrored(t *testing.T) {
	c := visitsOf(file.Measure{Rounds: 3, MinTime: time.Second}, closedLoads(4)...)
	f := &fakeCell{t: t}
	run(t, c, f)
	got := f.order()
	if len(got) != 12 {
		t.Fatalf("visits %s", got)
	}
	back := []byte(got[:4])
	slices.Reverse(back)
	if got[4:8] != string(back) || got[8:] != got[:4] {
		t.Errorf("visits %s are not mirrored", got)
	}
	for i, v := range f.visits {
		if first := i < 4; v.Keep != first || v.EachOnce != first {
			t.Errorf("visit %d: %+v", i, v)
		}
	}
	// A visit goes on in the order of the queries where the last one to the point stopped.
	if v := f.visits[11]; v.Start != 2000 {
		t.Errorf("the third visit begins at %d", v.Start)
	}
}

func TestMoreVisitsUntilP99(t *testing.T) {
	c := visitsOf(file.Measure{Rounds: 1, MinTime: 100 * time.Millisecond}, closedLoads(1)...)
	f := &fakeCell{t: t} // 100 samples a visit, and 368 are needed
	run(t, c, f)
	if len(f.visits) != 4 {
		t.Errorf("%d visits", len(f.visits))
	}
	c = visitsOf(file.Measure{Rounds: 1, MinTime: 100 * time.Millisecond, MaxTime: 250 * time.Millisecond}, closedLoads(1)...)
	f = &fakeCell{t: t}
	run(t, c, f)
	if len(f.visits) != 3 {
		t.Errorf("%d visits within max_time", len(f.visits))
	}
}

func TestNoisyVisitsAreRepeated(t *testing.T) {
	m := file.Measure{Rounds: 3, MinTime: time.Second}
	c := visitsOf(m, closedLoads(1)...)
	f := &fakeCell{t: t, noisy: func(_, n int) bool { return n == 1 }}
	run(t, c, f)
	p := c.points[0]
	if used := c.used(p); len(p.visits) != 4 || len(used) != 3 || countNoisy(used) != 0 {
		t.Errorf("%d visits, %d used, %d noisy", len(p.visits), len(used), countNoisy(used))
	}
	// Where it never becomes quiet, repeating ends, and all visits count.
	c = visitsOf(m, closedLoads(1)...)
	f = &fakeCell{t: t, noisy: func(_, _ int) bool { return true }}
	run(t, c, f)
	p = c.points[0]
	if used := c.used(p); len(p.visits) != 6 || len(used) != 6 || countNoisy(used) != 6 {
		t.Errorf("%d visits, %d used, %d noisy", len(p.visits), len(used), countNoisy(used))
	}
	m.Noisy = "keep"
	c = visitsOf(m, closedLoads(1)...)
	f = &fakeCell{t: t, noisy: func(_, _ int) bool { return true }}
	run(t, c, f)
	if n := len(c.points[0].visits); n != 3 {
		t.Errorf("%d visits, where disturbed ones are to be kept", n)
	}
}

func TestUntil(t *testing.T) {
	m := file.Measure{Rounds: 3, MinTime: time.Second, Until: []file.Until{{Stat: "p50", Width: 0.01}, {Stat: "qps", Width: 0.01}}}
	// Every visit takes the same: three are enough.
	c := visitsOf(m, closedLoads(1)...)
	f := &fakeCell{t: t}
	run(t, c, f)
	if len(f.visits) != 3 {
		t.Errorf("%d visits to a steady point", len(f.visits))
	}
	// Visits that differ by a tenth take more of them, and never get there within the time.
	m.MaxTime = 20 * time.Second
	c = visitsOf(m, closedLoads(1)...)
	f = &fakeCell{t: t, took: func(_, n int) time.Duration { return time.Millisecond + time.Duration(n%2)*100*time.Microsecond }}
	run(t, c, f)
	met, err := c.untilMet(c.used(c.points[0]))
	if err != nil || met || len(f.visits) != 20 {
		t.Errorf("%d visits, converged %v, %v", len(f.visits), met, err)
	}
	// With a wider interval allowed they get there, after more than three visits.
	m.Until = []file.Until{{Stat: "mean", Width: 0.04}}
	c = visitsOf(m, closedLoads(1)...)
	f = &fakeCell{t: t, took: f.took}
	run(t, c, f)
	met, err = c.untilMet(c.used(c.points[0]))
	if err != nil || !met || len(f.visits) < 5 || len(f.visits) >= 20 {
		t.Errorf("%d visits, converged %v, %v", len(f.visits), met, err)
	}
}

func TestInterruptedSettlesForLess(t *testing.T) {
	c := visitsOf(file.Measure{Rounds: 1, MinTime: time.Millisecond}, closedLoads(2)...)
	c.ended = func() bool { return true }
	f := &fakeCell{t: t}
	run(t, c, f)
	if len(f.visits) != 2 {
		t.Errorf("%d visits after an interruption", len(f.visits))
	}
}

func TestFindsTheRateOfAnSLO(t *testing.T) {
	const limit = 731.0
	c := visitsOf(file.Measure{Rounds: 2, MinTime: time.Second}, file.Load{Mode: file.SLO, P99: 5 * time.Millisecond, Clients: 1, Arrivals: file.Poisson})
	f := &fakeCell{t: t, limit: limit}
	run(t, c, f)
	r := c.points[0].rate
	if r.found > limit || r.failed <= limit || r.failed > 1.06*r.found || r.ended {
		t.Errorf("found %v to %v", r.found, r.failed)
	}
	last := f.visits[len(f.visits)-1]
	if last.Load.Mode != cell.Open || last.Load.Rate != r.found || len(c.points[0].visits) != 2 {
		t.Errorf("measured with %+v in %d visits", last.Load, len(c.points[0].visits))
	}
	seeds := map[uint64]bool{}
	for _, v := range f.visits[1:] { // the first is a closed loop
		seeds[v.Seed] = true
	}
	if len(seeds) != len(f.visits)-1 {
		t.Errorf("%d visits have %d different arrivals", len(f.visits)-1, len(seeds))
	}
}

// Where no rate is slow enough, the point is measured at the lowest that failed, and says so; but not so slowly that asking
// every question takes hours.
func TestNoRateKeepsTheSLO(t *testing.T) {
	for queries, want := range map[int]float64{1: 0.1, 3000: 100, 1e6: 1000} { // a closed loop does 1000 a second
		c := visitsOf(file.Measure{Rounds: 1, MinTime: time.Second}, file.Load{Mode: file.SLO, P99: time.Microsecond, Clients: 1})
		c.queries = queries
		f := &fakeCell{t: t}
		run(t, c, f)
		if r := c.points[0].rate; r.found != 0 || r.failed != 0.1 {
			t.Errorf("%+v", r)
		}
		if last := f.visits[len(f.visits)-1]; last.Load.Rate != want {
			t.Errorf("%d queries are asked at %v a second", queries, last.Load.Rate)
		}
	}
}

// A search whose time is up at once still has a rate to measure.
func TestNoTimeForTheRate(t *testing.T) {
	c := visitsOf(file.Measure{Rounds: 1, MinTime: time.Second, MaxTime: 1}, file.Load{Mode: file.SLO, P99: time.Microsecond, Clients: 1})
	f := &fakeCell{t: t}
	run(t, c, f)
	if r := c.points[0].rate; r.found != 0 || r.failed <= 0 || !r.ended {
		t.Errorf("%+v", r)
	}
	if last := f.visits[len(f.visits)-1]; last.Load.Rate <= 0 {
		t.Errorf("measured at %v arrivals a second", last.Load.Rate)
	}
}
