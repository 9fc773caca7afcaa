package doctor

import (
	"fmt"
	"strings"
)

// speedRules are about how fast parts of the machine are.
func speedRules() []rule {
	return []rule{
		{"scaling", measured(func(r *Report, m *Measured) *judgement {
			if r.Workers < 2 || m.MultiplyAdd.One <= 0 {
				return nil
			}
			share := m.MultiplyAdd.All / m.MultiplyAdd.One / float64(r.Workers)
			text := fmt.Sprintf("%d cores together reach %.3g times the arithmetic of one", r.Workers, m.MultiplyAdd.All/m.MultiplyAdd.One)
			return graded(-share, -0.8, -0.5, text, "the cores are shared with something, or slow down when all are busy: see steal, other processes, SMT and turbo")
		})},
		{"disk", measured(func(_ *Report, m *Measured) *judgement {
			d := m.Disk
			if d == nil {
				return nil // it is among what failed
			}
			text := fmt.Sprintf("the cache is on %s with %s free, and a sync takes %s", wordOr(d.FileSystem), size(d.Free), seconds(d.Sync))
			switch {
			case d.Free < 2<<30:
				return warn(text, "make room with `frontier cache gc`, or name a folder on another disk with --cache")
			case d.FileSystem == "nfs" || d.FileSystem == "smb" || d.FileSystem == "fuse":
				return warn(text, "give each machine a cache on a disk of its own with --cache or $FRONTIER_CACHE: indexes are mapped from there, so searching may wait for the network")
			}
			return graded(d.Sync, 0.05, 1, text, "preparing waits for the disk: put the cache on another one with --cache or $FRONTIER_CACHE")
		})},
		{"not_measured", measured(func(_ *Report, m *Measured) *judgement {
			if len(m.Failed) == 0 {
				return nil
			}
			return warn(strings.Join(m.Failed, "; "), "see to what is named there, and run this again")
		})},
	}
}
