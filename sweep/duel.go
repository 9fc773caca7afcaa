package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"frontier/bench/load"
	"frontier/bench/machine"
	"frontier/bench/stats"
	"frontier/results"
	"frontier/results/ab"
	"frontier/results/arrowfile"
	"frontier/sweep/cell"
)

// duel measures pairs of points.
type duel struct {
	ABOptions
	base, next *abPrepared
	dir        string
	points     []ab.Point
	few        bool // there were too few questions to compare quality by
}

// duelist is one side of the pair that is being measured.
type duelist struct {
	*abPrepared
	cell    *cellPlan // that session has loaded
	session *session
	run     *cellRun
	index   int // of the point
	dir     string
}

// run measures all pairs, those of the same two cells together.
func (d *duel) run(ctx context.Context, pairs []abPair) error {
	unlock, err := machine.Lock(ctx, func() {
		d.tell("warning", "waiting until the other sweep on this machine has measured its cell")
	})
	if err != nil {
		return err
	}
	defer unlock()
	a := &duelist{abPrepared: d.base, dir: filepath.Join(d.dir, "base")}
	b := &duelist{abPrepared: d.next, dir: filepath.Join(d.dir, "new")}
	defer a.close()
	defer b.close()
	for _, one := range []*duelist{a, b} {
		if err := os.Mkdir(one.dir, 0o700); err != nil {
			return err
		}
	}
	for i, pair := range pairs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.Progress != nil {
			d.Progress(Event{Stage: "measure", Detail: pair.base.cell.describe(), Done: i, Total: len(pairs)})
		}
		begun := time.Now()
		point := ab.Point{
			Base: pair.base.cell.points[pair.base.index].id, New: pair.next.cell.points[pair.next.index].id,
			Key: pair.key, Changed: pair.changed, Metrics: []ab.Metric{},
		}
		err := d.measure(ctx, a, b, pair, &point)
		var failed *cellError
		switch {
		case errors.As(err, &failed):
			point.Error = shorten(failed.Error(), maxError)
			a.close() // whichever of the two it was, the other must not stay loaded with a cell of before
			b.close()
		case err != nil:
			return err
		}
		point.Seconds = time.Since(begun).Seconds()
		d.points = append(d.points, point)
	}
	return nil
}

func (d *duel) tell(stage, text string) {
	if d.Progress != nil {
		d.Progress(Event{Stage: stage, Detail: text})
	}
}

// enter makes the session of a side one of the cell of its point.
func (s *duelist) enter(ctx context.Context, p abPoint, memory int64) error {
	s.index = p.index
	if s.cell == p.cell && s.session != nil {
		return nil
	}
	s.close()
	for _, part := range p.cell.parts {
		if part.err != nil {
			return &cellError{Status: statusFailed, Msg: "build: " + part.err.Error()}
		}
	}
	if err := s.runner.writeFilters(p.cell, s.dir); err != nil {
		return err
	}
	req := s.runner.measureRequest(p.cell, s.dir, false)
	session, err := openSession(ctx, s.side.Command, req, memory, s.runner.file.Limits.CellTime)
	if err != nil {
		return err
	}
	s.cell, s.session, s.run = p.cell, session, &cellRun{plan: p.cell, loaded: session.loaded}
	return nil
}

func (s *duelist) close() {
	if s.session != nil {
		s.session.close()
	}
	s.cell, s.session = nil, nil
}

// measure compares one pair of points.
func (d *duel) measure(ctx context.Context, a, b *duelist, pair abPair, point *ab.Point) error {
	if err := a.enter(ctx, pair.base, d.Base.File.Limits.Memory); err != nil {
		return err
	}
	if err := b.enter(ctx, pair.next, d.New.File.Limits.Memory); err != nil {
		return err
	}
	// Each side is asked every question first: the answers are what quality is compared by, and the time that this takes
	// says how many questions make a block.
	first, err := d.first(a)
	if err != nil {
		return err
	}
	second, err := d.first(b)
	if err != nil {
		return err
	}
	rate := math.Sqrt(perSecond(first) * perSecond(second))
	point.Queries = max(fewestQueries, int(math.Ceil(rate*d.Block.Seconds())))
	blocks, err := d.blocks(a, b, point)
	if err != nil {
		return err
	}
	for _, m := range abMetrics {
		metric, ok, err := d.compare(m.name, m.stat, m.lower, blocks)
		if err != nil {
			return fmt.Errorf("compare %s: %w", m.name, err)
		}
		if ok {
			point.Metrics = append(point.Metrics, metric)
		}
	}
	point.Metrics = append(point.Metrics, d.unanswered(blocks)...)
	return d.answers(a, b, first, second, point)
}

