package cell

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// limitSlack is what a process may reserve beyond its limit and a quarter of it: the Go heap grows by 64 MiB at a time,
// and stacks of threads are reserved whole, while what limits.memory bounds is memory that is in use.
const limitSlack = 256 << 20

// limitData is the backstop for guardMemory, which looks only now and then: beyond it the kernel refuses memory to this
// process instead of killing whatever it likes. RLIMIT_DATA counts the heap and leaves mapped files alone.
func limitData(limit int64) error {
	now, err := dataBytes()
	if err != nil {
		return fmt.Errorf("bound the memory: %w", err)
	}
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &r); err != nil {
		return fmt.Errorf("bound the memory: %w", err)
	}
	r.Cur = min(r.Max, uint64(now+limit+limit/4+limitSlack))
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &r); err != nil {
		return fmt.Errorf("bound the memory: %w", err)
	}
	return nil
}

// dataBytes is what this process has reserved of what RLIMIT_DATA bounds, stacks included.
func dataBytes() (int64, error) {
	const name = "/proc/self/statm"
	raw, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(raw)
	if len(fields) < 6 {
		return 0, fmt.Errorf("%s has %d fields instead of 7", name, len(fields))
	}
	pages, err := strconv.ParseInt(string(fields[5]), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: field 6: %w", name, err)
	}
	return pages * int64(os.Getpagesize()), nil
}
