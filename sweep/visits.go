package sweep

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"frontier/bench/load"
	"frontier/bench/stats"
	"frontier/sweep/cell"
	"frontier/sweep/file"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// visitor is a loaded cell.
type visitor interface {
	visit(cell.Visit) (*cell.Visited, error)
}

// schedule says how often and for how long points are visited. It knows nothing of processes.
type schedule struct {
	measure file.Measure
	timeout time.Duration // for one query; 0 means none
	seed    uint64
	queries int
	say     func(string) // what is going on
	// ended says that the user wants to go. Then there are no more visits than were promised, and none of those that take
	// longer than patience.
	ended    func() bool
	patience time.Duration
}

// pointRun is one point of a cell, with the others that are the same once their parameters are in effect, and what has
// been measured of it so far.
type pointRun struct {
	plan    pointPlan
	index   int // in the request
	visits  []*cell.Visited
	next    int           // where in the order of queries the next visit begins
	spent   time.Duration // on visits, warm-up included
	answers string
	stages  []string
	rate    *rate // of an SLO
	keepsUp bool  // of an open loop that was measured: its queue did not grow
	cut     bool  // a visit that was promised was not made, or not to its end: there is no row of it
}

// rate is what the search for the highest rate came to.
type rate struct {
	found  float64 // arrivals a second; 0 if none was slow enough
	failed float64 // the lowest that did not keep the promise; 0 if none was seen
	// instead is what is measured where none was found: the lowest that was tried, but not so low that asking every question
	// once would take longer than the search was to take.
	instead float64
	trials  int
	ended   bool // the budget ended before the two were near each other
}

// cellVisits is the visits to the points of one cell, in one session or in several.
type cellVisits struct {
	schedule
	points []*pointRun
	order  []int // of the points in the next round
}

func newCellVisits(s schedule, points []*pointRun) *cellVisits {
	rng := rand.New(rand.NewPCG(s.seed, 0x6d656173757265))
	return &cellVisits{schedule: s, points: points, order: rng.Perm(len(points))}
}

// round visits every point once. Each round goes the other way round (A B B A), so that drift of the machine spreads
// over the points. A point whose time is up after at least one visit is passed over. One that goes without its visit
// because the user wants to go is given up.
func (c *cellVisits) round(v visitor, n int) error {
	for _, i := range c.order {
		p := c.points[i]
		if p.cut || len(p.visits) > 0 && c.measure.MaxTime > 0 && p.spent >= c.measure.MaxTime {
			continue
		}
		if p.cut = c.ended() && c.takes(p) > c.patience; p.cut {
			continue
		}
		c.say(fmt.Sprintf("round %d of %d, point %s", n+1, c.measure.Rounds, p.plan.id))
		err := c.once(v, p)
		if p.cut = errors.Is(err, errStopped); err != nil && !p.cut {
			return err
		}
	}
	slices.Reverse(c.order)
	return nil
}

// settle visits points again as long as they need it and have time left: because a visit was disturbed, because a 99th
// percentile needs more samples, which slow engines on few queries would otherwise lack, or because an interval is not
// as narrow as asked. These visits are interleaved and mirrored as well.
func (c *cellVisits) settle(v visitor) error {
	open := slices.Clone(c.points)
	for !c.ended() {
		var err error
		open = slices.DeleteFunc(open, func(p *pointRun) bool {
			more, needErr := c.needsMore(p)
			err = errors.Join(err, needErr)
			return !more
		})
		if err != nil || len(open) == 0 {
			return err
		}
		for _, p := range open {
			if c.ended() {
				return nil
			}
			c.say(fmt.Sprintf("visit %d to point %s", len(p.visits)+1, p.plan.id))
			if err := c.once(v, p); errors.Is(err, errStopped) {
				return nil
			} else if err != nil {
				return err
			}
		}
		slices.Reverse(open)
	}
	return nil
}

