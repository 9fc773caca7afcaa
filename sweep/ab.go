package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"frontier/bench/stats"
	"frontier/results/ab"
	"frontier/sweep/file"
)

// ABSide is one of two variants: a sweep file, and the executable that builds and searches its indexes.
type ABSide struct {
	File    *file.File
	Command func() *exec.Cmd // starts a cell
	Binary  string           // path of the executable, where the two differ; else ""
	Digest  string           // of its content
}

// ABOptions say how two variants are compared.
type ABOptions struct {
	Base, New     ABSide
	Cache         string
	Jobs          int
	Registry      file.Registry
	Pairs         int           // of blocks for each point; 0 takes 30, or twice what the decisions need if that is more
	Block         time.Duration // what a block is to take
	Confidence    float64       // of the whole run
	Margin        float64       // smallest relative change of a latency or a rate that matters
	QualityMargin float64       // smallest change of a recall or another share that matters
	Match         []string      // columns by which points are paired; nil chooses those in which the two files agree
	Progress      func(Event)
}

// OptionError is an option of a comparison that cannot be used, or two files that cannot be compared as asked.
type OptionError struct{ error }

func (e *OptionError) Unwrap() error { return e.error }

func wrongOption(format string, args ...any) error { return &OptionError{fmt.Errorf(format, args...)} }

// abMetrics are the timed statistics of a block that are compared.
var abMetrics = []struct {
	name  string
	stat  string // as interval knows it
	lower bool   // is better
}{
	{"latency_p50_seconds", "p50", true},
	{"latency_p99_seconds", "p99", true},
	{"qps", "qps", false},
}

// The number of pairs, where the options leave it open.
const (
	defaultPairs = 30 // at least; or twice what a decision needs, since that many would have to agree all
	mostPairs    = 2000
)

