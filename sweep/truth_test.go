package sweep

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"frontier/bench/truth"
	"frontier/internal/vector"
)

// A search for the truth that was stopped goes on where it was, and finds what one that was not stopped finds; what was
// damaged meanwhile, or is of another search, is found anew.
func TestTruthGoesOnAfterAKill(t *testing.T) {
	const dim, k = 64, 5
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	write := func(name string, rows int) string {
		path := filepath.Join(dir, name)
		w, err := vector.CreateFbin(path, dim)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, dim)
		for range rows {
			for i := range row {
				row[i] = float32(rng.NormFloat64())
			}
			if err := w.Append(row); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	// With as little memory as it can do with, a search takes two steps for more than 4 MiB of rows.
	const rows = 20_000
	var least *truth.MemoryError
	if _, err := truth.PlanMemory(3, dim, rows, k+1, 1, 1); !errors.As(err, &least) {
		t.Fatal(err)
	}
	e := &embedding{base: write("base.fbin", rows), queries: write("queries.fbin", 3), metric: vector.L2}
	unfinished := filepath.Join(dir, "unfinished", "key")
	search := func(k int, progress func(truth.Progress)) truth.Search {
		return truth.Search{Metric: e.metric, K: k, Workers: 1, Memory: least.Needs.Total(), Dir: unfinished, SaveEvery: time.Hour, Progress: progress}
	}
	base, err := vector.OpenFbin(e.base)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	queries, err := vector.OpenFbin(e.queries)
	if err != nil {
		t.Fatal(err)
	}
	defer queries.Close()
	want, err := truth.Exact(t.Context(), base, queries, e.metric, k, 1)
	if err != nil {
		t.Fatal(err)
	}

	// stop ends a search after its first step.
	stop := func(k int) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		err := searchTruth(ctx, search(k, func(truth.Progress) { cancel() }), e, t.TempDir())
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("the search was not stopped: %v", err)
		}
		if _, err := os.Stat(filepath.Join(unfinished, "state")); err != nil {
			t.Fatalf("nothing was saved: %v", err)
		}
	}
	// A search that took long leaves what it found, so that nothing is lost if its result cannot be stored.
	long := search(k, nil)
	long.SaveEvery = 0
	if err := searchTruth(t.Context(), long, e, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(unfinished, "state")); err != nil {
		t.Errorf("a finished search is not kept until it is stored: %v", err)
	}
	for _, c := range []struct {
		name    string
		prepare func()
		resumes bool
	}{
		{"after all was found, and could not be stored", func() {}, false}, // nothing is left to look at
		{"from the start", func() {}, false},
		{"after it was stopped", func() { stop(k) }, true},
		{"after what was saved was damaged", func() {
			stop(k)
			if err := os.WriteFile(filepath.Join(unfinished, "state"), []byte("damaged"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"after another search", func() { stop(k + 1) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.prepare()
			resumed, dir := 0, t.TempDir()
			if err := searchTruth(t.Context(), search(k, func(p truth.Progress) { resumed = p.Resumed }), e, dir); err != nil {
				t.Fatal(err)
			}
			if (resumed > 0) != c.resumes {
				t.Errorf("%d rows were taken over", resumed)
			}
			got, err := truth.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got.K != want.K || !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.Distances, want.Distances) {
				t.Errorf("it finds %v, want %v", got.IDs, want.IDs)
			}
			if _, err := os.Stat(unfinished); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder for unfinished work is still there: %v", err)
			}
		})
	}
}
