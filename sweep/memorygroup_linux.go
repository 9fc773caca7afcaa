package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// memoryGroup is a control group of one cell: what holds where the watchdog in the cell comes too late and RLIMIT_DATA
// does not count, as for what Go maps over its own reservation. The kernel kills what goes beyond it.
type memoryGroup struct{ dir string }

// newMemoryGroup makes a group for limit bytes and some slack, below the group of this process, in either version of
// control groups. It is nil where this process may not make one, which most may not.
func newMemoryGroup(limit int64) *memoryGroup {
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	parent, file := memoryParent(string(raw), "/sys/fs/cgroup")
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

// memoryParent finds the group whose memory this process counts to, and the name of the file that limits one, from the
// content of /proc/self/cgroup and the place where groups are mounted; "" without a memory controller to hand on.
func memoryParent(self, mount string) (dir, file string) {
	for line := range strings.Lines(self) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		switch {
		case !ok:
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			return existing(filepath.Join(mount, "memory", path)), "memory.limit_in_bytes"
		case id == "0" && controllers == "":
			handed, err := os.ReadFile(filepath.Join(mount, path, "cgroup.subtree_control"))
			if err == nil && slices.Contains(strings.Fields(string(handed)), "memory") {
				return filepath.Join(mount, path), "memory.max"
			}
		}
	}
	return "", ""
}

func existing(dir string) string {
	if _, err := os.Stat(dir); err != nil {
		return "" // in a container the path may be that of the host
	}
	return dir
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
