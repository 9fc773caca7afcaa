package truth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontier/datasets"
	"frontier/internal/vector"
)

// Search finds the exact neighbours in a base that need not fit into memory. It reads the base once, from one end to the
// other, and can go on where a process that was killed had saved what it found.
type Search struct {
	Base    Source
	Queries *vector.Matrix
	Metric  vector.Metric
	K       int
	Workers int   // as many as there are processors, if it is less than 1
	Memory  int64 // bytes that the process may hold (see PlanMemory); 0 for no limit
	Shard   Shard

	// BaseFile and QueryFile tell whether a saved state, or shards, are of the same files.
	BaseFile, QueryFile datasets.VectorFingerprint

	// Dir is a folder for unfinished work, "" for none. What was found is saved there every SaveEvery, or less often
	// where saving takes long, and when ctx is done.
	Dir       string
	SaveEvery time.Duration

	Audit    bool             // look for rows that are odd first, in a pass of its own over the base
	Now      func() time.Time // time.Now, if it is nil
	Progress func(Progress)   // called after each step; may be nil

	stepRows, bufferRows int // of tests; 0 for what is good
}

// Progress is how far a search has come.
type Progress struct {
	Auditing    bool          // in the pass before the search
	Rows, Total int           // rows looked at, and to be looked at in all
	Resumed     int           // rows of these that an earlier process had looked at
	Elapsed     time.Duration // since this process began to read
	Waiting     time.Duration // of it, the time in which rows had yet to be read
	Operations  float64       // multiplications and additions of this process
}

// After each step a search looks whether it is to stop or to save. The first is of firstOperations, the others of as many
// rows as take stepTime, or of minStepBytes if that is more: these make a step worth its while, as the Scanner arranges the
// queries anew for each. With very many queries a step takes longer for that.
const (
	firstOperations = 1e10
	stepTime        = time.Second / 2
	minStepBytes    = 4 << 20
)

// Found is the result of a Search: the neighbours of each query among the rows of its shard.
type Found struct {
	Header  Header
	scanner *Scanner
	saved   *checkpoint
}

