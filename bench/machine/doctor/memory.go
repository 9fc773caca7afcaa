package doctor

import "fmt"

// memoryRules are about memory.
func memoryRules() []rule {
	return []rule{
		{"memory", func(r *Report) *judgement {
			free := freeMemory(r)
			if free == nil {
				return unknown("this system does not tell how much memory is available")
			}
			text := size(*free) + " of memory are available"
			if r.Machine.MemoryLimit > 0 && *free == r.Machine.MemoryLimit {
				text = "a control group allows " + size(*free) + " of memory"
			}
			return graded(-float64(*free), -2<<30, -512<<20, text, "stop other programs or take a larger machine: what does not fit fails, or is read from the disk over and over")
		}},
		{"swap", func(r *Report) *judgement {
			total, used := r.Settings.SwapTotal, r.Settings.SwapUsed
			switch {
			case total == nil:
				return unknown("this system does not tell whether it swaps")
			case *total == 0:
				return ok("there is no swap")
			case used != nil && *used > 64<<20:
				return warn(fmt.Sprintf("%s are swapped out, and what comes back from there is very slow", size(*used)), "sudo swapoff -a while measuring")
			}
			return ok("there is swap, but it is next to empty")
		}},
		{"huge_pages", func(r *Report) *judgement {
			pages := r.Settings.HugePages
			if pages == "" {
				return unknown("this system does not tell whether it makes transparent huge pages")
			}
			text := "transparent huge pages: " + pages
			if r.Settings.HugePagesDefrag == "always" && pages == "always" {
				return warn(text+", and threads wait while the kernel makes them", "echo defer+madvise | sudo tee /sys/kernel/mm/transparent_hugepage/defrag")
			}
			return ok(text + "; large indexes are searched faster with always: measure with what production has")
		}},
		{"numa", func(r *Report) *judgement {
			nodes := r.Settings.NUMANodes
			switch {
			case nodes == nil:
				return unknown("this system does not tell whether some memory is further away than other")
			case *nodes > 1:
				return warn(fmt.Sprintf("the machine has %d NUMA nodes: speed depends on which of them an index happens to be on", *nodes),
					"numactl --cpunodebind=0 --membind=0 frontier sweep ...")
			}
			return ok("all memory is equally near")
		}},
		{"memory_groups", func(r *Report) *judgement {
			switch can := r.Settings.MemoryGroups; {
			case can == nil:
				return unknown("this system has no control groups that could hold a cell to its memory limit; a watchdog in the cell does")
			case !*can:
				return warn("this process cannot make control groups, so limits.memory is kept by a watchdog and by RLIMIT_DATA alone, which sees a sudden growth late",
					"run as a user that a group with the memory controller was handed to: systemd-run --user --scope -p Delegate=yes frontier sweep ...")
			}
			return ok("cells with a memory limit get a control group of their own")
		}},
	}
}
