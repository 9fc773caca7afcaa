package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// parentEnv marks a process that runs a whole sweep, so that a test can kill it; its value names the file with the
// parentRequest. Cells inherit it, and are known by it.
const parentEnv = "FRONTIER_TEST_PARENT"

// parentRequest is the sweep that such a process runs.
type parentRequest struct {
	File, Out, Cache string
	Jobs             int
}

// serveParent runs the sweep that the request at path describes, prints its summary, and returns the exit code that
// the command would have: 1 for an error, 4 for failed points.
func serveParent(path string, stdout, stderr io.Writer) int {
	var req parentRequest
	s, err := func() (Summary, error) {
		if err := readJSON(path, &req); err != nil {
			return Summary{}, err
		}
		f, err := file.Read(req.File, testRegistry(), nil)
		if err != nil {
			return Summary{}, err
		}
		f.DropAbsent(testRegistry())
		return Run(context.Background(), f, Options{
			Out: req.Out, Cache: req.Cache, Jobs: req.Jobs, Registry: testRegistry(), Command: testCommand,
		})
	}()
	if err == nil {
		err = json.NewEncoder(stdout).Encode(s)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if s.Failed > 0 {
		return 4
	}
	return 0
}

func testCommand() *exec.Cmd { return exec.Command(os.Args[0]) }

// parent is a process that runs the sweep of a place.
type parent struct {
	t              testing.TB
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	done           chan struct{} // closed when it has ended
	err            error         // then: how
	marker         string        // of it and its cells in their environment
}

// start begins the sweep of the place in another process, which a kill of the test's process group ends as well.
func (p *place) start() *parent {
	p.t.Helper()
	p.write("sweep.yaml", p.yaml)
	request := filepath.Join(p.dir, "parent-"+filepath.Base(p.out)+".json")
	if err := writeJSON(request, parentRequest{File: filepath.Join(p.dir, "sweep.yaml"), Out: p.out, Cache: p.cache, Jobs: p.jobs}); err != nil {
		p.t.Fatal(err)
	}
	run := &parent{t: p.t, cmd: testCommand(), done: make(chan struct{}), marker: parentEnv + "=" + request}
	run.cmd.Env = append(run.cmd.Environ(), run.marker)
	run.cmd.Stdout, run.cmd.Stderr = &run.stdout, &run.stderr
	if err := run.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		run.err = run.cmd.Wait()
		close(run.done)
	}()
	p.t.Cleanup(func() {
		_ = run.cmd.Process.Kill() // it is gone already, unless the test failed
		<-run.done
	})
	return run
}

// killAfter kills the process after d, unless it ends before, and says whether it was killed.
func (r *parent) killAfter(d time.Duration) bool {
	r.t.Helper()
	select {
	case <-time.After(d):
		if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			r.t.Fatal(err)
		}
		<-r.done
	case <-r.done:
	}
	if r.err == nil {
		return false
	}
	var exit *exec.ExitError
	if errors.As(r.err, &exit) {
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() && w.Signal() == syscall.SIGKILL {
			return true
		}
	}
	r.t.Fatalf("the sweep ended by itself: %v: %s", r.err, r.stderr.String())
	return false
}

// summary waits for the end of a sweep that must go well.
func (r *parent) summary() Summary {
	r.t.Helper()
	<-r.done
	if r.err != nil {
		r.t.Fatalf("%v: %s", r.err, r.stderr.String())
	}
	var s Summary
	if err := json.Unmarshal(r.stdout.Bytes(), &s); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// needsProc skips the test where processes cannot be looked at.
func needsProc(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("finds processes in /proc, which only Linux has")
	}
}

// processesWith are the processes that have the variable in their environment, as NAME=VALUE.
func processesWith(t testing.TB, variable string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		raw, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue // it has ended, or is another user's
		}
		if strings.Contains("\x00"+string(raw)+"\x00", "\x00"+variable+"\x00") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// cellsOf are the processes that are cells of a sweep with the variable in its environment.
func cellsOf(t *testing.T, variable string) []int {
	t.Helper()
	cells := map[int]bool{}
	for _, pid := range processesWith(t, cell.Env+"=1") {
		cells[pid] = true
	}
	var both []int
	for _, pid := range processesWith(t, variable) {
		if cells[pid] {
			both = append(both, pid)
		}
	}
	return both
}

// expectNoOrphans waits a second for all processes of a killed sweep to end.
func (r *parent) expectNoOrphans() {
	r.t.Helper()
	var left []int
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if left = processesWith(r.t, r.marker); len(left) == 0 {
			return
		}
	}
	r.t.Errorf("processes %v are still there a second after their sweep was killed", left)
	for _, pid := range left {
		_ = syscall.Kill(pid, syscall.SIGKILL) // so that they do not outlive the test
	}
}
