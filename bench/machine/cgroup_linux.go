package machine

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// controlGroupLimits are the tightest limits of the groups that this process is in, 0 where there is none. self is
// /proc/self/cgroup and root the folder where the groups are mounted: version 2, or version 1 with its memory and cpu
// folders.
func controlGroupLimits(self, root string) (cpus float64, memory int64) {
	raw, err := os.ReadFile(self)
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(raw)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			switch controller {
			case "": // version 2
				for _, dir := range groupAndParents(root, parts[2]) {
					quota, period, _ := strings.Cut(firstLine(path.Join(dir, "cpu.max")), " ")
					cpus = tighter(cpus, ratio(quota, period))
					memory = tighter(memory, whole(firstLine(path.Join(dir, "memory.max"))))
				}
			case "cpu":
				for _, dir := range groupAndParents(path.Join(root, "cpu"), parts[2]) {
					cpus = tighter(cpus, ratio(firstLine(path.Join(dir, "cpu.cfs_quota_us")), firstLine(path.Join(dir, "cpu.cfs_period_us"))))
				}
			case "memory":
				for _, dir := range groupAndParents(path.Join(root, "memory"), parts[2]) {
					memory = tighter(memory, whole(firstLine(path.Join(dir, "memory.limit_in_bytes"))))
				}
			}
		}
	}
	return cpus, memory
}

// groupAndParents are the folders of a group and of all groups around it. In a container the group's own folder may not
// be visible, and the mounted root is the container's.
func groupAndParents(root, group string) []string {
	dirs := []string{root}
	for group = path.Clean("/" + group); group != "/"; group = path.Dir(group) {
		dirs = append(dirs, path.Join(root, group))
	}
	return dirs
}

// whole is a limit in bytes. "max" is none, and version 1 writes none as a number that no machine has.
func whole(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n >= 1<<60 {
		return 0
	}
	return n
}

// ratio is quota/period. Version 2 writes no quota as "max", version 1 as -1.
func ratio(quota, period string) float64 {
	q, p := whole(quota), whole(period)
	if q == 0 || p == 0 {
		return 0
	}
	return float64(q) / float64(p)
}

// tighter is the smaller limit, where 0 is none.
func tighter[T int64 | float64](a, b T) T {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
