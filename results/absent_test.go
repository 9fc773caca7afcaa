package results

import (
	"slices"
	"strings"
	"testing"
)

func TestAbsent(t *testing.T) {
	judged := Row{"status": "ok", "queries_answerable": int64(3), "recall_at_1": 0.5, "recall_at_10": 0.7, "qps": 5.0}
	unanswerable := Row{"status": "ok", "queries_answerable": int64(0), "ann_recall_at_10": 1.0}
	vectors := Row{"status": "ok", "ann_recall_at_10": 1.0}
	crashed := Row{"status": "crashed", "error": "boom"}
	for _, tt := range []struct {
		rows   []Row
		column string
		want   string // "" if the column is there
	}{
		{[]Row{judged, unanswerable}, "recall_at_10", ""},
		{[]Row{judged, crashed}, "qps", ""},
		{nil, "qps", ""},
		{[]Row{judged}, "recall_at_7", "no row has a value for recall_at_7: k = 7 was not measured, but k = 1, 10;"},
		{[]Row{unanswerable, crashed}, "recall_at_10", "no question is answerable"},
		{[]Row{unanswerable}, "ndcg_at_3", "no question is answerable"},
		{[]Row{vectors}, "mrr", "there are no judgements"},
		{[]Row{judged}, "ann_recall_at_10", "no exact search"},
		{[]Row{judged}, "cost_usd_per_month", "asks for no costs"},
		{[]Row{judged}, "latency_p999_seconds", "too few samples"},
		{[]Row{crashed, crashed}, "recall_at_10", "no point was measured"},
		{[]Row{judged}, "index_bytes", "no row has a value for index_bytes"},
	} {
		got := Absent(tt.rows, []string{tt.column})
		if (len(got) == 0) != (tt.want == "") || (tt.want != "" && !strings.Contains(got[0], tt.want)) {
			t.Errorf("%s: %q, want %q", tt.column, got, tt.want)
		}
	}
	if got := Cutoffs([]Row{judged, {"ndcg_at_3_low": 0.1, "mrr": 1.0}}); !slices.Equal(got, []int{1, 3, 10}) {
		t.Errorf("cut-offs %v", got)
	}
}

func TestColumnsOf(t *testing.T) {
	got, err := ColumnsOf(`let x = qps; x > 1 and engine == "flat" and recall_at_7 > 0.5 and qps < 9`)
	if err != nil || !slices.Equal(got, []string{"qps", "engine", "recall_at_7"}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range []string{`qqps > 1`, `qps >`} {
		if _, err := ColumnsOf(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}
