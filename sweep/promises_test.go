package sweep

import (
	"strings"
	"testing"

	"frontier/results"
)

func TestBrokenPromisesOnTheFrontierAreTold(t *testing.T) {
	kept := []results.Row{{"on_frontier": true, "slo_met": true}, {"on_frontier": false, "slo_met": false}, {"on_frontier": true}}
	if w := brokenPromises(kept); len(w) != 0 {
		t.Errorf("%q", w)
	}
	w := brokenPromises(append(kept, results.Row{"on_frontier": true, "slo_met": false}))
	if len(w) != 1 || !strings.Contains(w[0], ": 1;") {
		t.Errorf("%q", w)
	}
}
