package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"frontier/bench/load"
	"frontier/bench/stats"
	"frontier/results"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// visitColumns fills load, latency and noise from the visits to a point.
func (r *runner) visitColumns(row results.Row, run *cellRun, p *pointRun) error {
	used := run.visits.used(p)
	blocks, err := decodeVisits(used)
	if err != nil {
		return err
	}
	all, err := load.Merge(blocks...)
	if err != nil {
		return err
	}
	if err := latencyColumns(row, blocks, all); err != nil {
		return err
	}
	row["samples"], row["errors"], row["repetitions"] = all.Samples, all.Errors, int64(len(used))
	row["qps"] = all.QPS()
	if e := estimateOf("qps", blocks); e.interval {
		row["qps_low"], row["qps_high"] = min(e.low, all.QPS()), max(e.high, all.QPS()) // a rounding apart where arrivals are constant
	}
	row["harness_overhead_seconds"] = run.loaded.Overhead
	if all.Service != nil {
		row["dropped"], row["late"] = all.Dropped, all.Late
		if value, _, _, ok := stats.Percentile(all.Service, 0.99); ok {
			row["service_p99_seconds"] = value.Seconds()
		}
		// Waking up late adds to latency as well.
		row["harness_overhead_seconds"] = run.loaded.OverheadOpen + all.Overslept.Seconds()/float64(max(all.Samples, 1))
		p.keepsUp = keepsUp(all, len(blocks), all.Rate)
		openWarnings(row, all)
		if p.plan.load.Mode == file.Open && !p.keepsUp {
			addWarnings(row, "fewer answers a second than arrivals: the point does not keep up with the rate, and with more time its latency would be larger")
		}
	}
	if all.Errors > 0 {
		first := ""
		for _, v := range used {
			first = cmp.Or(first, v.Error)
		}
		addWarnings(row, fmt.Sprintf("%d of %d queries failed and are no answers of qps, the first of them with: %s", all.Errors, all.Samples, shorten(first, maxError)))
	}
	if len(r.file.Measure.Until) > 0 {
		met, err := run.visits.untilMet(used)
		if err != nil {
			return err
		}
		row["converged"] = met
	}
	noiseColumns(row, p.visits, used)
	return nil
}

func openWarnings(row results.Row, all *load.Block) {
	if all.Dropped > 0 {
		addWarnings(row, "some arrivals waited so long that they were never sent, and count with the longest latency: the rate is more than the point can serve")
	}
	if 100*all.Late > all.Samples && all.Dropped == 0 {
		addWarnings(row, "over 1% of the queries were sent over a millisecond after their arrival, for lack of a free client: latency is mostly waiting")
	}
}

// latencyColumns fills the percentiles of all visits together. A percentile without enough samples stays null.
func latencyColumns(row results.Row, blocks []*load.Block, all *load.Block) error {
	for stat := range quantiles {
		e := estimateOf(stat, blocks)
		if !e.enough {
			continue
		}
		column := "latency_" + stat
		row[column+"_seconds"] = e.value
		if _, has := results.Lookup(column + "_low_seconds"); has && e.interval {
			row[column+"_low_seconds"], row[column+"_high_seconds"] = e.low, e.high
		}
	}
	if all.Samples > 0 {
		row["latency_mean_seconds"] = all.Mean()
	}
	row["latency_max_seconds"] = all.Longest.Seconds()
	histogram, err := load.EncodeHistogram(all.Histogram)
	row["latency_histogram"] = histogram
	return err
}

// noiseColumns says how quiet the machine was during the visits that count, and how many do not for want of quiet.
func noiseColumns(row results.Row, visits, used []*cell.Visited) {
	row["visits_noisy"], row["visits_replaced"] = int64(countNoisy(used)), int64(len(visits)-len(used))
	var fastest, slowest, known time.Duration
	stolen := 0.0
	var clock *float64
	var warnings []string
	for _, v := range used {
		n := v.Noise
		for _, took := range []time.Duration{n.Calibration, n.After} {
			if took > 0 {
				slowest = max(slowest, took)
				if fastest == 0 || took < fastest {
					fastest = took
				}
			}
		}
		if n.Steal != nil {
			stolen += *n.Steal * v.Spent.Seconds()
			known += v.Spent
		}
		if n.Clock != nil && (clock == nil || *n.Clock < *clock) {
			clock = n.Clock
		}
		for _, w := range n.Warnings {
			if !slices.Contains(warnings, w) {
				warnings = append(warnings, w)
			}
		}
	}
	if fastest > 0 {
		row["noise"] = float64(slowest)/float64(fastest) - 1
	}
	if known > 0 {
		row["steal_fraction"] = stolen / known.Seconds()
	}
	if clock != nil {
		row["clock_ratio"] = *clock
	}
	addWarnings(row, warnings...)
}
