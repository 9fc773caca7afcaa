package cas

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Processes that make the same artifacts at once make each of them once between them, also while a collection deletes
// locks and what lies around.
func TestProcessesShareACache(t *testing.T) {
	const artifacts = 20
	root := t.TempDir()
	built := race(t, root, artifacts, GCOptions{})
	for i := range artifacts {
		if n := built[fmt.Sprint(i)]; n != 1 {
			t.Errorf("artifact %d was built %d times", i, n)
		}
	}
	c := mustOpen(t, root)
	requireTidy(t, c)
	if r, err := c.Verify(t.Context(), false, nil); err != nil || r.Checked != artifacts || len(r.Damaged) > 0 {
		t.Errorf("verification: %+v, %v", r, err)
	}
}

// While another process deletes all that is not in use, again and again, what a process was given stays whole.
func TestProcessesAgainstGC(t *testing.T) {
	const artifacts = 20
	root := t.TempDir()
	for range 3 { // those of the time before may be deleted, as their processes ended
		race(t, root, artifacts, GCOptions{MaxBytes: new(int64)})
	}
	c := mustOpen(t, root)
	r, err := c.GC(t.Context(), GCOptions{MaxBytes: new(int64)})
	if err != nil || r.KeptCount != 0 || len(r.InUse) != 0 {
		t.Errorf("nobody uses anything any more: %+v, %v", r, err)
	}
	requireTidy(t, c)
}