// unanswered compares how many queries of the blocks failed and were dropped, where any were. A side that fails fast would
// look the better one by its latencies.
func (d *duel) unanswered(blocks duelBlocks) []ab.Metric {
	var metrics []ab.Metric
	for _, c := range []struct {
		name  string
		count func(*load.Block) int64
	}{
		{"errors", func(b *load.Block) int64 { return b.Errors }},
		{"dropped", func(b *load.Block) int64 { return b.Dropped }},
	} {
		m := ab.Metric{Name: c.name, Decision: stats.Same}
		var samples int64
		for i := range blocks.base {
			m.Base += float64(c.count(blocks.base[i]))
			m.New += float64(c.count(blocks.next[i]))
			samples += min(blocks.base[i].Samples, blocks.next[i].Samples)
		}
		if m.Base == 0 && m.New == 0 {
			continue
		}
		m.Change, m.Margin = m.New-m.Base, d.QualityMargin*float64(samples)
		switch {
		case m.Change > m.Margin:
			m.Decision = stats.Worse
		case m.Change < -m.Margin:
			m.Decision = stats.Better
		}
		metrics = append(metrics, m)
	}
	return metrics
}

// fewestQueries keeps a block of slow queries long enough for a median.
const fewestQueries = 20

// perSecond is the rate that a block of a given length is planned with: that of arrivals for an open loop.
func perSecond(v *cell.Visited) float64 {
	if v.Wall <= 0 {
		return 0
	}
	return float64(v.Samples) / v.Wall.Seconds()
}

// load is how a side's point is asked.
func (s *duelist) load() cell.Load {
	visits := cellVisits{schedule: schedule{timeout: s.runner.file.Limits.Query}}
	return visits.load(&pointRun{plan: s.cell.points[s.index]})
}

func (d *duel) first(s *duelist) (*cell.Visited, error) {
	return s.session.visit(cell.Visit{Point: s.index, Load: s.load(), Keep: true, EachOnce: true, Warmup: d.Block, Seed: s.runner.file.Seed})
}

// duelBlocks are pairs of blocks of both sides.
type duelBlocks struct{ base, next []*load.Block }

// blocks measures pairs of blocks. Both blocks of a pair send the same queries, in the same order; which side comes first is
// drawn for each pair, which is what the test of the differences rests on. Pairs that the machine disturbed are measured
// again, at most half as many again, and count only if there are not enough others.
func (d *duel) blocks(a, b *duelist, point *ab.Point) (duelBlocks, error) {
	rng := rand.New(rand.NewPCG(d.Base.File.Seed, uint64(len(d.points))))
	var quiet, all duelBlocks
	at := 0
	for i := 0; d.wants(i, len(quiet.base)); i++ {
		sides := []*duelist{a, b}
		if rng.IntN(2) == 1 {
			slices.Reverse(sides)
		}
		found := map[*duelist]*load.Block{}
		noisy := false
		for _, s := range sides {
			v, err := s.session.visit(cell.Visit{
				Point: s.index, Load: s.load(), Start: at, Count: point.Queries, Warmup: warmup(d.Block), Seed: d.Base.File.Seed + uint64(i),
			})
			if err != nil {
				return duelBlocks{}, err
			}
			noisy = noisy || len(v.Noise.Reasons) > 0
			if found[s], err = decodeVisit(v); err != nil {
				return duelBlocks{}, err
			}
		}
		at += point.Queries
		all.add(found[a], found[b])
		if !noisy {
			quiet.add(found[a], found[b])
		}
	}
	used := quiet
	if len(quiet.base) < d.Pairs {
		used = all
		point.Noisy = len(all.base) - len(quiet.base)
	}
	point.Pairs = len(used.base)
	return used, nil
}

// wants says whether another pair is to be measured after so many, of which some were quiet.
func (d *duel) wants(measured, quiet int) bool {
	if measured < d.Pairs {
		return true
	}
	left := d.Pairs + d.Pairs/2 - measured
	return quiet < d.Pairs && quiet+left >= d.Pairs
}

// warmup is the unmeasured time before a block. The other side had the caches until then.
func warmup(block time.Duration) time.Duration {
	return max(block/10, min(block, 10*time.Millisecond))
}

func (b *duelBlocks) add(base, next *load.Block) {
	b.base, b.next = append(b.base, base), append(b.next, next)
}

// compare decides on a statistic of blocks. It is not ok where the blocks do not have it.
func (d *duel) compare(name, stat string, lower bool, blocks duelBlocks) (ab.Metric, bool, error) {
	var base, next []float64
	for i := range blocks.base {
		x, okX := blockStatistic(stat, blocks.base[i])
		y, okY := blockStatistic(stat, blocks.next[i])
		if !okX || !okY {
			return ab.Metric{}, false, nil
		}
		base, next = append(base, x), append(next, y)
	}
	c, err := stats.Compare(base, next, stats.CompareOptions{
		Confidence: d.Confidence, Margin: d.Margin, Relative: true, LowerIsBetter: lower, Seed: d.Base.File.Seed,
	})
	if err != nil {
		return ab.Metric{}, false, err
	}
	m := ab.Metric{
		Name: name, Relative: true, Change: c.Estimate, Low: ab.Finite(c.Low), High: ab.Finite(c.High), P: &c.P, Margin: d.Margin, Decision: c.Decision,
	}
	m.Base, m.BaseLow, m.BaseHigh = overall(stat, blocks.base)
	m.New, m.NewLow, m.NewHigh = overall(stat, blocks.next)
	return m, true, nil
}

