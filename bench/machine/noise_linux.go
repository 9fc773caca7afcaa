package machine

import (
	"bytes"
	"math"
	"os"
	"strconv"
)

// ticksPerSecond is USER_HZ, which the kernel fixes at 100 for everything that it shows in /proc.
const ticksPerSecond = 100

func readCounters() counters {
	c := counters{steal: math.NaN(), busy: math.NaN(), total: math.NaN()}
	if raw, err := os.ReadFile("/proc/stat"); err == nil {
		c.steal, c.busy, c.total = parseStat(raw)
	}
	c.own, c.switches = ownUsage()
	return c
}

// parseStat reads the first line of /proc/stat (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal in
// ticks, summed over all cores, then guest times that user and nice already hold. Unknown forms give NaN.
func parseStat(raw []byte) (steal, busy, total float64) {
	line, _, _ := bytes.Cut(raw, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) < 9 || string(fields[0]) != "cpu" {
		return math.NaN(), math.NaN(), math.NaN()
	}
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil {
			return math.NaN(), math.NaN(), math.NaN()
		}
		seconds := float64(ticks) / ticksPerSecond
		total += seconds
		switch i {
		case 3, 4: // idle, iowait
		case 7:
			steal = seconds
		default:
			busy += seconds
		}
	}
	return steal, busy, total
}

// ClockRatio is the clock speed of the first core now over the highest that it can have, or NaN where the kernel does
// not tell, as in most virtual machines.
func ClockRatio() float64 {
	now := parseKilohertz(firstLine(cpufreq + "scaling_cur_freq"))
	highest := parseKilohertz(firstLine(cpufreq + "cpuinfo_max_freq"))
	return now / highest
}

func parseKilohertz(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f <= 0 {
		return math.NaN()
	}
	return f
}
