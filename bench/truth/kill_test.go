package truth

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"frontier/internal/vector"
)

// childEnv makes the test binary a search that is killed: it holds the folder and after how many reads that happens.
const childEnv = "FRONTIER_TEST_TRUTH_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(searchThatIsKilled())
	}
	os.Exit(m.Run())
}

// killed is a search of some thousand steps.
func killed(dir string) (*Search, error) {
	const dim = 2
	rng := rand.New(rand.NewPCG(6, 6))
	base, err := vector.NewMatrix(tied(rng, 5000, dim), dim)
	if err != nil {
		return nil, err
	}
	queries, err := vector.NewMatrix(tied(rng, 5, dim), dim)
	if err != nil {
		return nil, err
	}
	s := search(base, queries, vector.L2, 50)
	s.Dir, s.stepRows, s.bufferRows = filepath.Join(dir, "partial"), 2, 50
	start, steps := time.Unix(0, 0), time.Duration(0)
	s.Now = func() time.Time { steps++; return start.Add(steps * time.Second) } // saves follow each other closely
	return s, nil
}

// deadly is a Source of which one read ends the process, as the kernel does when memory runs out.
type deadly struct {
	rowsOf
	left int
}

func (d *deadly) ReadRows(row int, dst []float32) error {
	if d.left--; d.left < 0 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			return err
		}
		select {}
	}
	return d.rowsOf.ReadRows(row, dst)
}

func searchThatIsKilled() int {
	var dir string
	var reads int
	if _, err := fmt.Sscan(os.Getenv(childEnv), &reads, &dir); err != nil {
		return 3
	}
	s, err := killed(dir)
	if err != nil {
		return 3
	}
	s.Base = &deadly{s.Base.(rowsOf), reads}
	f, err := s.Run(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 4
	}
	if err := f.Close(); err != nil {
		return 5
	}
	return 0
}

// A search that is killed again and again, at whatever it does while another block is read, comes to the same end.
func TestSearchSurvivesSIGKILL(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	done := 0
	for _, reads := range []int{1, 30, 31, 40} {
		child := exec.Command(self)
		child.Env = append(os.Environ(), childEnv+"="+strconv.Itoa(reads)+" "+dir)
		out, err := child.CombinedOutput()
		if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("the search was not killed after %d reads: %v\n%s", reads, err, out)
		}
		state, err := openState(filepath.Join(dir, "partial", stateFile), stateBuffer)
		if reads > 1 && err != nil {
			t.Fatal(err)
		}
		if err == nil {
			if state.Done < done {
				t.Errorf("after %d rows there are %d", done, state.Done)
			}
			done = state.Done
			if err := state.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if done < 1000 {
		t.Errorf("only %d rows were saved", done)
	}
	s, err := killed(dir)
	if err != nil {
		t.Fatal(err)
	}
	resumed := 0
	s.Progress = func(p Progress) { resumed = p.Resumed }
	f, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if resumed != done {
		t.Errorf("took up %d rows of %d", resumed, done)
	}
	equal(t, each(t, f), bruteForce(s.Base.(rowsOf).Matrix, s.Queries, vector.L2, 50))
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
