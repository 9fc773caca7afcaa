package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Ranking is what a run retrieved for one query, in the order of the lines. It is valid until visit returns.
type Ranking struct {
	Query   string
	Tag     string // of the first line
	Line    int    // the first line
	Results []Result
}

// Result is one line of a run. Its rank column is not read, as trec_eval does not read it: scores tell the order.
type Result struct {
	Document []byte
	Score    float64 // never NaN
	Line     int
}

// RunOptions say how a run is read.
type RunOptions struct {
	// Workers is how many goroutines parse lines and visit rankings: at least 1, and at most 16, which is more than one
	// reader can keep busy.
	Workers int
	// Scattered allows the lines of a query to be anywhere. The run is then held in memory; otherwise it takes
	// about a MiB, or the longest ranking, for each worker.
	Scattered bool
}

// ErrScattered is behind the error of a run whose lines of one query are not consecutive. Rankings that were visited
// before are incomplete then: read the run again with RunOptions.Scattered.
var ErrScattered = errors.New("the lines of a query are not consecutive")

// ReadRun reads a TREC run: lines of query, Q0, document, rank, score, tag, separated by white space. Lines that are blank
// or begin with # are skipped. visit gets each ranking once, concurrently from Workers goroutines, each of which has
// its number from 0; its first error ends the reading. name is used in errors. Faults of the data are an *Error; of several, the
// first in the file is reported. Whether a document is repeated is left to visit.
func ReadRun(ctx context.Context, name string, r io.Reader, o RunOptions, visit func(worker int, ranking *Ranking) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := min(max(o.Workers, 1), maxRunWorkers)
	run := &runReader{
		file: name, r: r, visit: visit, stop: cancel, first: map[string]int{},
		batches: make(chan runBatch, queuedBatches), free: make(chan []byte, workers+queuedBatches+1),
	}
	for range cap(run.free) {
		run.free <- nil // allocated at first use, so that a small run takes little
	}
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() { run.work(w) })
	}
	split := run.split
	if o.Scattered {
		split = run.group
		run.stop = func() {} // groups are not in the order of lines: all are needed to tell which fault comes first
	}
	err := split(ctx)
	close(run.batches)
	done.Wait()
	if fault := run.earliest(); fault != nil {
		return fault
	}
	if err != nil {
		return err
	}
	if len(run.first) == 0 {
		return &Error{File: name, Msg: "the run holds no results", Hint: runHint}
	}
	return nil
}

const (
	// maxRunWorkers is more than one reader can keep busy.
	maxRunWorkers = 16
	// queuedBatches wait for a worker, so that none waits for the reader.
	queuedBatches = 2
)

const runHint = "a line of a run is: query Q0 document rank score tag"

// runReader is one reading. Whole rankings travel in batches from the goroutine that reads to those that parse.
type runReader struct {
	file    string
	r       io.Reader
	visit   func(worker int, ranking *Ranking) error
	stop    func() // ends the splitting; what was split before is still worked on
	batches chan runBatch
	free    chan []byte // buffers to be used again

	mu     sync.Mutex
	first  map[string]int // query to its first line
	faults []runFault
}

// runBatch is some lines, whole rankings unless a query is scattered.
type runBatch struct {
	data   []byte
	line   int   // number of the first line, where lines is nil
	lines  []int // number of each line
	pooled []byte
}

// number is that of the i-th line.
func (b runBatch) number(i int) int {
	if b.lines != nil {
		return b.lines[i]
	}
	return b.line + i
}

// runFault is an error with the line that it is at, to tell which comes first.
type runFault struct {
	line int
	err  error
}

func (r *runReader) fail(line int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, runFault{line, err})
	r.stop()
}

// earliest is the first fault in the file. Batches are handed out in order and those that were are finished, so that
// it does not depend on which worker was quicker. Scattered queries come last, as the faults beside them have no remedy
// in reading again.
func (r *runReader) earliest() error {
	if len(r.faults) == 0 {
		return nil
	}
	return slices.MinFunc(r.faults, func(a, b runFault) int {
		if as, bs := errors.Is(a.err, ErrScattered), errors.Is(b.err, ErrScattered); as != bs {
			if as {
				return 1
			}
			return -1
		}
		return a.line - b.line
	}).err
}

// work parses batches until there are no more.
func (r *runReader) work(worker int) {
	p := runParser{file: r.file, take: func(ranking *Ranking) error {
		if err := r.once(ranking); err != nil {
			return err
		}
		return r.visit(worker, ranking)
	}}
	for b := range r.batches {
		if line, err := p.parse(b); err != nil {
			r.fail(line, err)
		}
		if b.pooled != nil {
			r.free <- b.pooled
		}
	}
}

// once notes a query, and refuses one that was there before.
func (r *runReader) once(ranking *Ranking) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	other, seen := r.first[ranking.Query]
	if !seen {
		r.first[ranking.Query] = ranking.Line
		return nil
	}
	return &Error{
		File: r.file, Line: max(other, ranking.Line), Err: ErrScattered,
		Msg:  fmt.Sprintf("query %q was on line %d and is here again", ranking.Query, min(other, ranking.Line)),
		Hint: "sort the run by query, for example with sort -s -k1,1, or give it as a file instead of through a pipe",
	}
}
