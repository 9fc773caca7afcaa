package doctor

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"frontier/bench/machine"
)

func ptr[T any](v T) *T { return &v }

// sound is a report on which nothing is to be changed.
func sound() *Report {
	return &Report{
		Version: 1, Environment: map[string]string{}, Kernels: "avx2", Workers: 4,
		Machine: machine.Fingerprint{CPU: "Fast 9000", Cores: 4, Memory: 32 << 30, OS: "linux", Arch: "amd64", InstructionSet: "avx2"},
		Settings: machine.Settings{
			OnlineCores: ptr(4), ThreadsPerCore: ptr(1), NUMANodes: ptr(1), LastLevelCache: ptr[int64](32 << 20), Governors: []string{"performance"},
			Turbo: ptr(false), HighestClock: ptr(3e9), Platform: "Maker Box", ClockSource: "tsc", HugePages: "madvise", HugePagesDefrag: "madvise",
			MemoryAvailable: ptr[int64](16 << 30), SwapTotal: ptr[int64](0), Load: ptr(0.1), MemoryGroups: ptr(true),
		},
		Engines: []Engine{{Name: "faiss", Version: "1", Details: map[string]string{"blas": "OpenBLAS 0.3 running Haswell"}}},
		Measured: &Measured{
			Idle:  Stretch{Seconds: 1, StealFraction: ptr(0.0), OtherFraction: ptr(0.01), ClockRatio: ptr(1.0)},
			Busy:  Stretch{Seconds: 1, StealFraction: ptr(0.0), OtherFraction: ptr(0.01), ClockRatio: ptr(0.99)},
			Timer: machine.Timer{ReadSeconds: 25e-9, ResolutionSeconds: 10e-9}, Sleep: machine.Sleep{AskedSeconds: 1e-3, MedianSeconds: 6e-5, WorstSeconds: 1e-4},
			Stalls: machine.Stalls{WatchedSeconds: 1, LongestSeconds: 4e-5}, Frequency: 3e9, MultiplyAdd: Rate{One: 1e10, All: 3.9e10},
			Bandwidth: &BandwidthMeasured{Bytes: 128 << 20, One: machine.Bandwidth{Read: 1e10, Copy: 2e10}, All: machine.Bandwidth{Read: 3e10, Copy: 4e10}},
			Disk:      &machine.Disk{Path: "/cache", FileSystem: "ext4", Free: 100 << 30, Write: 1e9, Sync: 1e-4, Read: 2e9},
			Floor:     machine.Floor{Pairs: 10, BlockSeconds: 0.15, Confidence: 0.99, P50Seconds: 3e-5, P99Seconds: 5e-5, P50: 0.021, P99: 0.08},
			Failed:    []string{},
		},
	}
}

func TestASoundMachineNeedsNothing(t *testing.T) {
	for _, f := range advice(sound()) {
		if f.Severity != OK || f.Remedy != "" || f.Text == "" {
			t.Errorf("%+v", f)
		}
	}
}

