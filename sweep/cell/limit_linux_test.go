package cell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// limitEnv makes TestDataLimit do what it tests, in a process that may die of it: its value is a file to map.
const limitEnv = "FRONTIER_TEST_LIMIT"

// The backstop refuses memory beyond the limit and leaves mapped files alone.
func TestDataLimit(t *testing.T) {
	if path := os.Getenv(limitEnv); path != "" {
		mapThenTake(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "large")
	if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, mappedBytes)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDataLimit$", "-test.v")
	cmd.Env = append(cmd.Environ(), limitEnv+"="+path)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("the process ended with %v", err)
	}
	for _, want := range []string{"mapped", "took 64 MiB", "out of memory"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the process did not say %q: %.2000s", want, out)
		}
	}
	if strings.Contains(string(out), "took it all") {
		t.Error("the process took more than its limit")
	}
}

const mappedBytes = 4 << 30

func mapThenTake(t *testing.T, path string) {
	const limit = 128 << 20
	if err := limitData(limit); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Mmap(int(f.Fd()), 0, mappedBytes, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	t.Log("mapped")
	small := make([]byte, limit/2)
	t.Logf("took %d MiB", len(small)>>20)
	large := make([]byte, 4*limit+limitSlack)
	t.Log("took it all", len(large), len(small))
}
