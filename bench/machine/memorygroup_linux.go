package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// MemoryGroupParent finds the control group whose memory this process counts to, in which groups with a limit of their
// own can be made, and the name of the file that limits one; dir is "" without a memory controller to hand on. root is
// the folder that holds proc and sys: "/" but in tests.
func MemoryGroupParent(root string) (dir, file string) {
	raw, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return "", ""
	}
	return memoryGroupParent(string(raw), filepath.Join(root, "sys/fs/cgroup"))
}

// memoryGroupParent takes the content of /proc/self/cgroup and the place where groups are mounted.
func memoryGroupParent(self, mount string) (dir, file string) {
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