func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		id       string
		severity Severity
		says     string // in the text or the remedy
		change   func(*Report)
	}{
		{"measuring", Bad, "nothing was timed: busy", func(r *Report) { r.Measured, r.NotMeasured = nil, "busy" }},
		{"noise_floor", Warn, "with 10 pairs of blocks of 150 ms, differences under 7.0% of p50 and 8.0% of p99 cannot be seen", func(r *Report) { r.Measured.Floor.P50 = 0.07 }},
		{"noise_floor", Bad, "30% of p50", func(r *Report) { r.Measured.Floor.P50 = 0.3 }},
		{"noise_floor", Bad, "120% of p99", func(r *Report) { r.Measured.Floor.P99 = 1.2 }},
		{"noise_floor", Warn, "60% of p99", func(r *Report) { r.Measured.Floor.P99 = 0.6 }},
		{"steal", Warn, "2.0% of the CPU time", func(r *Report) { r.Measured.Busy.StealFraction = ptr(0.02) }},
		{"steal", Bad, "dedicated machine", func(r *Report) { r.Measured.Busy.StealFraction = ptr(0.2) }},
		{"steal", Unknown, "does not tell", func(r *Report) { r.Measured.Busy.StealFraction = nil }},
		{"other_processes", Warn, "make (7) 40%", func(r *Report) {
			r.Measured.Idle.OtherFraction, r.Measured.Busiest = ptr(0.1), []machine.Process{{PID: 7, Name: "make", Cores: 0.4}}
		}},
		{"other_processes", Bad, "stop them", func(r *Report) { r.Measured.Idle.OtherFraction = ptr(0.5) }},
		{"other_processes", Warn, "0.5 threads a core", func(r *Report) { r.Measured.Idle.OtherFraction, r.Settings.Load = nil, ptr(2.0) }},
		{"other_processes", Unknown, "does not tell", func(r *Report) { r.Measured.Idle.OtherFraction, r.Settings.Load = nil, nil }},
		{"stalls", Warn, "longest gap was 40 ms", func(r *Report) { r.Measured.Stalls = machine.Stalls{Count: 1, Share: 0.005, LongestSeconds: 0.04} }},
		{"stalls", Bad, "in 90 gaps", func(r *Report) { r.Measured.Stalls = machine.Stalls{Count: 90, Share: 0.2, LongestSeconds: 0.005} }},
		{"virtual_machine", Warn, "cannot be seen from inside", func(r *Report) { r.Machine.Virtual = true }},
		{"cpu_quota", Warn, "1.5 cores' worth of CPU time of 4 cores", func(r *Report) { r.Machine.CPULimit = 1.5 }},
		{"cpu_quota", OK, "4 cores' worth", func(r *Report) { r.Machine.CPULimit = 4 }},
		{"governor", Warn, "cpupower frequency-set -g performance", func(r *Report) { r.Settings.Governors = []string{"performance", "powersave"} }},
		{"governor", Unknown, "does not tell", func(r *Report) { r.Settings.Governors = nil }},
		{"turbo", Warn, "no_turbo", func(r *Report) { r.Settings.Turbo = ptr(true) }},
		{"turbo", Unknown, "does not tell", func(r *Report) { r.Settings.Turbo = nil }},
		{"clock_speed", Warn, "50% of its highest", func(r *Report) { r.Measured.Busy.ClockRatio = ptr(0.5) }},
		{"clock_speed", Unknown, "ran at 3 GHz", func(r *Report) { r.Measured.Busy.ClockRatio = nil }},
		{"smt", Warn, "2 logical cores", func(r *Report) { r.Settings.ThreadsPerCore = ptr(2) }},
		{"smt", Unknown, "does not tell", func(r *Report) { r.Settings.ThreadsPerCore = nil }},
		{"timer", Bad, "clocksource=tsc", func(r *Report) { r.Measured.Timer.ReadSeconds, r.Settings.ClockSource = 2e-6, "hpet" }},
		{"sleep", Warn, "2 ms late", func(r *Report) { r.Measured.Sleep.MedianSeconds = 2e-3 }},
		{"memory", Warn, "1 GiB of memory are available", func(r *Report) { r.Settings.MemoryAvailable = ptr[int64](1 << 30) }},
		{"memory", Bad, "a control group allows 256 MiB", func(r *Report) { r.Machine.MemoryLimit = 256 << 20 }},
		{"memory", Unknown, "does not tell", func(r *Report) { r.Settings.MemoryAvailable = nil }},
		{"swap", Warn, "swapoff", func(r *Report) { r.Settings.SwapTotal, r.Settings.SwapUsed = ptr[int64](1<<30), ptr[int64](1<<29) }},
		{"swap", OK, "next to empty", func(r *Report) { r.Settings.SwapTotal, r.Settings.SwapUsed = ptr[int64](1<<30), ptr[int64](0) }},
		{"swap", Unknown, "does not tell", func(r *Report) { r.Settings.SwapTotal = nil }},
		{"huge_pages", Warn, "defer+madvise", func(r *Report) { r.Settings.HugePages, r.Settings.HugePagesDefrag = "always", "always" }},
		{"huge_pages", Unknown, "does not tell", func(r *Report) { r.Settings.HugePages = "" }},
		{"numa", Warn, "2 NUMA nodes", func(r *Report) { r.Settings.NUMANodes = ptr(2) }},
		{"numa", Unknown, "does not tell", func(r *Report) { r.Settings.NUMANodes = nil }},
		{"memory_groups", Warn, "Delegate=yes", func(r *Report) { r.Settings.MemoryGroups = ptr(false) }},
		{"memory_groups", Unknown, "no control groups", func(r *Report) { r.Settings.MemoryGroups = nil }},
		{"scaling", Warn, "4 cores together reach 3 times", func(r *Report) { r.Measured.MultiplyAdd.All = 3e10 }},
		{"disk", Warn, "cache gc", func(r *Report) { r.Measured.Disk.Free = 1 << 30 }},
		{"disk", Warn, "wait for the network", func(r *Report) { r.Measured.Disk.FileSystem = "nfs" }},
		{"disk", Bad, "a sync takes 2 s", func(r *Report) { r.Measured.Disk.Sync = 2 }},
		{"not_measured", Warn, "a; b", func(r *Report) { r.Measured.Failed = []string{"a", "b"} }},
		{"kernels", Warn, "no vector instructions", func(r *Report) { r.Kernels = "portable" }},
		{"blas", Bad, "libopenblas", func(r *Report) { r.Engines[0].Details["blas"] = "not OpenBLAS" }},
		{"blas", OK, "that of the system", func(r *Report) { r.Machine.OS, r.Engines[0].Details["blas"] = "darwin", "not OpenBLAS" }},
		{"openblas_coretype", Warn, "(avx2); what runs is Haswell", func(r *Report) { r.Environment["OPENBLAS_CORETYPE"] = "Prescott" }},
		{"openblas_coretype", Warn, "unset OPENBLAS_CORETYPE", func(r *Report) { r.Environment["OPENBLAS_CORETYPE"] = "Haswell" }},
		{"environment", Warn, "GOGC=off OMP_NUM_THREADS=1", func(r *Report) { r.Environment["OMP_NUM_THREADS"], r.Environment["GOGC"] = "1", "off" }},
		{"engine_faiss", Warn, "install it", func(r *Report) { r.Engines[0].Absent = "install it" }},
	} {
		r := sound()
		c.change(r)
		found := advice(r)
		i := slices.IndexFunc(found, func(f Finding) bool { return f.ID == c.id })
		if i < 0 {
			t.Errorf("%s: no finding, want %s", c.id, c.severity)
			continue
		}
		f := found[i]
		if text := f.Text + "\n" + f.Remedy; f.Severity != c.severity || !strings.Contains(text, c.says) {
			t.Errorf("%s is %s, want %s saying %q:\n%s", c.id, f.Severity, c.severity, c.says, text)
		}
		if (f.Severity == Bad || f.Severity == Warn) != (f.Remedy != "") {
			t.Errorf("%s is %s with the remedy %q", c.id, f.Severity, f.Remedy)
		}
		if f.Severity != OK && c.severity != Unknown && i != 0 && found[i-1].Severity == OK {
			t.Errorf("%s comes after what is in order", c.id)
		}
	}
}

