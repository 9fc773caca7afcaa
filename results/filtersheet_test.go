package results

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestFilterSheet(t *testing.T) {
	point := func(id string, set Row) Row {
		return with(Row{"point_id": id, "status": "ok", "engine": "flat", "recall_at_10": 0.5, "latency_p99_seconds": 0.001, "filter_eligible_queries": int64(40), "filter_leaks": int64(0)}, set)
	}
	locale := func(id, mode string, set Row) Row {
		return point(id, with(Row{"filter": "locale", "filter_mode": mode, "filter_selectivity": 0.25, "filter_false_exclusion_rate": 0.05, "filter_predicate_precision": 0.1, "filter_predicate_recall": 0.9}, set))
	}
	rows := []Row{
		point("a", nil),
		locale("b", "pre", Row{"filter_gain_at_least": 0.02, "filter_decision": "hard"}),
		locale("c", "pre", Row{"filter_gain_at_least": -0.01, "filter_decision": "soft"}),
		locale("d", "boost", Row{"filter_boost": 0.2}),
		point("e", Row{"status": "failed", "filter_leaks": int64(3)}),
		{"point_id": "f", "status": "ok", "engine": "flat"}, // of a run that filters nothing
	}
	s := filterSheet(rows)
	want := [][]string{
		{"none", "what callers may see", "2", "40", "-", "-", "-", "-", "-", "-", "3"},
		{"locale", "pre", "2", "40", "0.250", "0.050", "0.100", "0.900", "-0.010", "hard at 1 of 2 points", "0"},
		{"locale", "boost by 0.2", "1", "40", "0.250", "0.050", "0.100", "0.900", "-", "-", "0"},
	}
	if s == nil || !slices.EqualFunc(s.Rows, want, slices.Equal[[]string]) || len(s.Head) != len(want[0]) || len(s.Right) != len(s.Head) || len(s.Wrap) != len(s.Head) {
		t.Errorf("%+v, want %v", s, want)
	}
	if s := filterSheet(rows[5:]); s != nil {
		t.Errorf("without filters: %+v", s)
	}
	var b bytes.Buffer
	if err := reportOf(&b, rows, nil, objectives(t, "recall_at_10", "latency_p99_seconds")); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "<h3>Filters</h3>") || !strings.Contains(b.String(), "<td>hard at 1 of 2 points</td>") {
		t.Error("the report lacks the filters")
	}
}