// needsMore says whether a point should be visited again.
func (c *cellVisits) needsMore(p *pointRun) (bool, error) {
	if p.cut || p.spent >= c.budget() {
		return false, nil
	}
	used := c.used(p)
	if sampled(used) < enoughSamples {
		return true, nil
	}
	quiet := len(used) - countNoisy(used)
	if c.measure.Noisy == noisyRepeat && quiet < c.measure.Rounds && len(p.visits) < 2*c.measure.Rounds {
		return true, nil
	}
	met, err := c.untilMet(used)
	return !met, err
}

// What becomes of noisy visits.
const noisyRepeat = "repeat"

// The budgets of a sweep that sets no max_time, for visits beyond its rounds.
const (
	defaultBudget = 10 * time.Second
	untilBudget   = 60 * time.Second
)

// budget is the time that visits beyond the rounds may bring a point to.
func (c *cellVisits) budget() time.Duration {
	m := c.measure
	switch {
	case m.MaxTime > 0:
		return m.MaxTime
	case len(m.Until) > 0:
		return untilBudget
	}
	return max(defaultBudget, 2*time.Duration(m.Rounds)*(m.Warmup+m.MinTime))
}

// enoughSamples is what a 99th percentile needs.
var enoughSamples = int64(stats.MinSamples(0.99, confidence))

func sampled(visits []*cell.Visited) int64 {
	n := int64(0)
	for _, v := range visits {
		n += v.Samples
	}
	return n
}

// used are the visits that count: the quiet ones, if these are as many as rounds were asked for and have the samples that a
// p99 needs (or all together have too few as well), else all. What makes a
// visit noisy is read from the machine and never from latencies, so that slow answers are not thrown out for being slow.
func (c *cellVisits) used(p *pointRun) []*cell.Visited {
	if c.measure.Noisy != noisyRepeat {
		return p.visits
	}
	var quiet []*cell.Visited
	for _, v := range p.visits {
		if len(v.Noise.Reasons) == 0 {
			quiet = append(quiet, v)
		}
	}
	if len(quiet) < c.measure.Rounds || sampled(quiet) < enoughSamples && sampled(p.visits) >= enoughSamples {
		return p.visits
	}
	return quiet
}

func countNoisy(visits []*cell.Visited) int {
	n := 0
	for _, v := range visits {
		if len(v.Noise.Reasons) > 0 {
			n++
		}
	}
	return n
}

// errStopped is a visit that was stopped because the user wants to go. Nothing of it counts.
var errStopped = errors.New("the visit was stopped")

// takes is what the next visit to a point takes at least, as far as that follows from the sweep file.
func (c *cellVisits) takes(p *pointRun) time.Duration {
	least := c.measure.MinTime
	switch {
	case p.plan.load.Mode == file.SLO && p.rate == nil:
		least = max(least, c.rateBudget())
	case p.plan.load.Mode == file.Open && p.answers == "":
		least = max(least, passTime(p.plan.load, c.queries))
	}
	return c.measure.Warmup + least
}

// once visits a point once more.
func (c *cellVisits) once(v visitor, p *pointRun) error {
	if p.plan.load.Mode == file.SLO && p.rate == nil {
		if err := c.findRate(v, p); err != nil {
			return fmt.Errorf("point %s: %w", p.plan.id, err)
		}
	}
	first := p.answers == ""
	visited, err := c.visit(v, p, cell.Visit{
		Load: c.load(p), Keep: first, EachOnce: first || c.measure.MinTime == 0, Warmup: c.measure.Warmup, MinTime: c.measure.MinTime,
	})
	if err != nil {
		return err
	}
	p.visits = append(p.visits, visited)
	if first {
		p.answers, p.stages = visited.Answers, visited.Stages
	}
	return nil
}

