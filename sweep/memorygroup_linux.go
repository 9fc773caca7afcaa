package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"frontier/bench/machine"
)

// memoryGroup is a control group of one cell: what holds where the watchdog in the cell comes too late and RLIMIT_DATA
// does not count, as for what Go maps over its own reservation. The kernel kills what goes beyond it.
type memoryGroup struct{ dir string }

// newMemoryGroup makes a group for limit bytes and some slack, below the group of this process, in either version of
// control groups. It is nil where this process may not make one, which most may not.
func newMemoryGroup(limit int64) *memoryGroup {
	parent, file := machine.MemoryGroupParent("/")
	if parent == "" {
		return nil
	}
	dir, err := os.MkdirTemp(parent, "frontier-cell-")
	if err != nil {
		return nil
	}
	g := &memoryGroup{dir}
	if os.WriteFile(filepath.Join(dir, file), []byte(strconv.FormatInt(limit+limit/4+256<<20, 10)), 0o644) != nil {
		g.close()
		return nil
	}
	return g
}

// add puts a process into the group, best before it takes memory.
func (g *memoryGroup) add(pid int) error {
	return os.WriteFile(filepath.Join(g.dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644)
}

// close removes the group, which its process must have left by ending.
func (g *memoryGroup) close() {
	if err := os.Remove(g.dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return // an empty group costs nothing, and there is nobody to tell
	}
}