// race has several processes make the same artifacts, each checking what it gets, while a collection runs again and
// again. It returns how many of the processes built each artifact.
func race(t *testing.T, root string, artifacts int, opt GCOptions) map[string]int {
	t.Helper()
	outputs := make([]bytes.Buffer, 3)
	var cmds []*exec.Cmd
	for i := range outputs {
		cmd := child(t, "build", root, fmt.Sprintf("%s=%d", envCount, artifacts))
		cmd.Stdout = &outputs[i]
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	stop := make(chan struct{})
	var cleaner sync.WaitGroup
	cleaner.Go(func() {
		c := mustOpen(t, root)
		for {
			if _, err := c.GC(t.Context(), opt); err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("a process failed: %v", err)
		}
	}
	close(stop)
	cleaner.Wait()
	built := map[string]int{}
	for i := range outputs {
		for _, line := range strings.Fields(outputs[i].String()) {
			built[line]++
		}
	}
	return built
}

// holder starts a process that uses artifact 0. The function that it returns ends it.
func holder(t *testing.T, root string) (end func()) {
	t.Helper()
	cmd := child(t, "hold", root)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return sync.OnceFunc(func() {
		if err := errors.Join(stdin.Close(), ignore(cmd.Wait(), io.EOF)); err != nil {
			t.Error(err)
		}
	})
}

// What another process uses stays, until that process ends.
func TestGCSparesWhatIsInUse(t *testing.T) {
	root := t.TempDir()
	c := mustOpen(t, root)
	for i := range 3 {
		mustDo(t, c, i)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	end := holder(t, root)
	defer end()
	none := int64(0)
	c = mustOpen(t, root)
	for _, dry := range []bool{true, false} {
		r, err := c.GC(t.Context(), GCOptions{MaxBytes: &none, DryRun: dry})
		if err != nil || len(r.Deleted) != 2 || len(r.InUse) != 1 || r.InUse[0].Key != numbered(0).Key() || r.KeptCount != 1 {
			t.Errorf("dry %v: %+v, %v", dry, r, err)
		}
	}
	end()
	r, err := c.GC(t.Context(), GCOptions{MaxBytes: &none})
	if err != nil || len(r.Deleted) != 1 || len(r.InUse) != 0 || r.KeptCount != 0 || r.KeptBytes != 0 {
		t.Errorf("after the end of the process: %+v, %v", r, err)
	}
	if entries, err := c.List(t.Context()); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// What this process has made or found cannot be deleted either, before the cache is closed.
func TestGCSparesOwnArtifacts(t *testing.T) {
	root := t.TempDir()
	c, other := mustOpen(t, root), mustOpen(t, root)
	mustDo(t, c, 0)
	none := int64(0)
	if r, err := other.GC(t.Context(), GCOptions{MaxBytes: &none}); err != nil || len(r.InUse) != 1 {
		t.Errorf("while in use: %+v, %v", r, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := other.GC(t.Context(), GCOptions{MaxBytes: &none}); err != nil || len(r.Deleted) != 1 {
		t.Errorf("when closed: %+v, %v", r, err)
	}
}

// A long wait is reported once, with the process that is waited for.
func TestWaitingIsReported(t *testing.T) {
	root := t.TempDir()
	var notes noticed
	c := mustOpen(t, root)
	other := mustOpen(t, root, Report(notes.add))
	other.noticeAfter = 5 * time.Millisecond
	release := make(chan struct{})
	started := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := c.Do(t.Context(), numbered(0), func(ctx context.Context, dir string) error {
			close(started)
			<-release
			return builder(0)(ctx, dir)
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-started
	other.report = func(n Notice) {
		notes.add(n)
		time.AfterFunc(20*time.Millisecond, func() { close(release) })
	}
	if a := mustDo(t, other, 0); !a.Hit {
		t.Error("both built it")
	}
	wg.Wait()
	if len(notes.all) != 1 || notes.all[0].Kind != Waiting || notes.all[0].Holder != os.Getpid() {
		t.Fatalf("the notices are %+v", notes.all)
	}
	n := notes.all[0]
	if got := n.String(); got != "waiting for another part of this sweep to finish stage i=0" {
		t.Error(got)
	}
	n.Holder = 12
	if got := n.String(); got != "waiting for another frontier (process 12) to finish stage i=0" {
		t.Error(got)
	}
}

// Opening a cache deletes the unfinished work of the dead, and not that of the living.
func TestOpenCleansUp(t *testing.T) {
	root := t.TempDir()
	c := mustOpen(t, root)
	alive, err := c.newTemp(numbered(0).Key())
	if err != nil {
		t.Fatal(err)
	}
	defer alive.close()
	dead, err := c.newTemp(numbered(1).Key())
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(dead.dir, content(1)); err != nil {
		t.Fatal(err)
	}
	dead.owner.unlock() // as the end of its process does
	ownerless := filepath.Join(root, "tmp", "from-an-earlier-version")
	if err := fill(ownerless, content(2)); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, root)
	left, err := os.ReadDir(filepath.Join(root, "tmp"))
	if err != nil || len(left) != 2 {
		t.Errorf("tmp has %v, %v", left, err)
	}
	if _, err := os.Stat(alive.dir); err != nil {
		t.Errorf("the folder of a living process: %v", err)
	}
}

// A lock file that its holder deleted is not mistaken for one that is held: whoever had opened it before sees that it
// is gone, also when another one has its name.
func TestDeletedLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, _, err := tryLockFile(path, true)
	if err != nil || first == nil {
		t.Fatal(err)
	}
	if again, pid, err := tryLockFile(path, true); again != nil || pid != os.Getpid() || err != nil {
		t.Fatalf("locked twice: %v, %v, %v", again, pid, err)
	}
	waiting, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	requireOutcome := func(want outcome) {
		t.Helper()
		if got, err := lockOpened(waiting, path, unix.LOCK_EX); got != want || err != nil {
			t.Errorf("the outcome is %v, not %v: %v", got, want, err)
		}
	}
	requireOutcome(busy)
	first.remove()
	requireOutcome(gone)
	second, _, err := tryLockFile(path, true)
	if err != nil || second == nil {
		t.Fatalf("a deleted lock cannot be taken again: %v", err)
	}
	defer second.unlock()
	requireOutcome(gone)
}
