package sweep

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
)

// A cell that is killed becomes rows that say so, and the next run tries its points again.
func TestKilledCellsAreRowsAndAreTriedAgain(t *testing.T) {
	needsProc(t)
	sweeps := 6 // of each kind
	if testing.Short() {
		sweeps = 1
	}
	rng := chaosSeed(t)
	for name, yaml := range chaosSweeps() {
		t.Run(name, func(t *testing.T) {
			undisturbed := newPlace(t, yaml)
			undisturbed.writeText()
			undisturbed.run()
			want := undisturbed.outcome()
			killed, failed := 0, 0
			for range sweeps {
				p := newPlace(t, yaml)
				p.writeText()
				run := p.start()
				for ended := false; !ended; {
					select {
					case <-run.done:
						ended = true
					case <-time.After(time.Duration(rng.Int64N(int64(60 * time.Millisecond)))):
						if cells := cellsOf(t, run.marker); len(cells) > 0 && syscall.Kill(cells[rng.IntN(len(cells))], syscall.SIGKILL) == nil {
							killed++
						}
					}
				}
				var exit *exec.ExitError
				if run.err != nil && (!errors.As(run.err, &exit) || exit.ExitCode() != 4) {
					t.Fatalf("a sweep whose cells were killed ended with %v: %s", run.err, run.stderr.String())
				}
				rows := p.rows()
				if len(rows) != len(want.rows) {
					t.Errorf("%d rows instead of %d", len(rows), len(want.rows))
				}
				for _, row := range rows {
					switch row["status"] {
					case statusOK:
					case statusKilled:
						failed++
						if text, _ := row["error"].(string); !strings.Contains(text, "killed") || !strings.Contains(text, "the same command tries it again") {
							t.Errorf("the error of a killed cell is %q", text)
						}
					default:
						t.Errorf("a killed cell has status %v: %v", row["status"], row["error"])
					}
				}
				p.expectWholeArtifacts()
				p.start().summary()
				p.expect(want)
				p.expectTidy()
			}
			if killed == 0 || failed == 0 {
				t.Errorf("%d cells were killed and %d points failed: this tested nothing", killed, failed)
			}
			t.Logf("%d cells were killed; %d points failed and were measured later", killed, failed)
		})
	}
}

// Whatever an engine does to its process, the row says what it was, with what it printed, briefly, and what to do.
func TestFailuresSayWhatHappened(t *testing.T) {
	for how, want := range map[string]struct {
		status string
		texts  []string
	}{
		"error": {statusFailed, []string{"build: build bad: the engine said no"}},
		"panic": {statusCrashed, []string{"panic: the engine broke", "frontier engines"}},
		"exit":  {statusCrashed, []string{"exit status 2", "frontier engines"}},
		"fault": {statusCrashed, []string{"last words of the engine", "unexpected fault address", "signal SIGSEGV", "frontier engines"}},
		"shout": {statusCrashed, []string{"the engine broke.", "frontier engines"}},
		"sleep": {statusTimeout, []string{"limits.cell_time (1s)", "raise limits.cell_time"}},
		"block": {statusTimeout, []string{"limits.cell_time (1s)"}},
		"spin":  {statusTimeout, []string{"limits.cell_time (1s)"}},
		"eat":   {statusKilled, []string{"over limits.memory (128 MiB)", "raise limits.memory"}},
		"leap":  {statusKilled, []string{"cannot allocate memory", "raise limits.memory"}},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, strings.Replace(vectorSweep, "{engine: flat}", "{engine: bad, how: "+how+"}", 1)+"limits: {cell_time: 1s, memory: 128MiB}\n")
			if want.status == statusKilled {
				needsProc(t) // the guard reads memory there, and only Linux has a backstop
			}
			s := p.run()
			if s.Failed != 2 || s.Points != 2 {
				t.Fatalf("summary %+v", s)
			}
			for _, row := range p.rows() {
				text, _ := row["error"].(string)
				if row["status"] != want.status {
					t.Errorf("status %v, error %q", row["status"], text)
				}
				for _, w := range want.texts {
					if !strings.Contains(text, w) {
						t.Errorf("the error does not say %q: %q", w, text)
					}
				}
				if len(text) > maxError || !utf8.ValidString(text) {
					t.Errorf("the error has %d bytes: %q", len(text), text)
				}
				if row["qps"] != nil || row["build_seconds"] != nil {
					t.Error("a failed build has measurements")
				}
			}
		})
	}
}

// A cell does not outlive its sweep, whatever its engine is doing.
func TestKilledSweepLeavesNoCell(t *testing.T) {
	needsProc(t)
	for _, how := range []string{"sleep", "block", "spin"} {
		t.Run(how, func(t *testing.T) {
			p := newPlace(t, strings.Replace(vectorSweep, "{engine: flat}", "{engine: bad, how: "+how+"}", 1))
			run := p.start()
			for deadline := time.Now().Add(20 * time.Second); len(cellsOf(t, run.marker)) == 0; time.Sleep(5 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("no cell was started: %s", run.stderr.String())
				}
			}
			if !run.killAfter(200 * time.Millisecond) { // the cell has its request by then
				t.Fatal("the sweep ended although its engine hangs")
			}
			run.expectNoOrphans()
		})
	}
}
