package machine

import (
	"strconv"
	"strings"
)

// Settings is how firmware and operating system have set this machine up, and what they tell about its state. What cannot
// be read here is "" or nil.
type Settings struct {
	OnlineCores       *int     `json:"online_cores"`             // logical cores of the machine; this process may be allowed fewer
	ThreadsPerCore    *int     `json:"threads_per_core"`         // above 1 is SMT, or Hyper-Threading
	NUMANodes         *int     `json:"numa_nodes"`               //
	LastLevelCache    *int64   `json:"last_level_cache_bytes"`   // as the first core sees it
	Governors         []string `json:"governors"`                // how clock speeds are chosen, without repetitions
	Turbo             *bool    `json:"turbo"`                    // cores may run above their nominal clock speed
	HighestClock      *float64 `json:"highest_clock_hertz"`      // that the first core can have
	Platform          string   `json:"platform"`                 // the machine, or the hypervisor, as the firmware names itself
	ClockSource       string   `json:"clock_source"`             // what the kernel reads the time from: tsc, kvm-clock, ...
	HugePages         string   `json:"transparent_huge_pages"`   // always, madvise or never
	HugePagesDefrag   string   `json:"huge_pages_defrag"`        // when the kernel stops a thread to make huge pages
	MemoryAvailable   *int64   `json:"memory_available_bytes"`   // that can be allocated without swapping
	SwapTotal         *int64   `json:"swap_total_bytes"`         //
	SwapUsed          *int64   `json:"swap_used_bytes"`          //
	Load              *float64 `json:"load_average"`             // of the last minute: threads that run or wait to
	MemoryGroups      *bool    `json:"memory_groups"`            // this process can make control groups that limit memory
	MemoryGroupParent string   `json:"memory_group_parent_path"` // where it would make them
}

// chosen is the word in brackets of a line such as "always [madvise] never".
func chosen(line string) string {
	_, rest, _ := strings.Cut(line, "[")
	word, _, ok := strings.Cut(rest, "]")
	if !ok {
		return ""
	}
	return word
}

// countList counts the numbers of a list such as "0-3,8". It is 0 for what is not one.
func countList(list string) int {
	total := 0
	for _, part := range strings.Split(strings.TrimSpace(list), ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil || first < 0 {
			return 0
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil || last < first || last > 1<<20 {
				return 0
			}
		}
		total += last - first + 1
	}
	return total
}

// positive is a pointer to n, or nil for what is not known.
func positive[T int | int64 | float64](n T) *T {
	if n > 0 {
		return &n
	}
	return nil
}