func TestTheWorstComesFirst(t *testing.T) {
	r := sound()
	r.Settings.Turbo, r.Settings.ThreadsPerCore, r.Measured.Busy.StealFraction = nil, ptr(2), ptr(0.5)
	var severities []Severity
	for _, f := range advice(r)[:4] {
		severities = append(severities, f.Severity)
	}
	if want := []Severity{Bad, Warn, Unknown, OK}; !slices.Equal(severities, want) {
		t.Errorf("%v, want %v", severities, want)
	}
}

// every is a time for each part that only lets it run.
func every() times {
	const d = time.Millisecond
	return times{idle: d, one: d, all: d, stalls: d, bandwidth: d, block: d, disk: d, sleeps: 2, pairs: 2, diskBytes: 1}
}

func options(t *testing.T) Options {
	return Options{
		Root: "/", CacheDir: t.TempDir(), Quick: true,
		Getenv: func(name string) string { return map[string]string{"OPENBLAS_CORETYPE": "Zen", "HOME": "x"}[name] },
		Lock:   func() (func(), bool, error) { return func() {}, true, nil },
	}
}

func TestExamineMeasuresEverything(t *testing.T) {
	o := options(t)
	released := 0
	o.Lock = func() (func(), bool, error) { return func() { released++ }, true, nil }
	r, err := examine(t.Context(), o, every())
	if err != nil {
		t.Fatal(err)
	}
	m := r.Measured
	if released != 1 || r.NotMeasured != "" || m == nil || !reflect.DeepEqual(r.Environment, map[string]string{"OPENBLAS_CORETYPE": "Zen"}) {
		t.Fatalf("released %d times: %+v", released, r)
	}
	for name, value := range map[string]float64{
		"idle": m.Idle.Seconds, "busy": m.Busy.Seconds, "timer": m.Timer.ReadSeconds, "sleep": m.Sleep.AskedSeconds, "stalls": m.Stalls.WatchedSeconds,
		"clock": m.Frequency, "one": m.MultiplyAdd.One, "all": m.MultiplyAdd.All, "floor": m.Floor.P50Seconds,
	} {
		if value <= 0 {
			t.Errorf("%s is %v", name, value)
		}
	}
	// A small machine may lack the memory or the room on its disk; then it says so.
	if (m.Bandwidth == nil || m.Disk == nil) != (len(m.Failed) > 0) {
		t.Errorf("bandwidth %v, disk %v, failed %q", m.Bandwidth, m.Disk, m.Failed)
	}
	for _, format := range Formats() {
		if err := r.Write(io.Discard, format); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingIsTimedBesideASweep(t *testing.T) {
	for name, lock := range map[string]func() (func(), bool, error){
		"a sweep is measuring": func() (func(), bool, error) { return nil, false, nil },
		"cannot be locked":     func() (func(), bool, error) { return nil, false, errors.New("it cannot be locked") },
	} {
		o := options(t)
		o.Lock = lock
		r, err := Examine(t.Context(), o)
		if err != nil || r.Measured != nil || !strings.Contains(r.NotMeasured, name) || r.Advice[0].ID != "measuring" || r.Advice[0].Severity != Bad {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		var out bytes.Buffer
		if err := r.Write(&out, "table"); err != nil || !strings.Contains(out.String(), name) {
			t.Errorf("%v\n%s", err, out.String())
		}
	}
}

func TestExamineEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := Examine(ctx, options(t)); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}

func TestAFullDiskIsSaid(t *testing.T) {
	m, tt := &Measured{}, every()
	tt.diskBytes = 1 << 60
	if m.tryDisk(t.Context(), t.TempDir(), tt); m.Disk != nil || !strings.Contains(strings.Join(m.Failed, "\n"), "too few to measure the disk") {
		t.Errorf("%+v", m)
	}
}

func TestBandwidthLeavesMemoryToOthers(t *testing.T) {
	r := sound()
	r.Machine.MemoryLimit = 256 << 20
	if _, err := bandwidth(t.Context(), r, 0); err == nil || !strings.Contains(err.Error(), "only 256 MiB are available") {
		t.Error(err)
	}
	for cache, want := range map[int64]int64{0: 256 << 20, 1 << 20: 64 << 20, 32 << 20: 128 << 20, 1 << 30: 1 << 30} {
		s := machine.Settings{}
		if cache > 0 {
			s.LastLevelCache = &cache
		}
		if got := bandwidthBytes(&s); got != want {
			t.Errorf("a cache of %d: %d, want %d", cache, got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	r := sound()
	r.Machine.Virtual, r.Settings.Governors, r.Engines[0].Details["blas"] = true, nil, "a|b\n<c>"
	r.Advice = advice(r)
	written := map[string]string{}
	for _, format := range Formats() {
		var out bytes.Buffer
		if err := r.Write(&out, format); err != nil {
			t.Fatal(err)
		}
		written[format] = out.String()
	}
	for format, parts := range map[string][]string{
		"table": {
			"  governor             not readable\n", "multiply-add         10 GFLOP/s on one core, 39 GFLOP/s on 4, in the avx2 kernel\n",
			"read 10 GB/s, copy 20 GB/s, over 128 MiB", "blas: a|b <c>", "What to change\n  bad      blas", "-> compare only within one run",
		},
		"markdown": {"### Speed\n\n| | |\n|:---|:---|\n", `blas: a\|b &lt;c>`, "| warn | virtual_machine |", "| unknown | governor |"},
		"csv":      {"key,value\n", "machine.cpu,Fast 9000\n", "settings.turbo,false\n", "settings.governors,\n", "measured.noise_floor.smallest_p50_difference,0.021\n", "advice.0.severity,bad\n"},
	} {
		for _, part := range parts {
			if !strings.Contains(written[format], part) {
				t.Errorf("the %s lacks %q:\n%s", format, part, written[format])
			}
		}
	}
	var back Report
	if err := json.Unmarshal([]byte(written["json"]), &back); err != nil || !reflect.DeepEqual(&back, r) {
		t.Errorf("%v: came back as %+v", err, back)
	}
	if lines, err := csv.NewReader(strings.NewReader(written["csv"])).ReadAll(); err != nil || len(lines) < 80 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	if err := r.Write(io.Discard, "xml"); err == nil || !strings.Contains(err.Error(), "table, json, csv, markdown") {
		t.Error(err)
	}
}

// The page documents every key and every finding, and none that is not there.
func TestThePageNamesEveryKeyAndFinding(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	var names []string
	keys(reflect.TypeFor[Report](), "", &names)
	for _, r := range rules() {
		names = append(names, r.id)
	}
	for _, name := range names {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/doctor.md does not name `%s`", name)
		}
	}
}

// keys are the keys of the JSON form as the CSV form joins them, without the numbers of what is in lists.
func keys(t reflect.Type, prefix string, names *[]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		*names = append(*names, prefix)
		return
	}
	for f := range t.Fields() {
		keys(f.Type, strings.TrimPrefix(prefix+"."+f.Tag.Get("json"), "."), names)
	}
}

func TestFormatting(t *testing.T) {
	for got, want := range map[string]string{
		seconds(25e-9): "25 ns", seconds(1.234e-4): "123 us", seconds(0.0994): "99.4 ms", seconds(12): "12 s", seconds(999.9e-6): "1000 us",
		size(12): "12 B", size(48 << 10): "48 KiB", size(3 << 29): "1.5 GiB", size(32 << 20): "32 MiB",
		percent(0.0004): "0.04%", percent(0.05): "5.0%", percent(0.0995): "10%", percent(0.5): "50%",
		rate(4.28e9, "Hz"): "4.28 GHz", rate(1.5e5, "B/s"): "150 kB/s", rate(9.99e7, "B/s"): "100 MB/s",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
