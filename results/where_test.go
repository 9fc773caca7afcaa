package results

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWhere(t *testing.T) {
	row := Row{
		"point_id": "p1", "status": "ok", "engine": "hnswlib", "m": int64(16), "recall_at_10": 0.8, "qps": 120.5,
		"converged": true, "warnings": []string{"the machine was noisy"}, "stage_p99_seconds": map[string]float64{"search": 0.002},
	}
	empty := Row{"point_id": "p2"}
	tests := []struct {
		expression    string
		onRow, onNull bool
	}{
		{`recall_at_10 >= 0.8`, true, false},
		{`recall_at_10 > 0.8`, false, false},
		{`recall_at_10 < 0.9 and engine == "hnswlib"`, true, false},
		{`recall_at_10 * 100 - 5 > 70`, true, false},
		{`-recall_at_10 < 0`, true, false},
		{`engine != "flat"`, true, false},
		{`engine in ["flat", "hnswlib"]`, true, false},
		{`engine not in ["flat"]`, true, true}, // not of a comparison that is false
		{`engine matches "^hnsw"`, true, false},
		{`engine startsWith "hnsw" || m > 100`, true, false},
		{`m == 16`, true, false},
		{`m == 16.0`, true, false},
		{`m != 8`, true, false},
		{`m == nil`, false, true},
		{`nil != m`, true, false},
		{`converged`, true, false},
		{`not converged`, false, true},
		{`converged and m > 4`, true, false},
		{`not (m > 100)`, true, true},
		{`m > 1 ? qps > 100 : engine == "flat"`, true, false},
		{`stage_p99_seconds.search < 0.01`, true, false},
		{`stage_p99_seconds["fusion"] < 0.01`, false, false},
		{`stage_p99_seconds["fusion"] == nil`, true, true},
		{`any(warnings, # contains "noisy")`, true, false},
		{`len(warnings) > 0`, true, false},
		{`abs(recall_at_10 - 0.8) < 0.001`, true, false},
		{`abs(qps) > 1 or m == nil`, true, true},
		{`let r = recall_at_10; r > 0.5`, true, false},
		{`recall_at_5 > 0`, false, false},
		{`(m > 1) == (qps > 1)`, true, false},
	}
	for _, tt := range tests {
		where, err := Where(tt.expression)
		if err != nil {
			t.Errorf("%s: %v", tt.expression, err)
			continue
		}
		if got, err := where(row); err != nil || got != tt.onRow {
			t.Errorf("%s on the full row: %v, %v; want %v", tt.expression, got, err, tt.onRow)
		}
		if got, err := where(empty); err != nil || got != tt.onNull {
			t.Errorf("%s on nulls: %v, %v; want %v", tt.expression, got, err, tt.onNull)
		}
	}
}

func TestWhereRefuses(t *testing.T) {
	tests := map[string]string{
		`recal_at_10 > 0.5`:                  `character 1: unknown column "recal_at_10" (did you mean "recall_at_10?`,
		`qps > 1 and enginee == "flat"`:      `character 13: unknown column "enginee" (did you mean "engine"?)`,
		`recall_at_K > 0.5`:                  `did you mean "recall_at_10"?`,
		`engine > 3`:                         `mismatched types`,
		`qps +`:                              `unexpected token`,
		`qps`:                                `expected bool`,
		`engine = "flat"`:                    `expression`,
		``:                                   `expression`,
		`latency("p99") > 1`:                 `unknown column "latency"`,
		strings.Repeat("1+", 9000) + "1 > 0": `at most`,
	}
	for expression, want := range tests {
		want = strings.Replace(want, `10?`, `10"?)`, 1)
		_, err := Where(expression)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: error %v, want one with %q", expression, err, want)
		}
	}
}

func TestBestUnder(t *testing.T) {
	point := func(id string, recall, low, high, latency float64) Row {
		return Row{"point_id": id, "status": "ok", "recall_at_10": recall, "recall_at_10_low": low, "recall_at_10_high": high, "latency_p99_seconds": latency}
	}
	rows := []Row{
		point("slow", 0.95, 0.93, 0.97, 0.050),
		point("tie-slow", 0.85, 0.80, 0.90, 0.004),
		point("tie-fast", 0.85, 0.80, 0.90, 0.003),
		point("near", 0.82, 0.78, 0.86, 0.001),
		point("far", 0.60, 0.55, 0.65, 0.001),
		{"point_id": "failed", "status": "crashed", "recall_at_10": 0.99, "latency_p99_seconds": 0.001},
		{"point_id": "null", "status": "ok", "latency_p99_seconds": 0.001},
	}
	objs := []Objective{{"recall_at_10", Higher}, {"latency_p99_seconds", Lower}}
	got, err := BestUnder(rows, objs, "latency_p99_seconds < 0.005")
	if err != nil || got.Index != 2 || !slices.Equal(got.Overlapping, []int{1, 3}) {
		t.Errorf("got %+v, %v; want row 2, told apart neither from 1 nor 3", got, err)
	}
	if _, err := BestUnder(rows, objs, "latency_p99_seconds < 0.0005"); !errors.Is(err, ErrNoChoice) {
		t.Errorf("an impossible limit: error %v, want ErrNoChoice", err)
	}
}
