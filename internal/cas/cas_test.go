package cas

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

func write(name, text string) func(context.Context, string) error {
	return func(_ context.Context, dir string) error {
		return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
	}
}

func TestDoBuildsOnce(t *testing.T) {
	root := t.TempDir()
	stage := Stage{Name: "chunk", Version: 1, Params: "{}", Inputs: []Key{Hash("corpus")}}
	var built atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c, err := Open(root) // each opens it as another process would
			if err != nil {
				t.Error(err)
				return
			}
			a, err := c.Do(t.Context(), stage, func(ctx context.Context, dir string) error {
				built.Add(1)
				return write("chunks", "abc")(ctx, dir)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(a.Path("chunks")); err != nil || string(got) != "abc" {
				t.Errorf("the artifact holds %q, %v", got, err)
			}
			if a.Bytes() != 3 {
				t.Errorf("the artifact has %d bytes, not 3", a.Bytes())
			}
		})
	}
	wg.Wait()
	if built.Load() != 1 {
		t.Errorf("built %d times", built.Load())
	}
}

func TestFailedBuildLeavesNothing(t *testing.T) {
	c, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	stage := Stage{Name: "embed"}
	broken := errors.New("broken")
	_, err = c.Do(t.Context(), stage, func(ctx context.Context, dir string) error {
		return errors.Join(write("half", "x")(ctx, dir), broken)
	})
	if !errors.Is(err, broken) {
		t.Fatalf("the error is %v", err)
	}
	if _, ok := c.Lookup(stage.Key()); ok {
		t.Error("a failed build left an artifact")
	}
	if left, _ := os.ReadDir(filepath.Join(c.Root(), "tmp")); len(left) != 0 {
		t.Errorf("a failed build left %d temporary folders", len(left))
	}
	if _, err := c.Do(t.Context(), stage, write("whole", "y")); err != nil {
		t.Errorf("building again after a failure: %v", err)
	}
}

func TestDamagedArtifactIsBuiltAgain(t *testing.T) {
	c, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	stage := Stage{Name: "build"}
	a, err := c.Do(t.Context(), stage, write("index", "0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	if err := cut(a.Path("index"), 4); err != nil {
		t.Fatal(err)
	}
	b, err := c.Do(t.Context(), stage, write("index", "0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(b.Path("index")); b.Hit || string(got) != "0123456789" {
		t.Errorf("hit %v, content %q", b.Hit, got)
	}
}

func TestKeysDifferInEveryPart(t *testing.T) {
	base := Stage{Name: "a", Version: 1, Params: "{}", Inputs: []Key{"x", "y"}}
	seen := map[Key]string{base.Key(): "base"}
	for name, s := range map[string]Stage{
		"name":    {"b", 1, "{}", []Key{"x", "y"}},
		"version": {"a", 2, "{}", []Key{"x", "y"}},
		"params":  {"a", 1, "{ }", []Key{"x", "y"}},
		"inputs":  {"a", 1, "{}", []Key{"x"}},
		"order":   {"a", 1, "{}", []Key{"y", "x"}},
		"joined":  {"a", 1, "{}", []Key{"xy"}},
	} {
		if other, ok := seen[s.Key()]; ok {
			t.Errorf("changing the %s gives the key of %s", name, other)
		}
		seen[s.Key()] = name
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	root := t.TempDir()
	c, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	stage := Stage{Name: "slow"}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = c.Do(t.Context(), stage, func(context.Context, string) error {
		other, err := Open(root)
		if err != nil {
			return err
		}
		cancel()
		if _, err := other.Do(ctx, stage, write("x", "x")); !errors.Is(err, context.Canceled) {
			t.Errorf("waiting with a cancelled context gave %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
