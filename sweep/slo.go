package sweep

import (
	"fmt"

	"frontier/results"
	"frontier/sweep/file"
)

// checkLoads refuses what a load asks of columns that there are not.
func checkLoads(f *file.File) error {
	for i, l := range f.Measure.Load {
		if l.Where == "" {
			continue
		}
		if _, err := results.Where(l.Where); err != nil {
			return fault(f, l.WherePos, fmt.Sprintf("measure.load[%d].slo.where", i), err.Error(), "for example ann_recall_at_10 >= 0.95; `frontier schema results` lists the columns")
		}
	}
	return nil
}

// sloColumns says whether a point keeps its promise at the rate that was found for it.
func sloColumns(row results.Row, p *pointRun) error {
	l := p.plan.load
	if l.Mode != file.SLO {
		return nil
	}
	if p.rate.found > 0 {
		row["target_qps"] = p.rate.found
	}
	p99, known := row["latency_p99_seconds"].(float64)
	dropped, _ := row["dropped"].(int64)
	failed, _ := row["errors"].(int64)
	met := p.rate.found > 0 && known && p99 <= l.P99.Seconds() && dropped == 0 && failed == 0 && p.keepsUp
	switch {
	case p.rate.found == 0 && p.rate.ended:
		addWarnings(row, "time was up before a rate was found that keeps the slo; what is shown is a low one that does not, or was not decided on: raise max_time")
	case p.rate.found == 0:
		addWarnings(row, "no rate was low enough for the latency that slo asks for; what is shown is a low one that does not keep it")
	case failed > 0:
		addWarnings(row, "queries failed, so the slo is not kept at any rate")
	case !known:
		addWarnings(row, "too few samples for a p99 at the rate that was found: raise min_time or rounds")
	case !met:
		addWarnings(row, "the rate that kept the slo while it was searched for did not keep it when it was measured: the two are closer than the machine is steady")
	case p.rate.ended:
		addWarnings(row, "the search for the highest rate ended with its time and not with its precision: raise max_time")
	}
	if met && l.Where != "" {
		where, err := results.Where(l.Where)
		if err != nil {
			return err
		}
		holds, err := where(row)
		if err != nil {
			return err
		}
		if !holds {
			addWarnings(row, "does not reach "+l.Where+" at any rate")
		}
		met = holds
	}
	row["slo_met"] = met
	return nil
}

// brokenPromises warns of points on the frontier that do not keep their slo. They stand there for what was measured of them.
func brokenPromises(rows []results.Row) []string {
	n := 0
	for _, row := range rows {
		if on, _ := row["on_frontier"].(bool); on && row["slo_met"] == false {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("points on the frontier that do not keep their slo (slo_met is false): %d; leave such points out with: frontier pareto --where 'slo_met != false'", n)}
}
