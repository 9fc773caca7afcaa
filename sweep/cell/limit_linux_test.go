package cell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// limitEnv makes TestDataLimit do what it tests, in a process that ends with its limit: its value is a file to map.
const limitEnv = "FRONTIER_TEST_LIMIT"

const mappedBytes = 4 << 30

// The backstop refuses memory beyond the limit, and leaves mapped files and what is below the limit alone.
func TestDataLimit(t *testing.T) {
	if path := os.Getenv(limitEnv); path != "" {
		mapAndTake(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "large")
	if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, mappedBytes)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDataLimit$", "-test.v")
	cmd.Env = append(cmd.Environ(), limitEnv+"="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %.4000s", err, out)
	}
}

func mapAndTake(t *testing.T, path string) {
	const limit = 128 << 20
	if err := limitData(limit); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.Mmap(int(f.Fd()), 0, mappedBytes, unix.PROT_READ, unix.MAP_SHARED); err != nil {
		t.Errorf("map a large file: %v", err)
	}
	take := func(n int) error { // as malloc does
		_, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		return err
	}
	if err := take(limit); err != nil {
		t.Errorf("take no more than the limit: %v", err)
	}
	if err := take(limit + limitSlack); !errors.Is(err, unix.ENOMEM) {
		t.Errorf("take more than the limit and what may be reserved beyond it: %v", err)
	}
	heap := [][]byte{} // Go's runtime survives while it takes little
	for range 32 {
		heap = append(heap, make([]byte, 1<<20))
	}
	if len(heap) != 32 {
		t.Error("the heap is gone")
	}
}
