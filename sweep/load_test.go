package sweep

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestOpenLoop(t *testing.T) {
	p := newPlace(t, strings.Replace(vectorSweep, "load: [{closed: [1, 2]}]", "load: [{open: {rate: 5000, clients: 2}}, {open: {rate: 5000, arrivals: constant}}]", 1))
	p.run()
	rows := p.rows()
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		if row["load_mode"] != "open" || row["target_qps"] != 5000.0 || row["concurrency"] != nil || row["dropped"] == nil || row["late"] == nil {
			t.Errorf("%v", row)
		}
		if row["latency_p99_seconds"].(float64) < row["service_p99_seconds"].(float64) {
			t.Errorf("waiting takes no time: p99 %v from the arrival, %v from the sending", row["latency_p99_seconds"], row["service_p99_seconds"])
		}
		if row["ann_recall_at_10"] != 1.0 {
			t.Errorf("exact search under load has recall %v", row["ann_recall_at_10"])
		}
	}
	if a, b := rows[0]["arrivals"], rows[1]["arrivals"]; a != "poisson" || b != "constant" {
		t.Errorf("arrivals %v and %v", a, b)
	}
}

// A nanosecond is a promise that no rate keeps, and a recall over 1 a condition that no point meets.
func TestSLO(t *testing.T) {
	p := newPlace(t, strings.Replace(vectorSweep, "load: [{closed: [1, 2]}]", `max_time: 300ms, load: [{slo: {p99: 1ns}}, {slo: {p99: 10s, where: "ann_recall_at_10 >= 0.5"}}, {slo: {p99: 10s, where: "ann_recall_at_10 > 1"}}]`, 1))
	p.run()
	rows := p.rows()
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if row["load_mode"] != "slo" || !strings.HasPrefix(row["slo"].(string), "p99 <= ") || row["slo_met"] == nil {
			t.Errorf("%v", row)
		}
		if met := row["slo_met"].(bool); met && (i != 1 || row["target_qps"] == nil) || i == 0 && row["target_qps"] != nil {
			t.Errorf("row %d: met %v at %v", i, met, row["target_qps"])
		}
		if row["slo_met"] == false && row["warnings"] == nil {
			t.Errorf("row %d does not say why its promise was not kept", i)
		}
	}
	_, err := newPlace(t, strings.Replace(vectorSweep, "load: [{closed: [1, 2]}]", `load: [{slo: {p99: 1s, where: "ann_recal_at_10 > 0"}}]`, 1)).try()
	if err == nil || !strings.Contains(err.Error(), "sweep.yaml:") || !strings.Contains(err.Error(), "ann_recall_at_10") {
		t.Errorf("an unknown column in where: %v", err)
	}
}

func TestQueriesThatTakeTooLong(t *testing.T) {
	p := newPlace(t, vectorSweep+"limits: {query_time: 1ns}\n")
	p.run()
	for _, row := range p.rows() {
		if row["queries_timed_out"] != int64(40) || row["queries_failed"] != int64(40) || row["ann_recall_at_10"] != 0.0 || row["latency_p50_seconds"].(float64) <= 0 || row["qps"] != 0.0 || !strings.Contains(fmt.Sprint(row["warnings"]), "the first of them with: it took longer than the timeout") {
			t.Errorf("%v", row)
		}
	}
}

// A promise is not kept by failing at once.
func TestSLOOfFailures(t *testing.T) {
	p := newPlace(t, strings.Replace(vectorSweep, "load: [{closed: [1, 2]}]", "max_time: 300ms, load: [{slo: {p99: 10s}}]", 1)+"limits: {query_time: 1ns}\n")
	p.run()
	for _, row := range p.rows() {
		if row["slo_met"] != false || row["target_qps"] != nil {
			t.Errorf("met %v at %v, where every query failed", row["slo_met"], row["target_qps"])
		}
	}
}

func TestConvergence(t *testing.T) {
	p := newPlace(t, strings.Replace(vectorSweep, "rounds: 2", "rounds: 3, until: {p50: 99%}", 1))
	p.run()
	for _, row := range p.rows() {
		if row["converged"] != true {
			t.Errorf("an interval of 99%% was not reached: %v", row["latency_p50_low_seconds"])
		}
	}
	p = newPlace(t, strings.Replace(vectorSweep, "rounds: 2", "rounds: 3, until: {p50: 0.0001%}, max_time: 20ms", 1))
	p.run()
	for _, row := range p.rows() {
		if row["converged"] != false {
			t.Errorf("an interval of a millionth was reached: %v to %v", row["latency_p50_low_seconds"], row["latency_p50_high_seconds"])
		}
	}
}

func TestGraphIsChecked(t *testing.T) {
	if engineAbsent("hnswlib") {
		t.Skip("this binary has no hnswlib")
	}
	p := newPlace(t, strings.Replace(vectorSweep, "{engine: flat}", "{engine: flat}\n  - {engine: hnswlib, M: [2, 16], ef_construction: [4, 100], search: {ef_search: 10}}", 1))
	p.run()
	check := map[string]float64{}
	for _, row := range p.rows() {
		v, ok := row["build_check_recall"].(float64)
		if ok == (row["engine"] == "flat") || v < 0 || v > 1 {
			t.Errorf("%v has the check %v", row["engine"], row["build_check_recall"])
		}
		check[fmt.Sprint(row["m"], row["ef_construction"])] = v
	}
	if check["2 4"] >= check["16 100"] || check["16 100"] < 0.9 {
		t.Errorf("recall of the M nearest: %v", check)
	}
}

// Cells that load quickly are visited in rounds, each in a process of its own, and their rows are the same as otherwise.
func TestRoundsAcrossCells(t *testing.T) {
	p := newPlace(t, strings.Replace(strings.Replace(vectorSweep, "{engine: flat}", "{engine: flat}\n  - {engine: coder}", 1), "min_time: 5ms", "min_time: 1s", 1))
	p.yaml = strings.Replace(p.yaml, "load: [{closed: [1, 2]}]", "noisy: keep", 1)
	witness := p.dir + "/witness"
	t.Setenv(witnessEnv, witness)
	p.run()
	for _, row := range p.rows() {
		if row["repetitions"] != int64(2) || row["status"] != statusOK {
			t.Errorf("%v", row)
		}
	}
	loads := 0
	for _, d := range readWitness(t, witness) {
		if d.what == "load" {
			loads++
		}
	}
	if loads < 2 || loads > 4 { // twice each, unless this machine takes a tenth of a second for loading
		t.Errorf("%d loads", loads)
	}
	if left, err := os.ReadDir(p.out); err != nil || hasAnswers(left) {
		t.Errorf("answers are left: %v %v", left, err)
	}
}

func hasAnswers(entries []os.DirEntry) bool {
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), answersDir) {
			return true
		}
	}
	return false
}
