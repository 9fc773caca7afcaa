package sweep

import (
	"context"
	"fmt"
	"math"
	"time"

	"frontier/bench/load"
	"frontier/bench/stats"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// How the highest rate of an SLO is searched for.
const (
	rateResolution = 0.05 // between the highest rate that kept it and the lowest that did not
	rateTrials     = 60
	defaultSearch  = 30 * time.Second // of a sweep that sets no max_time
	// A query that waited so many times the latency that is promised is dropped: the trial has failed, and its queue need
	// not be served to the end.
	hopeless = 20
	leastMax = 100 * time.Millisecond
)

// rateBudget is how long trials of the search are begun.
func (c *cellVisits) rateBudget() time.Duration {
	if c.measure.MaxTime > 0 {
		return c.measure.MaxTime
	}
	return defaultSearch
}

// findRate searches for the highest rate of arrivals at which the p99 of a point is what its SLO promises. The first
// rate that is tried is what a closed loop reaches.
func (c *cellVisits) findRate(v visitor, p *pointRun) error {
	promise := p.plan.load
	p.rate = &rate{}
	c.say("what can point " + p.plan.id + " serve")
	closed, err := c.visit(v, p, cell.Visit{
		Load:   cell.Load{Mode: cell.Closed, Clients: promise.Clients, Timeout: c.timeout},
		Warmup: c.measure.Warmup, MinTime: max(c.measure.MinTime, leastTrial),
	})
	if err != nil {
		return err
	}
	search := load.RateSearch{
		Start: float64(closed.Samples) / closed.Wall.Seconds(), Lowest: 0.1, Resolution: rateResolution, Trials: rateTrials, Budget: c.rateBudget(),
	}
	search.Start = min(max(search.Start, search.Lowest), load.MaxRate)
	found, err := load.FindRate(context.Background(), search, func(_ context.Context, rate float64) (load.Trial, error) {
		if c.ended() {
			return load.Trial{}, errStopped // half of a search says nothing
		}
		trial, err := c.tryRate(v, p, promise, rate)
		p.rate.trials++ // afterwards, so that no trial has the arrivals of what is measured at the end
		return trial, err
	})
	if err != nil {
		return err
	}
	if found.Best != nil {
		p.rate.found = found.Best.Rate
	}
	if p.rate.failed = found.Fails; math.IsInf(found.Fails, 1) {
		p.rate.failed = 0
		if found.Best == nil { // time was up before any rate was decided on
			p.rate.failed = search.Start
		}
		for _, t := range found.Trials {
			if found.Best == nil {
				p.rate.failed = min(p.rate.failed, t.Rate)
			}
		}
	}
	p.rate.instead = max(p.rate.failed, min(search.Start, float64(c.queries)/c.rateBudget().Seconds()))
	p.rate.ended = found.End == load.RateOutOfBudget
	p.spent = 0 // the search has a budget of its own
	return nil
}

// leastTrial is how long a rate is tried at least; mostTrial bounds what slow rates may take to give a p99.
const (
	leastTrial = 200 * time.Millisecond
	mostTrial  = 5 * time.Second
)

// tryRate sends arrivals at one rate for as long as a p99 needs.
func (c *cellVisits) tryRate(v visitor, p *pointRun, promise file.Load, rate float64) (load.Trial, error) {
	enough := time.Duration(1.2 * float64(stats.MinSamples(0.99, confidence)) / rate * float64(time.Second))
	ask := cell.Visit{
		Load: cell.Load{
			Mode: cell.Open, Clients: promise.Clients, Rate: rate, Constant: promise.Arrivals == file.Constant, Timeout: c.timeout,
			MaxWait: max(hopeless*promise.P99, leastMax),
		},
		Warmup: c.measure.Warmup, MinTime: max(c.measure.MinTime, leastTrial, min(enough, mostTrial)),
	}
	visited, err := c.visit(v, p, ask)
	if err != nil {
		return load.Trial{}, err
	}
	block, err := decodeVisit(visited)
	if err != nil {
		return load.Trial{}, err
	}
	p99, _, _, _ := stats.Percentile(block.Histogram, 0.99) // with fewer samples than an interval needs it is what there is
	trial := load.Trial{Rate: rate, Block: block}
	trial.Holds = block.Samples > 0 && block.Dropped == 0 && block.Errors == 0 && p99 <= promise.P99 && keptUp(block, ask.MinTime)
	if !trial.Holds {
		trial.Why = fmt.Sprintf("p99 %v, %d dropped, %d failed, %v for %v of arrivals", p99, block.Dropped, block.Errors, block.Wall, ask.MinTime)
	}
	return trial, nil
}

// keptUp says whether a block that lasted for planned was answered in about that time. Else its queue grew, and a longer
// one would have shown any latency: a rate that is promised must be one that can go on.
func keptUp(b *load.Block, planned time.Duration) bool {
	return b.Wall <= planned+planned/10+2*time.Millisecond+afterLast(b)
}

// keptRate is the share of the arrivals that must be answered in time: fewer mean that the queue grew.
const keptRate = 0.85

// keepsUp says the same of several blocks together, of which it is not known how long each was to last: as many answers
// came in their time as arrivals do, but for a share, and for what the number of random arrivals may fall short of by chance.
func keepsUp(all *load.Block, blocks int, rate float64) bool {
	due := rate * (all.Wall - time.Duration(blocks)*afterLast(all)).Seconds()
	missing := due - float64(all.Samples-all.Dropped)
	return missing <= max((1-keptRate)*due, 3*math.Sqrt(max(due, 0)))
}

// afterLast is by how much a block outlasts its arrivals where nothing ever waits: the last one has yet to be served.
func afterLast(b *load.Block) time.Duration {
	if b.Service == nil {
		return 0
	}
	return time.Duration(b.Service.ValueAtQuantile(99))
}