// AB compares two variants on this machine: indexes of both are loaded at the same time, and blocks of the same queries
// are sent to one and the other in pairs, in an order that is drawn at random for each pair. Both are prepared before
// anything is measured, and paired before anything is built. When ctx ends the comparison ends with ctx's error: half of
// one decides nothing.
func AB(ctx context.Context, opt ABOptions) (*ab.Result, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	base, err := opt.prepare(ctx, opt.Base)
	if err != nil {
		return nil, err
	}
	defer base.end()
	next, err := opt.prepare(ctx, opt.New)
	if err != nil {
		return nil, err
	}
	defer next.end()
	match, pairs, unmatched, err := pairPoints(base, next, opt.Match)
	if err != nil {
		return nil, err
	}
	family := len(pairs) * (len(abMetrics) + len(abQuality(1)))
	if opt.Pairs, err = pairsFor(opt.Pairs, opt.Confidence, family); err != nil {
		return nil, err
	}
	for _, side := range []*abPrepared{base, next} {
		if err := side.build(ctx); err != nil {
			return nil, err
		}
	}
	result := &ab.Result{
		Version: ab.Version, Started: time.Now().UTC(), Machine: base.runner.machine.Digest(), CPU: base.runner.machine.CPU,
		Base: opt.Base.describe(), New: opt.New.describe(), Confidence: opt.Confidence, Pairs: opt.Pairs, Block: opt.Block.Seconds(),
		Match: match, Unmatched: unmatched, Warnings: []string{},
	}
	dir, err := os.MkdirTemp("", "frontier-ab-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	duel := &duel{ABOptions: opt, base: base, next: next, dir: dir}
	begun := time.Now()
	if err := duel.run(ctx, pairs); err != nil {
		return nil, err
	}
	result.Seconds = time.Since(begun).Seconds()
	result.Points = duel.points
	if base.runner.dataDigest() != next.runner.dataDigest() {
		result.Warnings = append(result.Warnings, "the two files measure on different data or questions: what differs may be these, and not what was changed")
	}
	if duel.few {
		result.Warnings = append(result.Warnings, fmt.Sprintf("recall and nDCG are not compared: fewer than %d questions have them", stats.MinPairs(opt.Confidence)))
	}
	result.Warnings = append(result.Warnings, union(base.runner.summary.Warnings, next.runner.summary.Warnings)...)
	return result, correct(result, opt.Confidence)
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func (o *ABOptions) validate() error {
	switch {
	case !(o.Confidence > 0.5 && o.Confidence < 1):
		return wrongOption("a confidence of %g is not between 0.5 and 1", o.Confidence)
	case !(o.Margin >= 0 && o.Margin < 1) || !(o.QualityMargin >= 0 && o.QualityMargin < 1):
		return wrongOption("margins of %g and %g: both must be at least 0 and under 1", o.Margin, o.QualityMargin)
	case o.Block < time.Millisecond || o.Block > time.Hour:
		return wrongOption("a block of %v: it must take from 1ms to 1h", o.Block)
	case o.Pairs < 0 || o.Pairs > mostPairs:
		return wrongOption("%d pairs: at most %d are compared", o.Pairs, mostPairs)
	case (o.Base.File.Dataset == nil) != (o.New.File.Dataset == nil):
		return wrongOption("%s and %s are not of one kind: one measures on text and the other on vectors", o.Base.File.Path, o.New.File.Path)
	}
	for _, side := range []ABSide{o.Base, o.New} {
		for i, l := range side.File.Measure.Load {
			if l.Mode == file.SLO {
				return fault(side.File, l.Pos, fmt.Sprintf("measure.load[%d].slo", i), "cannot be compared in pairs: its rate is searched for anew each time", "compare {open: {rate: ...}} at the rates that matter")
			}
		}
	}
	return nil
}

// pairsFor is the number of pairs to measure for a family of decisions.
func pairsFor(asked int, confidence float64, family int) (int, error) {
	needed := stats.MinPairs(1 - (1-confidence)/float64(max(family, 1)))
	if asked == 0 {
		return max(defaultPairs, 2*needed), nil
	}
	if asked < needed {
		return 0, wrongOption("%d pairs cannot decide %d metrics at a confidence of %g, whatever they show: measure at least %d pairs, compare fewer points, or lower --confidence",
			asked, family, confidence, needed)
	}
	return asked, nil
}

func (s ABSide) describe() ab.Side {
	return ab.Side{File: s.File.Path, Binary: s.Binary, Digest: s.Digest}
}

// abPrepared is one side with its data prepared and its cells planned, and after build with its indexes.
type abPrepared struct {
	side   ABSide
	runner *runner
	cells  []*cellPlan
	end    func()
}

// prepare makes what the indexes of a side are built from.
func (o *ABOptions) prepare(ctx context.Context, side ABSide) (*abPrepared, error) {
	if err := checkSize(side.File, o.Registry, o.Cache); err != nil {
		return nil, err
	}
	r, err := newRunner(side.File, Options{
		Cache: o.Cache, Jobs: o.Jobs, Registry: o.Registry, Command: side.Command, Progress: o.Progress, BuildMark: side.Digest,
	})
	if err != nil {
		return nil, err
	}
	r.work, r.abort = context.WithCancelCause(ctx)
	r.interrupted = ctx
	p := &abPrepared{side: side, runner: r, end: func() {
		r.abort(nil)
		_ = r.cache.Close() // all that it made has been stored
	}}
	inputs, err := r.prepare(ctx)
	if err == nil {
		p.cells, err = r.planCells(inputs)
	}
	if err != nil {
		err = p.cause(ctx, err) // which end would hide
		p.end()
		return nil, err
	}
	return p, nil
}

// build builds the indexes.
func (p *abPrepared) build(ctx context.Context) error {
	return p.cause(ctx, p.runner.buildAll(ctx, p.cells))
}

// cause is why the work was given up, where err only says that it was.
func (p *abPrepared) cause(ctx context.Context, err error) error {
	if cause := context.Cause(p.runner.work); errors.Is(err, context.Canceled) && cause != nil && ctx.Err() == nil {
		return cause
	}
	return err
}

// correct applies Holm's correction over all timed metrics of all points.
func correct(result *ab.Result, confidence float64) error {
	var family []stats.Comparison
	var of []*ab.Metric
	for i := range result.Points {
		for j := range result.Points[i].Metrics {
			m := &result.Points[i].Metrics[j]
			if m.P == nil {
				continue // exact
			}
			family, of = append(family, stats.Comparison{P: *m.P, Decision: m.Decision}), append(of, m)
		}
	}
	corrected, err := stats.HolmDecisions(family, confidence)
	if err != nil {
		return err
	}
	for i, c := range corrected {
		of[i].P, of[i].Decision = &c.P, c.Decision
	}
	return nil
}
