package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// clockRules are about the clock speed of the cores, and about the clock that times are read from.
func clockRules() []rule {
	return []rule{
		{"governor", func(r *Report) *judgement {
			g := r.Settings.Governors
			switch {
			case len(g) == 0:
				return unknown("this system does not tell how it chooses clock speeds")
			case slices.Equal(g, []string{"performance"}):
				return ok("the governor is performance on all cores")
			}
			return warn("clock speeds are chosen by the governor "+strings.Join(g, " and ")+", which lowers them while little is to be done",
				"sudo cpupower frequency-set -g performance")
		}},
		{"turbo", func(r *Report) *judgement {
			switch t := r.Settings.Turbo; {
			case t == nil:
				return unknown("this system does not tell whether cores may run above their nominal clock speed")
			case *t:
				return warn("cores may run above their nominal clock speed, as long as few are busy and cool: one client looks faster than several",
					"to compare over days, switch it off: echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost, or echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo")
			}
			return ok("turbo is off")
		}},
		{"clock_speed", measured(func(_ *Report, m *Measured) *judgement {
			if m.Busy.ClockRatio == nil {
				return unknown("this system does not tell its clock speed; a chain of additions ran at " + rate(m.Frequency, "Hz"))
			}
			text := fmt.Sprintf("while all cores were busy the clock was at %s of its highest", percent(*m.Busy.ClockRatio))
			if *m.Busy.ClockRatio < 0.9 {
				return warn(text, "set the governor to performance, and see to cooling and to power limits")
			}
			return ok(text)
		})},
		{"smt", func(r *Report) *judgement {
			t := r.Settings.ThreadsPerCore
			switch {
			case t == nil:
				return unknown("this system does not tell whether logical cores share physical ones")
			case *t > 1:
				return warn(fmt.Sprintf("%d logical cores share each physical one, so a second client slows the first down", *t),
					"use at most as many clients as physical cores, or switch it off: echo off | sudo tee /sys/devices/system/cpu/smt/control")
			}
			return ok("as far as is told, no two logical cores share a physical one")
		}},
		{"timer", measured(func(r *Report, m *Measured) *judgement {
			text := fmt.Sprintf("reading the time takes %s, from the source %s", seconds(m.Timer.ReadSeconds), wordOr(r.Settings.ClockSource))
			return graded(m.Timer.ReadSeconds, 150e-9, 1e-6, text, "queries are timed with two readings each: boot with clocksource=tsc tsc=reliable, or use a machine whose hypervisor offers it")
		})},
		{"sleep", measured(func(_ *Report, m *Measured) *judgement {
			text := fmt.Sprintf("a sleep of %s ends %s late (median), %s at worst", seconds(m.Sleep.AskedSeconds), seconds(m.Sleep.MedianSeconds), seconds(m.Sleep.WorstSeconds))
			return graded(m.Sleep.MedianSeconds, 1e-3, 10e-3, text, "an open loop would send that late: stop other processes, or measure on a whole machine")
		})},
	}
}