// Run searches. Where ctx is done before the end, it saves what was found and returns an error that wraps ctx.Err(). The
// caller closes what it returns.
func (s *Search) Run(ctx context.Context) (*Found, error) {
	plan, err := s.check()
	if err != nil {
		return nil, err
	}
	if err := s.dropBehind(plan); err != nil {
		return nil, err
	}
	from, to := s.Shard.Range(s.Base.Len())
	f := &Found{Header: Header{
		Metric: s.Metric, K: s.K, Shard: s.Shard, From: from, To: to, Done: from, Base: s.BaseFile, Queries: s.QueryFile,
	}}
	if s.Dir != "" {
		if f.saved, err = openCheckpoint(s.Dir, s.SaveEvery, s.now()); err != nil {
			return nil, err
		}
	}
	if err := s.run(ctx, f, plan); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// run is Run with the folder for unfinished work open.
func (s *Search) run(ctx context.Context, f *Found, plan Plan) (err error) {
	h := &f.Header
	begun := false
	if f.saved != nil {
		if h.Audit, begun, err = f.saved.peek(*h); err != nil {
			return err
		}
	}
	if s.Audit && h.Audit == nil {
		if h.Audit, err = s.audit(ctx, h.From, h.To, plan); err != nil {
			return err
		}
		if f.saved != nil && !begun {
			if err := f.saved.begin(*h); err != nil {
				return err
			}
		}
	}
	if f.scanner, err = NewScanner(s.Queries, s.Metric, min(s.K, h.To-h.From), s.Workers); err != nil {
		return err
	}
	if f.saved != nil {
		if h.Done, err = f.saved.resume(*h, f.scanner); err != nil {
			return err
		}
	}
	if err := s.scan(ctx, f, plan); err != nil {
		return err
	}
	h.Held = f.scanner.K()
	return nil
}

// dropBehind keeps the base out of the page cache where it would not fit beside the working set.
func (s *Search) dropBehind(plan Plan) error {
	source, ok := s.Base.(interface{ DropBehind() error })
	if !ok || s.Memory <= 0 || s.BaseFile.Size <= s.Memory-plan.Total() {
		return nil
	}
	return source.DropBehind()
}

func (s *Search) now() func() time.Time {
	if s.Now == nil {
		return time.Now
	}
	return s.Now
}

// check refuses what cannot be searched for, and plans the memory.
func (s *Search) check() (Plan, error) {
	switch {
	case s.K < 1:
		return Plan{}, fmt.Errorf("k is %d; ask for at least 1 neighbour", s.K)
	case s.Base.Len() < 1:
		return Plan{}, errors.New("the base has no rows")
	case s.Base.Dim() != s.Queries.Dim():
		return Plan{}, fmt.Errorf("base rows have %d dimensions and queries %d; both must come from the same embedding", s.Base.Dim(), s.Queries.Dim())
	case s.Shard.Count > s.Base.Len():
		return Plan{}, fmt.Errorf("%d rows cannot be divided into %d shards; use fewer", s.Base.Len(), s.Shard.Count)
	}
	from, to := s.Shard.Range(s.Base.Len())
	p, err := PlanMemory(s.Queries.Len(), s.Base.Dim(), to-from, s.K, workersOr(s.Workers), s.Memory)
	if s.bufferRows > 0 {
		p.BufferRows = s.bufferRows
	}
	return p, err
}

// scan looks at all rows that are not done.
func (s *Search) scan(ctx context.Context, f *Found, plan Plan) error {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	blocks, release := readAhead(reading, s.Base, f.Header.Done, f.Header.To, plan.BufferRows)
	defer func() {
		stop()
		for range blocks { // until the reader is done with its source
		}
	}()
	now := s.now()
	p := Progress{Rows: f.Header.Done - f.Header.From, Total: f.Header.To - f.Header.From, Resumed: f.Header.Done - f.Header.From}
	start := now()
	least := max(minStepBytes/4/s.Base.Dim(), 1)
	stepRows := s.stepRows
	if stepRows == 0 {
		stepRows = max(rowsIn(firstOperations/s.operations(1)), least)
	}
	for {
		waitFrom := now()
		block, ok := <-blocks
		p.Waiting += now().Sub(waitFrom)
		if !ok {
			return nil
		}
		if block.err != nil {
			return block.err
		}
		rows, err := vector.NewMatrix(block.values, s.Base.Dim())
		if err != nil {
			return err
		}
		for step := (span{}); step.to < rows.Len(); {
			step = span{step.to, min(step.to+stepRows, rows.Len())}
			if err := ctx.Err(); err != nil {
				return f.interrupted(err)
			}
			begun := now()
			part, err := vector.NewMatrix(rows.Rows(step.from, step.to), rows.Dim())
			if err != nil {
				return err
			}
			// A step that was begun is finished: the Scanner has then seen whole rows only, and can be saved.
			if err := f.scanner.Add(context.WithoutCancel(ctx), part, int64(block.from+step.from)); err != nil {
				return err
			}
			if took := now().Sub(begun); s.stepRows == 0 && took > 0 {
				stepRows = max(rowsIn(float64(part.Len())*float64(stepTime)/float64(took)), least)
			}
			f.Header.Done = block.from + step.to
			p.Rows, p.Elapsed = f.Header.Done-f.Header.From, now().Sub(start)
			p.Operations += s.operations(part.Len())
			if s.Progress != nil {
				s.Progress(p)
			}
			if f.saved != nil && f.Header.Done < f.Header.To && f.saved.due() {
				if err := f.saved.save(f.Header, f.scanner); err != nil {
					return err
				}
			}
		}
		release <- block.values[:cap(block.values)]
	}
}

// rowsIn is a number of rows as an int: without queries a step would be infinite.
func rowsIn(rows float64) int { return int(min(rows, 1<<30)) }

// operations counts a multiplication and an addition for each pair of values.
func (s *Search) operations(rows int) float64 {
	return 2 * float64(rows) * float64(s.Queries.Len()) * float64(s.Queries.Dim())
}

// interrupted saves what was found before the search is given up.
func (f *Found) interrupted(cause error) error {
	rows, total := f.Header.Done-f.Header.From, f.Header.To-f.Header.From
	if f.saved == nil {
		return fmt.Errorf("stopped after %d of %d rows: %w", rows, total, cause)
	}
	if err := f.Save(); err != nil {
		return errors.Join(cause, err)
	}
	return fmt.Errorf("stopped after %d of %d rows, which are saved in %s: %w", rows, total, f.saved.dir, cause)
}

// Save keeps what was found in the folder for unfinished work, for a caller that could not write its output.
func (f *Found) Save() error {
	if f.saved == nil {
		return nil
	}
	return f.saved.save(f.Header, f.scanner)
}

// Queries is the number of queries.
func (f *Found) Queries() int { return f.scanner.queries.Len() }

// K is how many neighbours of each query were found: what was asked for, or all rows if there are fewer.
func (f *Found) K() int { return f.scanner.K() }

// Each calls yield with the neighbours of one query after the other, nearest first. The slices are reused.
func (f *Found) Each(yield func(ids []int64, distances []float64) error) error {
	ids, distances := make([]int64, f.K()), make([]float64, f.K())
	for q := range f.Queries() {
		f.scanner.Row(q, ids, distances)
		if err := yield(ids, distances); err != nil {
			return err
		}
	}
	return nil
}

// Neighbors is what was found, of all queries.
func (f *Found) Neighbors() *Neighbors { return f.scanner.Neighbors() }

// WriteShard writes what was found as a file that Merge reads.
func (f *Found) WriteShard(path string) error {
	row := make([]neighbor, 0, f.K())
	return writeState(path, f.Header, func(q int) []neighbor {
		row = append(row[:0], f.scanner.candidates(q)...)
		sorted := nearest{heap: row}
		return sorted.sorted()
	})
}

// Close releases the folder for unfinished work and keeps what was saved in it.
func (f *Found) Close() error { return f.end(false) }

// Discard is Close, and deletes what was saved: the result is written elsewhere.
func (f *Found) Discard() error { return f.end(true) }

func (f *Found) end(discard bool) error {
	if f.saved == nil {
		return nil
	}
	saved := f.saved
	f.saved = nil
	return saved.close(discard)
}
