package gate

import (
	"fmt"

	"frontier/results/compare"
)

// Record writes what the policy needs of a run to a baseline file. It refuses what a gate could not use: points that the
// policy's match does not tell apart, and a run in which nothing was measured. The warnings name what was left out.
func Record(path string, p *Policy, side *compare.Side) (warnings []string, err error) {
	var measured []compare.Point
	for _, point := range side.Points {
		if point.Row.Text("status") == "ok" {
			measured = append(measured, point)
		}
	}
	if left := len(side.Points) - len(measured); left > 0 {
		warnings = append(warnings, fmt.Sprintf("%d points failed and are left out; a gate against this baseline does not miss them", left))
	}
	if len(measured) == 0 {
		return nil, &Error{File: p.Path, Msg: fmt.Sprintf("there is nothing to record in %s: no point was measured", side.Name)}
	}
	side.Points = measured
	if _, err := compare.Match(side, side, p.Match); err != nil {
		return nil, &Error{File: p.Path, Msg: err.Error()}
	}
	for _, m := range p.Metrics() {
		some := false
		for i := range measured {
			_, ok := measured[i].Estimate(m)
			some = some || ok
		}
		if !some {
			warnings = append(warnings, fmt.Sprintf("%s has no value at any point", m.Name))
		}
	}
	return warnings, compare.Record(path, side, p.Metrics())
}
