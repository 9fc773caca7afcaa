package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// lockedEdge is an edge whose steps may come from several goroutines.
type lockedEdge struct {
	edge
	mu sync.Mutex
}

func (e *lockedEdge) sync(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.edge.sync(path)
}

func (e *lockedEdge) protect(path string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.edge.protect(path)
}

func newEdge(at int, stop bool, err error) *lockedEdge {
	return &lockedEdge{edge: edge{fsys: osFS{}, at: at, stop: stop, act: func(string) error { return err }}}
}

// stepsOf counts the steps of making artifact 0 in a cache in the state that prepare leaves it in.
func stepsOf(t *testing.T, prepare func(t *testing.T, root string)) int {
	t.Helper()
	e := newEdge(-1, false, nil)
	root := t.TempDir()
	prepare(t, root)
	c, err := open(root, e)
	if err != nil {
		t.Fatal(err)
	}
	mustDo(t, c, 0)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if len(e.log) < 12 {
		t.Fatalf("making an artifact took only the steps %q", e.log)
	}
	return len(e.log)
}

// start is what was in the cache before the artifact is made.
var starts = map[string]func(t *testing.T, root string){
	"empty": func(*testing.T, string) {},
	"damaged": func(t *testing.T, root string) {
		a := mustDo(t, mustOpen(t, root), 0)
		damageByte(t, a.Path("data"), 7)
	},
	"other format": func(t *testing.T, root string) {
		a := mustDo(t, mustOpen(t, root), 0)
		old := fmt.Sprintf(`{"Key": %q, "Stage": {}, "Files": {"data": 1100}}`, a.Key)
		if err := os.WriteFile(a.Path(metaFile), []byte(old), 0o644); err != nil {
			t.Fatal(err)
		}
	},
}

// A process that ends at any step leaves the whole artifact or none, and nothing that stays.
func TestStopAtEveryStep(t *testing.T) {
	for name, prepare := range starts {
		t.Run(name, func(t *testing.T) {
			for at := range stepsOf(t, prepare) {
				root := t.TempDir()
				prepare(t, root)
				stopped := errors.New("stopped")
				c, err := open(root, newEdge(at, true, stopped))
				if err == nil {
					_, err = c.Do(t.Context(), numbered(0), builder(0))
					_ = c.Close() // as the end of a process does
				}
				requireWholeOrNone(t, root, at, err)
			}
		})
	}
}

// A step that fails, and no other, gives an error that says what to do, and leaves the whole artifact or none.
func TestFailAtEveryStep(t *testing.T) {
	for name, prepare := range starts {
		t.Run(name, func(t *testing.T) {
			failures := 0
			for at := range stepsOf(t, prepare) {
				root := t.TempDir()
				prepare(t, root)
				e := newEdge(at, false, &fs.PathError{Op: "write", Path: root, Err: syscall.ENOSPC})
				c, err := open(root, e)
				if err == nil {
					_, err = c.Do(t.Context(), numbered(0), builder(0))
					_ = c.Close()
				}
				if err != nil {
					failures++
					var storage *StorageError
					if !errors.As(err, &storage) || !errors.Is(err, syscall.ENOSPC) {
						t.Errorf("step %d (%s) gave %v", at, e.log[at], err)
					} else if text := err.Error(); !strings.Contains(text, root) || !strings.Contains(text, "cache gc") || storage.Free < 0 {
						t.Errorf("step %d (%s): the message does not help: %s", at, e.log[at], text)
					}
				}
				requireWholeOrNone(t, root, at, err)
			}
			if failures < 8 {
				t.Errorf("only %d steps failed", failures)
			}
		})
	}
}

func requireWholeOrNone(t *testing.T, root string, at int, err error) {
	t.Helper()
	c := mustOpen(t, root)
	requireTidy(t, c)
	a, ok := c.Lookup(numbered(0).Key())
	if ok {
		requireContent(t, a, 0)
	} else if err == nil {
		t.Errorf("step %d: Do succeeded and the artifact is not there", at)
	}
	again := mustDo(t, c, 0)
	requireContent(t, again, 0)
	if again.Hit != ok {
		t.Errorf("step %d: after the artifact was found (%v) it was a hit (%v)", at, ok, again.Hit)
	}
	requireTidy(t, c)
}

// The same with processes that kill themselves.
func TestKillAtEveryStep(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	steps := stepsOf(t, starts["empty"])
	killed := 0
	for at := range steps {
		root := t.TempDir()
		err := child(t, "build", root, fmt.Sprintf("%s=%d", envStep, at), envCount+"=1").Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
			killed++
		} else if err != nil {
			t.Fatalf("step %d: the process did not kill itself: %v", at, err)
		}
		requireWholeOrNone(t, root, at, err)
	}
	if killed < steps-2 {
		t.Errorf("%d of %d processes were killed", killed, steps)
	}
}

// What a commit relies on after a power failure: everything is on the disk before the rename, artifact.json after the
// other files.
func TestOrderOfSyncs(t *testing.T) {
	e := newEdge(-1, false, nil)
	c, err := open(t.TempDir(), e)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a := mustDo(t, c, 0)
	var rename, tmp string
	for _, l := range e.log {
		if strings.HasPrefix(l, "rename ") {
			rename, tmp = l, strings.Fields(l)[1]
		}
	}
	at := func(step string) int {
		i := slices.Index(e.log, step)
		if i < 0 {
			t.Fatalf("there is no step %q in\n%s", step, strings.Join(e.log, "\n"))
		}
		return i
	}
	order := []int{
		at("sync " + filepath.Join(tmp, "index", "part")),
		at("sync " + filepath.Join(tmp, "index")),
		at("writeFile " + filepath.Join(tmp, metaFile)),
		at("sync " + filepath.Join(tmp, metaFile)),
		at("sync " + tmp),
		at("mkdirAll " + filepath.Dir(a.Dir)),
		at("sync " + filepath.Dir(filepath.Dir(a.Dir))),
		at(rename),
		at("sync " + filepath.Dir(a.Dir)),
	}
	if !slices.IsSorted(order) || at("sync "+filepath.Join(tmp, "data")) > order[2] {
		t.Errorf("the order is\n%s", strings.Join(e.log, "\n"))
	}
}
