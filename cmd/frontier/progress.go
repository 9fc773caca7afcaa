package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"frontier/sweep"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress tells what goes on: bars on a terminal, a line now and then elsewhere.
type progress struct {
	mu      sync.Mutex
	w       io.Writer
	bars    *mpb.Progress // nil if w is not a terminal
	byStage map[string]*mpb.Bar
	last    time.Time
}

// linePause is how often a line is printed where there is no terminal.
const linePause = 5 * time.Second

func newProgress(f *os.File) *progress {
	p := &progress{w: f, byStage: map[string]*mpb.Bar{}}
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		p.bars = mpb.New(mpb.WithOutput(f), mpb.WithWidth(40))
		p.w = p.bars
	}
	return p
}

func (p *progress) event(e sweep.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Stage {
	case "warning":
		fmt.Fprintln(p.w, "warning: "+e.Detail)
		return
	case "waiting":
		fmt.Fprintln(p.w, e.Detail)
		return
	case "measuring":
		return // news within a cell
	}
	if e.Total == 0 {
		return
	}
	if p.bars != nil {
		p.bar(e).SetCurrent(int64(e.Done))
		return
	}
	if e.Done == e.Total || time.Since(p.last) > linePause {
		p.last = time.Now()
		fmt.Fprintf(p.w, "%s: %d of %d (%s)\n", e.Stage, e.Done, e.Total, e.Detail)
	}
}

func (p *progress) bar(e sweep.Event) *mpb.Bar {
	if b, ok := p.byStage[e.Stage]; ok {
		return b
	}
	b := p.bars.AddBar(int64(e.Total),
		mpb.PrependDecorators(decor.Name(e.Stage, decor.WCSyncSpaceR), decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO), decor.Name(" left "), decor.AverageETA(decor.ET_STYLE_GO)),
	)
	p.byStage[e.Stage] = b
	return b
}

// close ends the bars, finished or not.
func (p *progress) close() {
	p.mu.Lock()
	for _, b := range p.byStage {
		if !b.Completed() {
			b.Abort(false)
		}
	}
	p.mu.Unlock()
	if p.bars != nil {
		p.bars.Wait()
	}
}
