package cell

import (
	"fmt"
	"time"

	"frontier/bench/machine"

	"golang.org/x/sys/unix"
)

// cpuTime is what this process has used, over all of its threads.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0 // cannot happen: the arguments are valid
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory is what the process holds; known is false where the system does not tell.
type memory struct {
	anonymous, mapped int64
	known             bool
}

func readMemory() memory {
	anonymous, err := machine.AnonymousBytes()
	if err != nil {
		return memory{}
	}
	mapped, err := machine.MappedBytes()
	return memory{anonymous, mapped, err == nil}
}

// since is how much more is held than before, never less than nothing; nil where the system does not tell.
func (m memory) since(before memory) (anonymous, mapped *int64) {
	if !m.known || !before.known {
		return nil, nil
	}
	a, f := max(0, m.anonymous-before.anonymous), max(0, m.mapped-before.mapped)
	return &a, &f
}

// guardPoll is how often the memory limit is looked at: a cell that allocates 10 GB/s is stopped 50 MB late.
const guardPoll = 5 * time.Millisecond

// guardMemory calls exceeded, once, when the process's anonymous memory goes beyond limit. Mapped files do not count:
// the system takes them back when it needs the room. Where memory cannot be read, nothing is guarded.
func guardMemory(limit int64, exceeded func(message string)) {
	tick := time.NewTicker(guardPoll)
	defer tick.Stop()
	for range tick.C {
		m := readMemory()
		if !m.known {
			return
		}
		if m.anonymous > limit {
			exceeded(fmt.Sprintf("took %d MiB of memory, over limits.memory (%d MiB)", m.anonymous>>20, limit>>20))
			return
		}
	}
}
