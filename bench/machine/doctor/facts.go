package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"frontier/bench/machine"
)

// section is facts under a heading, for people.
type section struct {
	title string
	facts []fact
}

type fact struct{ label, text string }

// sections are the facts of the report, without its advice.
func (r *Report) sections() []section {
	all := []section{{"Machine", r.machineFacts()}, {"Settings", r.settingFacts()}}
	if m := r.Measured; m != nil {
		all = append(all, section{"Quiet", m.quietFacts()}, section{"Speed", r.speedFacts(m)}, section{"Noise floor", []fact{
			{"one search", fmt.Sprintf("p50 %s, p99 %s, over 2,000 vectors of 64 dimensions", seconds(m.Floor.P50Seconds), seconds(m.Floor.P99Seconds))},
			{"can be seen", r.floorSentence()},
		}})
	}
	return append(all, section{"Engines", r.engineFacts()})
}

func (r *Report) machineFacts() []fact {
	f := &r.Machine
	cores := strconv.Itoa(f.Cores)
	if online := r.Settings.OnlineCores; online != nil && *online != f.Cores {
		cores += fmt.Sprintf(" of %d", *online)
	}
	if f.CPULimit > 0 {
		cores += fmt.Sprintf(", of which a control group allows %.3g cores' worth of time", f.CPULimit)
	}
	memory := size(f.Memory)
	if f.Memory == 0 {
		memory = unreadable
	}
	if f.MemoryLimit > 0 {
		memory += ", of which a control group allows " + size(f.MemoryLimit)
	}
	kind := "none that the processor tells of"
	if f.Virtual {
		kind = "yes"
	}
	return []fact{
		{"processor", wordOr(f.CPU)},
		{"cores", cores},
		{"instruction set", f.InstructionSet},
		{"last cache", orUnreadable(r.Settings.LastLevelCache, size)},
		{"memory", memory},
		{"hypervisor", kind},
		{"platform", wordOr(r.Settings.Platform)},
		{"system", fmt.Sprintf("%s/%s %s, %s", f.OS, f.Arch, f.Kernel, f.GoVersion)},
		{"digest", f.Digest()},
	}
}

func (r *Report) settingFacts() []fact {
	s := &r.Settings
	huge := wordOr(s.HugePages)
	if s.HugePagesDefrag != "" {
		huge += ", defrag " + s.HugePagesDefrag
	}
	swap := orUnreadable(s.SwapTotal, size)
	if s.SwapUsed != nil && *s.SwapTotal > 0 {
		swap += ", " + size(*s.SwapUsed) + " used"
	}
	facts := []fact{
		{"governor", wordOr(strings.Join(s.Governors, ", "))},
		{"turbo", orUnreadable(s.Turbo, onOff)},
		{"threads per core", orUnreadable(s.ThreadsPerCore, strconv.Itoa)},
		{"NUMA nodes", orUnreadable(s.NUMANodes, strconv.Itoa)},
		{"highest clock", orUnreadable(s.HighestClock, func(f float64) string { return rate(f, "Hz") })},
		{"clock source", wordOr(s.ClockSource)},
		{"huge pages", huge},
		{"available", orUnreadable(s.MemoryAvailable, size)},
		{"swap", swap},
		{"load average", orUnreadable(s.Load, figures)},
	}
	for _, name := range slices.Sorted(maps.Keys(r.Environment)) {
		facts = append(facts, fact{name, r.Environment[name]})
	}
	return facts
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (m *Measured) quietFacts() []fact {
	show := func(s Stretch) string {
		return fmt.Sprintf("%s: steal %s, other processes %s, %.0f lost cores a second and core",
			seconds(s.Seconds), orUnreadable(s.StealFraction, percent), orUnreadable(s.OtherFraction, percent), s.Switches)
	}
	return []fact{
		{"while idle", show(m.Idle)},
		{"while busy", show(m.Busy)},
		{"stalls", fmt.Sprintf("%d of over 50 us in %s, %s of the time; the longest gap %s", m.Stalls.Count, seconds(m.Stalls.WatchedSeconds), percent(m.Stalls.Share), seconds(m.Stalls.LongestSeconds))},
		{"sleep", fmt.Sprintf("%s asked: %s late (median), %s at worst", seconds(m.Sleep.AskedSeconds), seconds(m.Sleep.MedianSeconds), seconds(m.Sleep.WorstSeconds))},
		{"reading the time", fmt.Sprintf("%s, in steps of %s", seconds(m.Timer.ReadSeconds), seconds(m.Timer.ResolutionSeconds))},
	}
}

func (r *Report) speedFacts(m *Measured) []fact {
	facts := []fact{
		{"clock", "about " + rate(m.Frequency, "Hz") + ", by a chain of additions at one a cycle"},
		{"multiply-add", fmt.Sprintf("%s on one core, %s on %d, in the %s kernel", rate(m.MultiplyAdd.One, "FLOP/s"), rate(m.MultiplyAdd.All, "FLOP/s"), r.Workers, r.Kernels)},
	}
	if b := m.Bandwidth; b != nil {
		show := func(b machine.Bandwidth) string {
			return fmt.Sprintf("read %s, copy %s", rate(b.Read, "B/s"), rate(b.Copy, "B/s"))
		}
		facts = append(facts,
			fact{"memory, one core", show(b.One) + ", over " + size(b.Bytes)},
			fact{"memory, all cores", show(b.All)})
	}
	if d := m.Disk; d != nil {
		read := "read " + rate(d.Read, "B/s")
		if d.ReadFromMemory {
			read += " (from memory)"
		}
		facts = append(facts, fact{"disk", fmt.Sprintf("write %s, %s, sync %s; %s with %s free, at %s",
			rate(d.Write, "B/s"), read, seconds(d.Sync), wordOr(d.FileSystem), size(d.Free), d.Path)})
	}
	return facts
}

func (r *Report) engineFacts() []fact {
	facts := []fact{{"own kernels", r.Kernels}}
	for _, e := range r.Engines {
		text := e.Version
		if e.Absent != "" {
			text = "absent: " + e.Absent
		}
		for _, key := range slices.Sorted(maps.Keys(e.Details)) {
			text += ", " + key + ": " + e.Details[key]
		}
		facts = append(facts, fact{e.Name, text})
	}
	return facts
}