// overall is a statistic over all blocks of a side with its 95% interval.
func overall(stat string, blocks []*load.Block) (value float64, low, high *float64) {
	e := estimateOf(stat, blocks)
	if !e.interval {
		return e.value, nil, nil
	}
	return e.value, ab.Finite(e.low), ab.Finite(e.high)
}

// blockStatistic is a statistic of one block, in base units. A percentile needs a sample beyond it, and a rate or a
// latency of 0 has no logarithm.
func blockStatistic(stat string, b *load.Block) (float64, bool) {
	v := math.NaN()
	switch p, isQuantile := quantiles[stat]; {
	case stat == "qps":
		v = b.QPS()
	case stat == "mean":
		v = b.Mean()
	case isQuantile && float64(b.Samples)*(1-p) >= 1:
		q, _, _, _ := stats.Percentile(b.Histogram, p)
		v = q.Seconds()
	}
	return v, v > 0
}

// answers compares quality by query, and sizes.
func (d *duel) answers(a, b *duelist, first, second *cell.Visited, point *ab.Point) error {
	base, err := a.score(first)
	if err != nil {
		return err
	}
	next, err := b.score(second)
	if err != nil {
		return err
	}
	for _, name := range abQuality(min(a.runner.maxK(), b.runner.maxK())) {
		x, y := pairedValues(base.queries, next.queries, name)
		if len(x) < stats.MinPairs(d.Confidence) {
			d.few = d.few || len(x) > 0
			continue
		}
		c, err := stats.Compare(x, y, stats.CompareOptions{Confidence: d.Confidence, Margin: d.QualityMargin, Mean: true, Seed: d.Base.File.Seed})
		if err != nil {
			return fmt.Errorf("compare %s: %w", name, err)
		}
		point.Metrics = append(point.Metrics, ab.Metric{
			Name: name, Base: sum(x) / float64(len(x)), New: sum(y) / float64(len(y)), Change: c.Estimate,
			Low: ab.Finite(c.Low), High: ab.Finite(c.High), P: &c.P, Margin: d.QualityMargin, Decision: c.Decision,
		})
	}
	for _, name := range []string{"index_bytes", "disk_bytes"} {
		if m, ok := exactMetric(name, base.row, next.row, d.Margin); ok {
			point.Metrics = append(point.Metrics, m)
		}
	}
	return nil
}

// exactMetric compares what does not vary from one measurement to the next.
func exactMetric(name string, base, next results.Row, margin float64) (ab.Metric, bool) {
	x, okX := base[name].(int64)
	y, okY := next[name].(int64)
	if !okX || !okY || x <= 0 {
		return ab.Metric{}, false
	}
	m := ab.Metric{Name: name, Base: float64(x), New: float64(y), Relative: true, Change: float64(y)/float64(x) - 1, Margin: margin, Decision: stats.Same}
	switch {
	case m.Change > margin:
		m.Decision = stats.Worse
	case m.Change < -margin/(1+margin):
		m.Decision = stats.Better
	}
	return m, true
}

// scored is what the answers of one side are worth.
type scored struct {
	row     results.Row
	queries []results.QueryRow
}

func (s *duelist) score(v *cell.Visited) (scored, error) {
	r, c := s.runner, s.cell
	answers, err := arrowfile.ReadAnswers(v.Answers)
	if err != nil {
		return scored{}, err
	}
	var j *judge
	if r.corpus != nil {
		if j, err = newJudge(r.file.Measure, r.corpus, c.input.chunking); err != nil {
			return scored{}, err
		}
	}
	p := c.points[s.index]
	row := r.parameterRow(c, p, time.Now())
	if err := r.loadedColumns(row, s.run, s.index); err != nil {
		return scored{}, err
	}
	queries, err := r.answerColumns(row, c, p, j, answers, v.Stages)
	return scored{row, queries}, err
}

// abQuality are the per-query metrics that ab decides on. More of them would say little more and cost power.
func abQuality(k int) []string {
	return []string{fmt.Sprintf("ann_recall_at_%d", k), fmt.Sprintf("recall_at_%d", k), fmt.Sprintf("ndcg_at_%d", k)}
}

// pairedValues are a metric's values of the queries that both sides have one of.
func pairedValues(base, next []results.QueryRow, name string) (x, y []float64) {
	other := map[string]float64{}
	for _, q := range next {
		if v, ok := q.Metrics[name]; ok {
			other[q.QueryID] = v
		}
	}
	for _, q := range base {
		v, ok := q.Metrics[name]
		w, both := other[q.QueryID]
		if ok && both {
			x, y = append(x, v), append(y, w)
		}
	}
	return x, y
}
