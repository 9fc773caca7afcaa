package results

import (
	"math"
	"strings"
	"testing"
)

func TestParseLevels(t *testing.T) {
	l, err := ParseLevels("ann_recall_at_10 = 0.99, 0.9,0.9")
	if err != nil || l.Column != "ann_recall_at_10" || len(l.Values) != 2 || l.Values[0] != 0.9 || l.Values[1] != 0.99 {
		t.Errorf("%+v, %v", l, err)
	}
	for text, want := range map[string]string{
		"ann_recall_at_10":       "write the column and its levels",
		"ann_recal_at_10=0.9":    `did you mean "ann_recall_at_10"`,
		"ann_recall_at_10=95":    "between 0 and 1",
		"ann_recall_at_10=0":     "between 0 and 1",
		"ann_recall_at_10=0.9,x": `"x" is no number`,
		"ann_recall_at_10=":      `"" is no number`,
		"ann_recall_at_10=NaN":   "is no number",
		"latency_p50_seconds=1":  "more is not better",
		"engine=1":               "more is not better",
	} {
		if _, err := ParseLevels(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// levelRows are two indexes: one measured on both sides of 0.9, the other only below 0.95.
func levelRows() []Row {
	row := func(id, cell string, ef int64, recall, latency, qps float64) Row {
		return Row{
			"point_id": id, "cell_id": cell, "engine": cell, "status": "ok", "ef_search": ef, "ann_recall_at_10": recall,
			"latency_p50_seconds": latency, "qps": qps,
		}
	}
	return []Row{
		row("a16", "a", 16, 0.80, 0.001, 1000),
		row("a32", "a", 32, 0.90, 0.002, 500),
		row("a64", "a", 64, 0.98, 0.008, 125),
		row("a48", "a", 48, 0.97, 0.009, 100), // slower than a64 and worse: noise
		row("b1", "b", 1, 0.50, 0.0001, 9000),
		row("b2", "b", 2, 0.94, 0.0004, 2500),
		{"point_id": "bx", "cell_id": "b", "status": "failed", "ann_recall_at_10": 1.0, "latency_p50_seconds": 0.1},
		{"point_id": "b0", "cell_id": "b", "status": "ok", "latency_p50_seconds": 0.1},
	}
}

func TestAtLevels(t *testing.T) {
	latency := Objective{"latency_p50_seconds", Lower}
	reaches, err := AtLevels(levelRows(), Levels{"ann_recall_at_10", []float64{0.5, 0.9, 0.94, 0.99}}, latency)
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		point, below, highest int
		latency, qps          float64 // 0 for none
	}
	for i, w := range []want{
		{0, -1, 2, 0, 0},          // even the cheapest is above 0.5: nothing below to interpolate from
		{1, 0, 2, 0.002, 500},     // exactly there
		{2, 1, 2, 0.004, 250},     // half way from 0.90 to 0.98: half way on the log scale
		{-1, -1, 2, 0, 0},         // not reached
		{4, -1, 5, 0.0001, 9000},  // exactly there, without a neighbour
		{5, 4, 5, 0, 0},           // checked below
		{5, 4, 5, 0.0004, 2500.0}, // exactly there
		{-1, -1, 5, 0, 0},         // the failed row does not count
	} {
		r := reaches[i]
		if r.Point != w.point || r.Below != w.below || r.Highest != w.highest {
			t.Errorf("reach %d: %+v, want %+v", i, r, w)
		}
		if i == 5 {
			w.latency, w.qps = 0.0001*math.Pow(4, 40.0/44), 9000*math.Pow(2500.0/9000, 40.0/44)
		}
		for column, value := range map[string]float64{"latency_p50_seconds": w.latency, "qps": w.qps} {
			got, has := r.Interpolated[column]
			if has != (value != 0) || math.Abs(got-value) > 1e-9*value {
				t.Errorf("reach %d: %s interpolated to %v, want %v", i, column, got, value)
			}
		}
	}
	if len(reaches) != 8 {
		t.Errorf("%d reaches, want 4 levels of 2 indexes", len(reaches))
	}
}

// The same index in another run, under another load or on another machine is another curve.
func TestAtLevelsKeepsCurvesApart(t *testing.T) {
	for column, value := range map[string]any{"run_id": "other", "concurrency": int64(8), "machine_digest": "other", "cell_id": "c"} {
		rows := levelRows()[:2]
		rows[1][column] = value
		reaches, err := AtLevels(rows, Levels{"ann_recall_at_10", []float64{0.85}}, Objective{"latency_p50_seconds", Lower})
		if err != nil || len(reaches) != 2 || reaches[0].Point != -1 || reaches[1].Point != 1 || reaches[1].Below != -1 {
			t.Errorf("another %s: %+v, %v", column, reaches, err)
		}
	}
	// The rate that was found for an slo is what was measured, and sets no curves apart.
	slo := levelRows()[:2]
	for i, r := range slo {
		r["load_mode"], r["slo"], r["target_qps"] = "slo", "p99 <= 20ms", float64(900-100*i)
	}
	one, err := AtLevels(slo, Levels{"ann_recall_at_10", []float64{0.85}}, Objective{"latency_p50_seconds", Lower})
	if err != nil || len(one) != 1 || one[0].Point != 1 || one[0].Below != 0 {
		t.Errorf("under an slo: %+v, %v", one, err)
	}
	unreached, err := Group{Rows: slo}.Reaches(Levels{"ann_recall_at_10", []float64{0.95}}, Objective{"latency_p50_seconds", Lower})
	if err != nil || len(unreached) != 1 || unreached[0]["target_qps"] != nil || unreached[0]["slo"] != "p99 <= 20ms" {
		t.Errorf("a level that is not reached under an slo: %+v, %v", unreached, err)
	}
	rows := levelRows()[:2] // without cells, what describes the index tells
	delete(rows[0], "cell_id")
	delete(rows[1], "cell_id")
	one, err = AtLevels(rows, Levels{"ann_recall_at_10", []float64{0.85}}, Objective{"latency_p50_seconds", Lower})
	if err != nil || len(one) != 1 || one[0].Below != 0 {
		t.Errorf("rows without cells: %+v, %v", one, err)
	}
	rows[1]["m"] = int64(32)
	two, err := AtLevels(rows, Levels{"ann_recall_at_10", []float64{0.85}}, Objective{"latency_p50_seconds", Lower})
	if err != nil || len(two) != 2 {
		t.Errorf("rows without cells and of other M: %+v, %v", two, err)
	}
}
