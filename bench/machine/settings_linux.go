package machine

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadSettings reads /proc and /sys below root, which is "/" but in tests. It runs nothing and takes a few milliseconds.
func ReadSettings(root string) Settings {
	line := func(path string) string { return firstLine(filepath.Join(root, path)) }
	const cpus = "sys/devices/system/cpu/"
	s := Settings{
		OnlineCores:     positive(countList(line(cpus + "online"))),
		ThreadsPerCore:  positive(countList(line(cpus + "cpu0/topology/thread_siblings_list"))),
		NUMANodes:       positive(countList(line("sys/devices/system/node/online"))),
		LastLevelCache:  positive(lastLevelCache(filepath.Join(root, cpus, "cpu0/cache"))),
		Governors:       governors(filepath.Join(root, cpus)),
		HighestClock:    positive(1000 * parseKilohertz(line(cpus+"cpu0/cpufreq/cpuinfo_max_freq"))),
		Platform:        platform(line),
		ClockSource:     line("sys/devices/system/clocksource/clocksource0/current_clocksource"),
		HugePages:       chosen(line("sys/kernel/mm/transparent_hugepage/enabled")),
		HugePagesDefrag: chosen(line("sys/kernel/mm/transparent_hugepage/defrag")),
	}
	switch { // 1 is "no turbo" in the one file, and "boost" in the other
	case line(cpus+"intel_pstate/no_turbo") != "":
		s.Turbo = flag(line(cpus+"intel_pstate/no_turbo"), "0", "1")
	default:
		s.Turbo = flag(line(cpus+"cpufreq/boost"), "1", "0")
	}
	if fields := strings.Fields(line("proc/loadavg")); len(fields) > 0 {
		if load, err := strconv.ParseFloat(fields[0], 64); err == nil && load >= 0 {
			s.Load = &load
		}
	}
	s.readMemory(filepath.Join(root, "proc/meminfo"))
	dir, _ := MemoryGroupParent(root)
	can := dir != "" && unix.Access(dir, unix.W_OK) == nil
	s.MemoryGroups, s.MemoryGroupParent = &can, dir
	return s
}

func (s *Settings) readMemory(path string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return
	}
	if n, err := parseKilobytes(raw, "MemAvailable"); err == nil {
		s.MemoryAvailable = &n
	}
	total, err := parseKilobytes(raw, "SwapTotal")
	if err != nil {
		return
	}
	s.SwapTotal = &total
	if free, err := parseKilobytes(raw, "SwapFree"); err == nil && free <= total {
		used := total - free
		s.SwapUsed = &used
	}
}

// flag is whether a file says yes or no; nil for anything else.
func flag(text, yes, no string) *bool {
	on := text == yes
	if !on && text != no {
		return nil
	}
	return &on
}

// governors are the different ones of all cores, sorted.
func governors(cpus string) []string {
	// The pattern is well formed, which is all that can be wrong with it.
	paths, _ := filepath.Glob(filepath.Join(cpus, "cpu[0-9]*/cpufreq/scaling_governor"))
	var found []string
	for _, path := range paths {
		if g := firstLine(path); g != "" {
			found = append(found, g)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// lastLevelCache is the size in bytes of the cache of the highest level in dir; 0 if it is not told.
func lastLevelCache(dir string) int64 {
	paths, _ := filepath.Glob(filepath.Join(dir, "index[0-9]*"))
	var size int64
	highest := 0
	for _, path := range paths {
		level, err := strconv.Atoi(firstLine(filepath.Join(path, "level")))
		if err != nil || level <= highest || firstLine(filepath.Join(path, "type")) == "Instruction" {
			continue
		}
		if n := parseCacheSize(firstLine(filepath.Join(path, "size"))); n > 0 {
			highest, size = level, n
		}
	}
	return size
}

// parseCacheSize reads "32768K"; 0 if it is no size.
func parseCacheSize(s string) int64 {
	unit := int64(1)
	for suffix, factor := range map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, factor
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n > 1<<40/unit {
		return 0
	}
	return n * unit
}

// platform joins what firmware and hypervisor say about themselves.
func platform(line func(string) string) string {
	var parts []string
	for _, path := range []string{"sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name", "sys/hypervisor/type"} {
		if s := line(path); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}
