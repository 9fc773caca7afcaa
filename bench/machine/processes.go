package machine

import (
	"cmp"
	"slices"
	"time"
)

// Process is another process that was busy.
type Process struct {
	PID   int     `json:"pid"`
	Name  string  `json:"name"`  // of its executable, cut to 15 bytes by the kernel
	Cores float64 `json:"cores"` // cores' worth of time that it took: 1 is one core all the time
}

// processTime is what a process has used since it began.
type processTime struct {
	name    string
	started int64 // ticks after the machine did, which tells it from an earlier process of the same number
	used    time.Duration
}

// ProcessWatch watches which other processes are busy, among those that this one can see: in a container, only those of
// the container.
type ProcessWatch struct {
	root   string
	self   int
	before map[int]processTime
}

// Busiest are the processes but this one that took at least 1% of a core in the elapsed time since WatchProcesses, the
// busiest first and at most n. Those that ended meanwhile are not seen. nil where the system does not tell.
func (w *ProcessWatch) Busiest(elapsed time.Duration, n int) []Process {
	if w.before == nil || elapsed <= 0 {
		return nil
	}
	busy := []Process{}
	for pid, after := range readProcesses(w.root) {
		used := after.used // all of its time, if it began since
		if before, was := w.before[pid]; was && before.started == after.started {
			used -= before.used
		}
		if cores := used.Seconds() / elapsed.Seconds(); pid != w.self && cores >= 0.01 {
			busy = append(busy, Process{pid, after.name, cores})
		}
	}
	slices.SortFunc(busy, func(a, b Process) int { return cmp.Or(cmp.Compare(b.Cores, a.Cores), cmp.Compare(a.PID, b.PID)) })
	return busy[:min(n, len(busy))]
}