// visit fills in what every visit to a point has.
func (c *cellVisits) visit(v visitor, p *pointRun, ask cell.Visit) (*cell.Visited, error) {
	ask.Point, ask.Start = p.index, p.next
	ask.Seed = c.seed + uint64(len(p.visits)) // other arrivals each time
	if p.rate != nil {
		ask.Seed += uint64(p.rate.trials) << 32
	}
	visited, err := v.visit(ask)
	if err != nil {
		return nil, err
	}
	if visited.Stopped {
		return nil, errStopped
	}
	p.next, p.spent = visited.Next, p.spent+visited.Spent
	return visited, nil
}

// load is how queries are sent to a point. The rate of an SLO has been found by then.
func (c *cellVisits) load(p *pointRun) cell.Load {
	l := p.plan.load
	out := cell.Load{Mode: cell.Closed, Clients: l.Clients, Timeout: c.timeout}
	if l.Mode == file.Closed {
		return out
	}
	out.Mode, out.Rate, out.Constant = cell.Open, l.Rate, l.Arrivals == file.Constant
	if p.rate != nil {
		out.Rate = p.rate.found
		if out.Rate == 0 {
			out.Rate = p.rate.instead
		}
	}
	return out
}

// untilMet says whether all intervals are as narrow as the sweep file asks; true if it asks for none.
func (c *cellVisits) untilMet(visits []*cell.Visited) (bool, error) {
	if len(c.measure.Until) == 0 {
		return true, nil
	}
	blocks, err := decodeVisits(visits)
	if err != nil {
		return false, err
	}
	for _, u := range c.measure.Until {
		if !estimateOf(u.Stat, blocks).narrow(u.Width) {
			return false, nil
		}
	}
	return true, nil
}

// quantiles are the statistics that are percentiles.
var quantiles = map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}

// statistic is a statistic over visits with its 95% interval, in base units.
type statistic struct {
	value, low, high float64
	enough           bool // the samples suffice for the statistic
	interval         bool // and the visits for its interval
}

// narrow says whether both ends of the interval are within a share of the value.
func (e statistic) narrow(width float64) bool {
	return e.interval && e.value-e.low <= width*e.value && e.high-e.value <= width*e.value
}

// estimateOf computes a statistic of UntilStats, or another percentile, over visits.
func estimateOf(stat string, blocks []*load.Block) statistic {
	if p, isQuantile := quantiles[stat]; isQuantile {
		var histograms []*hdrhistogram.Histogram
		for _, b := range blocks {
			histograms = append(histograms, b.Histogram)
		}
		q := stats.PercentileOverBlocks(histograms, p, confidence)
		return statistic{q.Value.Seconds(), q.Low.Seconds(), q.High.Seconds(), q.Enough, q.Interval}
	}
	var over, under []float64
	for _, b := range blocks {
		if stat == "qps" {
			over, under = append(over, float64(b.Samples-b.Errors-b.Dropped)), append(under, b.Wall.Seconds())
		} else {
			over, under = append(over, b.Total.Seconds()), append(under, float64(b.Samples))
		}
	}
	value, low, high := stats.BlockRatio(over, under, confidence, resamples, 1)
	return statistic{value, max(low, 0), high, !math.IsNaN(value), !math.IsNaN(low)}
}

func decodeVisits(visits []*cell.Visited) ([]*load.Block, error) {
	var blocks []*load.Block
	for _, v := range visits {
		b, err := decodeVisit(v)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// decodeVisit is the block of load that a visit was, as far as rows need it.
func decodeVisit(v *cell.Visited) (*load.Block, error) {
	h, err := load.DecodeHistogram(v.Histogram)
	if err != nil {
		return nil, err
	}
	b := &load.Block{
		Clients: v.Load.Clients, Rate: v.Load.Rate, Histogram: h, Samples: v.Samples, Errors: v.Errors, TimedOut: v.TimedOut, Dropped: v.Dropped, Late: v.Late,
		Waited: v.Waited, Overslept: v.Overslept, Total: v.Total, Longest: v.Longest, Wall: v.Wall,
	}
	if len(v.Service) > 0 {
		if b.Service, err = load.DecodeHistogram(v.Service); err != nil {
			return nil, err
		}
	}
	return b, nil
}
