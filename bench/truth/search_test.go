package truth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"frontier/datasets"
	"frontier/internal/vector"

	"pgregory.net/rapid"
)

// rowsOf is a Source of the rows of a matrix, as much of it as may be read.
type rowsOf struct {
	*vector.Matrix
	fail error // instead of the last row
}

func (s rowsOf) ReadRows(row int, dst []float32) error {
	to := row + len(dst)/s.Dim()
	if to == s.Len() && s.fail != nil {
		return s.fail
	}
	copy(dst, s.Rows(row, to))
	return nil
}

// fingerprint stands for the file of a matrix.
func fingerprint(m *vector.Matrix, name string) datasets.VectorFingerprint {
	return datasets.VectorFingerprint{Path: "/" + name, Size: int64(4 * m.Len() * m.Dim()), Modified: 1, Rows: m.Len(), Dim: m.Dim(), Type: "float32", Digest: name}
}

func search(base, queries *vector.Matrix, m vector.Metric, k int) *Search {
	return &Search{
		Base: rowsOf{Matrix: base}, Queries: queries, Metric: m, K: k, Workers: 2,
		BaseFile: fingerprint(base, "base"), QueryFile: fingerprint(queries, "queries"),
	}
}

// each is the rows of a result as Neighbors.
func each(t testing.TB, r interface {
	K() int
	Each(func([]int64, []float64) error) error
},
) *Neighbors {
	t.Helper()
	n := &Neighbors{K: r.K()}
	err := r.Each(func(ids []int64, distances []float64) error {
		n.IDs, n.Distances = append(n.IDs, ids...), append(n.Distances, distances...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// small are the sizes of a search that takes no time, with all kinds of ties.
func small(t *testing.T, rt *rapid.T) (s *Search, want *Neighbors) {
	dim := rapid.IntRange(1, 9).Draw(rt, "dim")
	rows := rapid.IntRange(1, 1500).Draw(rt, "rows")
	count := rapid.IntRange(1, 12).Draw(rt, "queries")
	k := rapid.IntRange(1, rows+3).Draw(rt, "k")
	m := rapid.SampledFrom(metrics).Draw(rt, "metric")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
	base, queries := matrix(t, tied(rng, rows, dim), dim), matrix(t, tied(rng, count, dim), dim)
	return search(base, queries, m, k), bruteForce(base, queries, m, k)
}

// A search that is stopped at any step, saved, and taken up by another process ends as if nothing had happened.
func TestSearchGoesOnWhereItWasStopped(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		s, want := small(t, rt)
		dir, err := os.MkdirTemp(parent, "")
		if err != nil {
			rt.Fatal(err)
		}
		s.Dir, s.SaveEvery = filepath.Join(dir, "x.partial"), time.Hour
		clock := time.Unix(0, 0)
		s.Now = func() time.Time { return clock }
		s.Audit = rapid.Bool().Draw(rt, "audit")
		smallSteps(s)
		for stops := rapid.IntRange(0, 4).Draw(rt, "stops"); stops > 0; stops-- {
			after := rapid.IntRange(1, 4).Draw(rt, "steps")
			killed := rapid.Bool().Draw(rt, "killed")
			ctx, cancel := context.WithCancel(t.Context())
			s.Progress = func(p Progress) {
				if p.Auditing {
					return
				}
				if after--; after == 0 {
					cancel()
				}
				if killed {
					clock = clock.Add(time.Hour) // so that each step is saved, as far as it can be
				}
			}
			f, err := s.Run(ctx)
			cancel()
			if err == nil { // it had come to its end
				if err := f.Close(); err != nil {
					rt.Fatal(err)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "saved in") {
				rt.Fatal(err)
			}
		}
		last := -1
		s.Progress = func(p Progress) {
			if p.Auditing {
				return
			}
			if p.Rows <= last || p.Rows <= p.Resumed || p.Rows > p.Total {
				rt.Fatalf("progress went from %d to %+v", last, p)
			}
			last = p.Rows
		}
		f, err := s.Run(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		equal(t, each(t, f), want)
		if (f.Header.Audit != nil) != s.Audit || f.Header.Held != want.K || f.Header.Done != s.Base.Len() {
			rt.Fatalf("%+v", f.Header)
		}
		if err := f.Discard(); err != nil {
			rt.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			rt.Fatalf("left behind: %v, %v", left, err)
		}
	})
}

// smallSteps makes a search of few rows one of many steps and blocks.
func smallSteps(s *Search) { s.stepRows, s.bufferRows = 100, 250 }

// Whatever a process that was killed leaves is either nothing or good for going on: copies of its folder, taken at each
// save, are taken up by others.
func TestSearchGoesOnFromAnySave(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	base, queries := matrix(t, tied(rng, 1000, 4), 4), matrix(t, tied(rng, 5, 4), 4)
	for _, m := range metrics {
		s := search(base, queries, m, 20)
		smallSteps(s)
		s.Dir, s.SaveEvery = filepath.Join(t.TempDir(), "a"), time.Minute
		clock := time.Unix(0, 0)
		s.Now = func() time.Time { return clock }
		var copies []string
		s.Progress = func(p Progress) {
			clock = clock.Add(time.Minute)
			if p.Rows > p.Resumed+100 { // the step before was saved
				copied := filepath.Join(t.TempDir(), "copy")
				if err := os.CopyFS(copied, os.DirFS(s.Dir)); err != nil {
					t.Fatal(err)
				}
				copies = append(copies, copied)
			}
		}
		f, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := each(t, f)
		equal(t, want, bruteForce(base, queries, m, 20))
		if err := f.Discard(); err != nil {
			t.Fatal(err)
		}
		if len(copies) != 11 {
			t.Fatalf("%d saves were seen, want one after each step but the first and the last", len(copies))
		}
		s.Progress = nil
		for _, s.Dir = range copies {
			f, err := s.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			equal(t, each(t, f), want)
			if err := f.Discard(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSearchSavesOnlySoOften(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	base, queries := matrix(t, tied(rng, 1000, 4), 4), matrix(t, tied(rng, 5, 4), 4)
	s := search(base, queries, vector.L2, 3)
	s.stepRows = 100
	s.Dir, s.SaveEvery = filepath.Join(t.TempDir(), "a"), 5*time.Second
	clock := time.Unix(0, 0)
	s.Now = func() time.Time { return clock }
	saved := 0
	var before os.FileInfo
	s.Progress = func(Progress) {
		if now, err := os.Stat(filepath.Join(s.Dir, stateFile)); err == nil && (before == nil || !os.SameFile(before, now)) {
			saved, before = saved+1, now
		}
		clock = clock.Add(2 * time.Second)
	}
	f, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if saved != 3 { // steps end at 2, 4, ... 20 s
		t.Errorf("saved %d times in 20 s, want every third step of 2 s", saved)
	}
	slow := checkpoint{dir: t.TempDir(), every: time.Second, now: func() time.Time { clock = clock.Add(time.Minute); return clock }}
	scanner, err := NewScanner(queries, vector.L2, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := slow.save(f.Header, scanner); err != nil {
		t.Fatal(err)
	}
	if wait := slow.next.Sub(clock); wait != saveShare*time.Minute {
		t.Errorf("after a save of a minute the next follows in %v", wait)
	}
}

func TestSearchRefusesTheStateOfAnother(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	base, queries := matrix(t, tied(rng, 300, 4), 4), matrix(t, tied(rng, 5, 4), 4)
	dir := filepath.Join(t.TempDir(), "x.partial")
	stop := func(change func(*Search)) error {
		s := search(base, queries, vector.L2, 3)
		smallSteps(s)
		s.Dir, s.SaveEvery = dir, time.Hour
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.Progress = func(Progress) { cancel() }
		change(s)
		_, err := s.Run(ctx)
		return err
	}
	if err := stop(func(*Search) {}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Search){
		"the metric was l2 and is ip":                                              func(s *Search) { s.Metric = vector.IP },
		"k was 3 and is 4":                                                         func(s *Search) { s.K = 4 },
		"the part of the base was all rows and is shard 1/2":                       func(s *Search) { s.Shard = Shard{1, 2} },
		"the path of the base rows was /base and is /other":                        func(s *Search) { s.BaseFile.Path = "/other" },
		"the content of the queries has changed":                                   func(s *Search) { s.QueryFile.Digest = "" },
		"base rows was written was 1970-01-01 00:00:00.000000001 +0000 UTC and is": func(s *Search) { s.BaseFile.Modified = 2 },
	} {
		err := stop(change)
		var changed *ChangedError
		if !errors.As(err, &changed) || len(changed.Changes) != 1 || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", want, err)
		}
	}
	// What a killed save has left is cleaned up, and other files stay.
	for _, name := range []string{".state.123.tmp", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Two at a time are one too many.
	held, err := openCheckpoint(dir, 0, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(func(*Search) {}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second search of the same output: %v", err)
	}
	if err := held.close(false); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 || entries[1].Name() != "notes.txt" {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	// A state with a changed byte is not taken up.
	path := filepath.Join(dir, stateFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, len(stateMagic) + 1, len(stateMagic) + 9, len(raw) - 100, len(raw) - 1} {
		damaged := slices.Clone(raw)
		damaged[at] ^= 0x40
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		var fault *datasets.Error
		if err := stop(func(*Search) {}); !errors.As(err, &fault) || fault.File != path {
			t.Errorf("byte %d of %d changed: %v", at, len(raw), err)
		}
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := stop(func(*Search) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("the state as it was: %v", err)
	}
}

func TestSearchFaults(t *testing.T) {
	nan := float32(math.NaN())
	good := matrix(t, make([]float32, 600), 2)
	lastNaN := make([]float32, 600)
	lastNaN[599] = nan
	broken := errors.New("the disk is on fire")
	for name, c := range map[string]struct {
		change func(*Search)
		want   string
	}{
		"NaN in the last row": {func(s *Search) { s.Base = rowsOf{Matrix: matrix(t, lastNaN, 2)} }, "base row 299 holds NaN at dimension 1"},
		"NaN in the audit":    {func(s *Search) { s.Base, s.Audit = rowsOf{Matrix: matrix(t, lastNaN, 2)}, true }, "base row 299 holds NaN at dimension 1"},
		"NaN in a query":      {func(s *Search) { s.Queries = matrix(t, []float32{1, nan}, 2) }, "query row 0 holds NaN at dimension 1"},
		"unreadable":          {func(s *Search) { s.Base = rowsOf{good, broken} }, "reading base rows 250 to 299: the disk is on fire"},
		"dimensions":          {func(s *Search) { s.Queries = matrix(t, make([]float32, 3), 3) }, "2 dimensions and queries 3"},
		"k":                   {func(s *Search) { s.K = 0 }, "k is 0"},
		"shards":              {func(s *Search) { s.Shard = Shard{1, 301} }, "300 rows cannot be divided into 301 shards"},
		"memory":              {func(s *Search) { s.Memory = 64 << 20 }, "64.0 MiB are too little: at least"},
	} {
		s := search(good, good, vector.L2, 1)
		smallSteps(s)
		c.change(s)
		if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v does not say %q", name, err, c.want)
		}
	}
}

func TestPlanMemory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		queries, dim := rapid.IntRange(1, 100000).Draw(rt, "queries"), rapid.IntRange(1, 5000).Draw(rt, "dim")
		rows, k := rapid.IntRange(1, 1<<40).Draw(rt, "rows"), rapid.IntRange(1, 2000).Draw(rt, "k")
		memory := rapid.Int64Range(1<<20, 8<<30).Draw(rt, "memory")
		p, err := PlanMemory(queries, dim, rows, k, 2, memory)
		var little *MemoryError
		if errors.As(err, &little) {
			if little.Needs.Total() <= memory {
				rt.Fatalf("%v", err)
			}
			if p, err = PlanMemory(queries, dim, rows, k, 2, little.Needs.Total()); err != nil {
				rt.Fatalf("with what is needed at least: %v", err)
			}
			memory = little.Needs.Total()
		} else if err != nil {
			rt.Fatal(err)
		}
		if p.Total() > memory || p.BufferRows < 1 || p.BufferRows > rows {
			rt.Fatalf("%d bytes give %+v, which takes %d", memory, p, p.Total())
		}
		if free, err := PlanMemory(queries, dim, rows, k, 2, 0); err != nil || free.BufferRows < p.BufferRows {
			rt.Fatalf("no limit: %+v, %v", free, err)
		}
	})
	_, err := PlanMemory(1000000, 128, 1e9, 1000, 2, 1<<30)
	for _, want := range []string{"1024.0 MiB are too little: at least 1", "488.3 MiB for 1000000 queries of 128 dimensions", "MiB for 1000 candidates of each"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// The formula in docs/truth.md bounds what is planned.
func TestPlanKeepsToTheFormula(t *testing.T) {
	for _, q := range []int{1, 100, 10000, 1000000} {
		for _, dim := range []int{1, 16, 25, 33, 65, 128, 300, 1536, 8192} {
			for _, k := range []int{1, 10, 100, 1000, 10000} {
				for _, threads := range []int{1, 2, 64} {
					p, err := PlanMemory(q, dim, 1<<40, k, threads, 0)
					if err != nil {
						t.Fatal(err)
					}
					formula := 64<<20 + q*dim*4 + q*(k*16+40) + 32<<20 + threads*(1<<20+k*32) + 2*p.BufferRows*dim*4 + 256<<10
					if p.Total() > int64(formula) {
						t.Errorf("q=%d d=%d k=%d t=%d: %d bytes are %d more than the formula gives", q, dim, k, threads, p.Total(), p.Total()-int64(formula))
					}
				}
			}
		}
	}
}

func TestStepsAreFiniteWithoutQueries(t *testing.T) {
	if got := rowsIn(math.Inf(1)); got != 1<<30 {
		t.Errorf("a step of %d rows", got)
	}
	base, none := matrix(t, make([]float32, 6), 2), matrix(t, nil, 2)
	f, err := search(base, none, vector.L2, 2).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if f.Header.Done != 3 || f.Queries() != 0 {
		t.Errorf("%d rows were looked at for %d queries", f.Header.Done, f.Queries())
	}
}

func BenchmarkSearch(b *testing.B) {
	rows, count := 200000, 200
	if testing.Short() {
		rows, count = 20000, 20
	}
	const dim, k = 64, 10
	rng := rand.New(rand.NewPCG(8, 9))
	data := make([]float32, (rows+count)*dim)
	for i := range data {
		data[i] = float32(rng.NormFloat64())
	}
	base, queries := matrix(b, data[:rows*dim], dim), matrix(b, data[rows*dim:], dim)
	for _, mib := range []int64{0, 80} {
		b.Run(fmt.Sprintf("memory=%dMiB", mib), func(b *testing.B) {
			var got *Neighbors
			for b.Loop() {
				s := search(base, queries, vector.L2, k)
				s.Memory = mib << 20
				f, err := s.Run(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				got = each(b, f)
			}
			b.ReportMetric(2*float64(rows)*float64(count)*dim*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			want := bruteForce(base, matrix(b, queries.Row(count-1), dim), vector.L2, k)
			if ids, _ := got.Row(count - 1); !slices.Equal(ids, want.IDs) {
				b.Fatalf("wrong answer: %v, want %v", ids, want.IDs)
			}
		})
	}
}
