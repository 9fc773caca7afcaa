package doctor

import (
	"fmt"
	"strings"
)

// quietRules are about who else uses this machine.
func quietRules() []rule {
	return []rule{
		{"measuring", func(r *Report) *judgement {
			if r.NotMeasured != "" {
				return bad("nothing was timed: "+r.NotMeasured, "run this again when no sweep measures, or with --wait")
			}
			return ok("no sweep is measuring on this machine")
		}},
		{"noise_floor", measured(func(r *Report, m *Measured) *judgement {
			remedy := "see to the other points of this list, and use more pairs or longer blocks"
			// Five times as much is let pass in p99, which is noisier everywhere.
			return graded(max(m.Floor.P50, m.Floor.P99/5), 0.05, 0.2, r.floorSentence(), remedy)
		})},
		{"steal", measured(func(r *Report, m *Measured) *judgement {
			if m.Busy.StealFraction == nil {
				return unknown("this system does not tell whether other virtual machines take its cores")
			}
			s := *m.Busy.StealFraction
			return graded(s, 0.01, 0.05, fmt.Sprintf("other virtual machines took %s of the CPU time while all cores were busy", percent(s)),
				"measure on a dedicated machine, or on an instance type whose cores are not shared")
		})},
		{"other_processes", measured(otherProcesses)},
		{"stalls", measured(func(r *Report, m *Measured) *judgement {
			text := fmt.Sprintf("a busy thread was not running for %s of the time, in %d gaps; the longest gap was %s",
				percent(m.Stalls.Share), m.Stalls.Count, seconds(m.Stalls.LongestSeconds))
			remedy := "something takes the cores: see steal and other processes; if both are low, the hypervisor does not report what it takes"
			if m.Stalls.LongestSeconds > 0.01 {
				return graded(m.Stalls.Share, 0, 0.1, text, remedy)
			}
			return graded(m.Stalls.Share, 0.01, 0.1, text, remedy)
		})},
		{"virtual_machine", func(r *Report) *judgement {
			if !r.Machine.Virtual {
				return ok("the processor does not say that a hypervisor runs it")
			}
			return warn("this is a virtual machine: its neighbours share caches, memory and clock speed, which cannot be seen from inside",
				"compare only within one run here (as frontier sweep does); for figures to publish use a whole machine")
		}},
		{"cpu_quota", func(r *Report) *judgement {
			limit := r.Machine.CPULimit
			if limit == 0 {
				return ok("no control group limits the CPU time")
			}
			text := fmt.Sprintf("a control group allows %.3g cores' worth of CPU time of %d cores", limit, r.Machine.Cores)
			if limit >= float64(r.Machine.Cores) {
				return ok(text)
			}
			return warn(text+"; who uses it up stands still for the rest of each period, which shows in p99",
				"give whole cores in place of a quota: a cpuset (docker run --cpuset-cpus), or the static CPU manager of Kubernetes")
		}},
	}
}

// measured is a rule that needs what was timed.
func measured(judge func(*Report, *Measured) *judgement) func(*Report) *judgement {
	return func(r *Report) *judgement {
		if r.Measured == nil {
			return nil
		}
		return judge(r, r.Measured)
	}
}

func otherProcesses(r *Report, m *Measured) *judgement {
	if m.Idle.OtherFraction == nil {
		if r.Settings.Load == nil {
			return unknown("this system does not tell how busy other processes are")
		}
		load := *r.Settings.Load / float64(max(1, r.Machine.Cores))
		return graded(load, 0.25, 1, fmt.Sprintf("%.2g threads a core ran or waited to in the last minute", load), "stop other programs before measuring")
	}
	var names []string
	for _, p := range m.Busiest {
		names = append(names, fmt.Sprintf("%s (%d) %s", p.Name, p.PID, percent(p.Cores)))
	}
	text := fmt.Sprintf("other processes took %s of the CPU time while frontier slept", percent(*m.Idle.OtherFraction))
	if len(names) > 0 {
		text += "; in percent of one core: " + strings.Join(names, ", ")
	}
	return graded(*m.Idle.OtherFraction, 0.05, 0.25, text, "stop them before measuring")
}

// floorSentence says what the noise floor means.
func (r *Report) floorSentence() string {
	f := r.Measured.Floor
	return fmt.Sprintf("with %d pairs of blocks of %s, differences under %s of p50 and %s of p99 cannot be seen here at a confidence of %g",
		f.Pairs, seconds(f.BlockSeconds), percent(f.P50), percent(f.P99), f.Confidence)
}
