package machine

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// plant writes files below a folder that stands for "/".
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestReadSettings(t *testing.T) {
	const cpu = "sys/devices/system/cpu/"
	root := plant(t, map[string]string{
		cpu + "online": "0-3,8\n", cpu + "cpu0/topology/thread_siblings_list": "0,64\n",
		cpu + "cpu0/cache/index0/level": "1\n", cpu + "cpu0/cache/index0/size": "48K\n", cpu + "cpu0/cache/index0/type": "Data\n",
		cpu + "cpu0/cache/index3/level": "3\n", cpu + "cpu0/cache/index3/size": "32768K\n", cpu + "cpu0/cache/index3/type": "Unified\n",
		cpu + "cpu0/cpufreq/scaling_governor": "powersave\n", cpu + "cpu1/cpufreq/scaling_governor": "performance\n",
		cpu + "cpu3/cpufreq/scaling_governor": "powersave\n", cpu + "cpu0/cpufreq/cpuinfo_max_freq": "3500000\n",
		cpu + "intel_pstate/no_turbo":                                     "1\n",
		"sys/devices/system/node/online":                                  "0-1\n",
		"sys/class/dmi/id/sys_vendor":                                     "Maker\n",
		"sys/class/dmi/id/product_name":                                   "Box 1\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
		"sys/kernel/mm/transparent_hugepage/enabled":                      "always [madvise] never\n",
		"sys/kernel/mm/transparent_hugepage/defrag":                       "[always] defer never\n",
		"proc/meminfo":     "MemTotal: 100 kB\nMemAvailable: 10 kB\nSwapTotal: 8 kB\nSwapFree: 5 kB\n",
		"proc/loadavg":     "1.50 0.36 1.47 1/95 13579\n",
		"proc/self/cgroup": "0::/handed\n",
		"sys/fs/cgroup/handed/cgroup.subtree_control": "memory\n",
	})
	p := func(n int) *int { return &n }
	p64 := func(n int64) *int64 { return &n }
	clock, load, turbo, groups := 3.5e9, 1.5, false, true
	want := Settings{
		OnlineCores: p(5), ThreadsPerCore: p(2), NUMANodes: p(2), LastLevelCache: p64(32 << 20), Governors: []string{"performance", "powersave"},
		Turbo: &turbo, HighestClock: &clock, Platform: "Maker Box 1", ClockSource: "hpet", HugePages: "madvise", HugePagesDefrag: "always",
		MemoryAvailable: p64(10 << 10), SwapTotal: p64(8 << 10), SwapUsed: p64(3 << 10), Load: &load,
		MemoryGroups: &groups, MemoryGroupParent: filepath.Join(root, "sys/fs/cgroup/handed"),
	}
	if got := ReadSettings(root); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Nothing is guessed where nothing, or nonsense, can be read.
func TestUnreadableSettings(t *testing.T) {
	no := false
	want := Settings{MemoryGroups: &no}
	if got := ReadSettings(t.TempDir()); !reflect.DeepEqual(got, want) {
		t.Errorf("of an empty folder: %+v", got)
	}
	const cpu = "sys/devices/system/cpu/"
	root := plant(t, map[string]string{
		cpu + "online": "3-1\n", cpu + "cpufreq/boost": "maybe\n", cpu + "cpu0/cpufreq/cpuinfo_max_freq": "<unknown>\n", cpu + "cpu0/cache/index2/level": "x\n",
		cpu + "cpu0/cache/index3/level": "3\n", cpu + "cpu0/cache/index3/size": "-1K\n",
		"sys/devices/system/node/online": "\n", "sys/kernel/mm/transparent_hugepage/enabled": "always madvise\n",
		"proc/loadavg": "high\n", "proc/meminfo": "SwapTotal: 1 kB\nSwapFree: 2 kB\n",
	})
	total := int64(1 << 10)
	want.SwapTotal = &total
	if got := ReadSettings(root); !reflect.DeepEqual(got, want) {
		t.Errorf("of nonsense: %+v", got)
	}
}

func TestBoostFile(t *testing.T) {
	for text, on := range map[string]bool{"1\n": true, "0\n": false} {
		root := plant(t, map[string]string{"sys/devices/system/cpu/cpufreq/boost": text})
		if got := ReadSettings(root).Turbo; got == nil || *got != on {
			t.Errorf("boost %q gives %v", text, got)
		}
	}
}

func TestBusiestProcesses(t *testing.T) {
	root := plant(t, map[string]string{
		"proc/7/stat": "7 (quiet) b) S 1 1 1 0 -1 0 0 0 0 0 100 100 0 0 20 0 1 0 5\n", "proc/8/stat": "8 (a (b) c) R 1 1 1 0 -1 0 0 0 0 0 100 100 0 0 20 0 1 0 5\n",
		"proc/9/stat": "9 (broken", "proc/12/stat": "12 (ended) S 1 1 1 0 -1 0 0 0 0 0 9000 0 0 0 20 0 1 0 5\n", "proc/uptime": "1 2\n",
	})
	w := WatchProcesses(root)
	w.self = 10
	for name, text := range map[string]string{
		"proc/8/stat":  "8 (new name) R 1 1 1 0 -1 0 0 0 0 0 200 150 0 0 20 0 1 0 5\n", // 1.5 s
		"proc/10/stat": "10 (self) R 1 1 1 0 -1 0 0 0 0 0 200 0 0 0 20 0 1 0 5\n", "proc/11/stat": "11 (new) R 1 1 1 0 -1 0 0 0 0 0 50 0 0 0 20 0 1 0 5\n",
		"proc/12/stat": "12 (other) R 1 1 1 0 -1 0 0 0 0 0 0 20 0 0 20 0 1 0 77\n", // the number of one that ended
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := []Process{{8, "new name", 0.75}, {11, "new", 0.25}, {12, "other", 0.1}}
	if got := w.Busiest(2*time.Second, 9); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := w.Busiest(2*time.Second, 1); len(got) != 1 {
		t.Errorf("asked for one: %+v", got)
	}
	if got := WatchProcesses(t.TempDir()).Busiest(time.Second, 9); got != nil {
		t.Errorf("without /proc: %+v", got)
	}
	if got := WatchProcesses("/"); got.before[os.Getpid()].name == "" {
		t.Error("this process is not seen")
	}
}
