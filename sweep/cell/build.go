package cell

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/vector"
	"frontier/results/arrowfile"
)

// memoryPoll is how often the build's anonymous memory is read; the kernel keeps a peak of the resident size only with
// mapped files in it, which is not what a build takes.
const memoryPoll = 5 * time.Millisecond

func build(ctx context.Context, req *BuildRequest, engines []indexes.Engine) (*BuildReport, error) {
	engine, params, err := find(engines, req.Engine, req.Params)
	if err != nil {
		return nil, err
	}
	in, closeInput, err := open(req.Source)
	if err != nil {
		return nil, err
	}
	defer closeInput()
	in.Seed, in.Threads, in.Dir = req.Seed, req.Threads, req.Dir
	before := readMemory()
	peak := watchMemory()
	cpu, start := cpuTime(), time.Now()
	built, err := engine.Build(ctx, in, params)
	seconds, cpuSeconds, most := time.Since(start).Seconds(), (cpuTime() - cpu).Seconds(), peak()
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", engine.Name, err)
	}
	report := &BuildReport{Seconds: seconds, CPUSeconds: cpuSeconds, IndexBytes: built.Bytes, Threads: req.Threads, Warnings: built.Warnings}
	report.MemoryBytes, _ = most.since(before)
	if !math.IsNaN(built.TrainSeconds) {
		report.TrainSeconds = &built.TrainSeconds
	}
	return report, nil
}

// find is the engine called name, if this binary has it, with params as its table types them; JSON made all numbers
// floats.
func find(engines []indexes.Engine, name string, params param.Values) (*indexes.Engine, param.Values, error) {
	engine := indexes.Find(engines, name)
	if engine == nil {
		return nil, nil, fmt.Errorf("no engine is called %q", name)
	}
	if engine.Absent != "" {
		return nil, nil, fmt.Errorf("engine %s is not in this binary: %s", name, engine.Absent)
	}
	full, err := param.Complete(engine.Params, params)
	return engine, full, err
}

// open maps the vectors of s and prepares the stream of its texts.
func open(s Source) (indexes.Input, func(), error) {
	in := indexes.Input{Metric: s.Metric}
	if s.Chunks != "" {
		in.Texts = func() iter.Seq2[string, error] { return Texts(s.Chunks) }
	}
	if s.Vectors == "" {
		return in, func() {}, nil
	}
	m, err := vector.OpenFbin(s.Vectors)
	if err != nil {
		return in, nil, err
	}
	in.Vectors = m
	return in, func() { _ = m.Close() }, nil // unmapping fails only for a range that is not mapped
}

// Texts streams what is indexed of the chunk file at path.
func Texts(path string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for c, err := range arrowfile.Chunks(path) {
			if !yield(c.Indexed(), err) || err != nil {
				return
			}
		}
	}
}

// watchMemory reads the process's anonymous memory until the returned function is called, which gives the peak.
func watchMemory() (stop func() memory) {
	done, result := make(chan struct{}), make(chan memory)
	go func() {
		peak := readMemory()
		tick := time.NewTicker(memoryPoll)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				peak.anonymous = max(peak.anonymous, readMemory().anonymous)
			case <-done:
				peak.anonymous = max(peak.anonymous, readMemory().anonymous)
				result <- peak
				return
			}
		}
	}()
	return func() memory {
		close(done)
		return <-result
	}
}
