package ab

import (
	"bytes"
	"encoding/csv"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"frontier/bench/stats"
)

func sample() *Result {
	p := 0.0001
	return &Result{
		Version: Version, Started: time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC), Seconds: 12.34, Base: Side{File: "base.yaml"}, New: Side{File: "new.yaml"}, Machine: "m",
		Confidence: 0.99, Pairs: 12, Block: 0.2, Match: []string{"engine"}, Unmatched: []string{"BASE: engine=bleve"}, Warnings: []string{"a | b\nc"},
		Points: []Point{
			{Base: "b1", New: "n1", Key: map[string]any{"engine": "flat"}, Changed: map[string][2]any{"ef_search": {64.0, nil}}, Pairs: 12, Noisy: 1, Metrics: []Metric{
				{Name: "latency_p50_seconds", Base: 0.00004112, New: 0.00002534, Relative: true, Change: -0.384, Low: Finite(-0.39), High: Finite(-0.376), P: &p, Margin: 0.03, Decision: stats.Better},
				{Name: "index_bytes", Base: 1 << 20, New: 1 << 20, Relative: true, Margin: 0.03, Decision: stats.Same},
				{Name: "ann_recall_at_10", Base: 0.9921, New: 0.971, Change: -0.0211, Low: Finite(-0.03), High: Finite(0.001), P: Finite(0.2), Margin: 0.01, Decision: stats.Inconclusive},
			}},
			{Base: "b2", New: "n2", Key: map[string]any{}, Error: "boom\nat once"},
		},
	}
}

func TestJSONRoundTrip(t *testing.T) {
	want := sample()
	var b bytes.Buffer
	if err := want.Write(&b, "json"); err != nil {
		t.Fatal(err)
	}
	got, err := ReadJSON(&b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if n := got.Count(); n[stats.Better] != 1 || n[stats.Same] != 1 || n[stats.Inconclusive] != 1 || n[stats.Worse] != 0 || got.Failed() != 1 {
		t.Errorf("counted %v, %d failed", n, got.Failed())
	}
}

func TestReadJSONRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 1`:     "read a result of ab",
		`{"version": 1} {}`: "something follows it",
		`{"version": 2}`:    "it has version 2, and this is version 1; run ab again",
		`{}`:                "it has version 0",
		`{"version": 1, "points": [{"metrics": [{"metric": "qps", "decision": "great"}]}]}`: `point 0: qps has the decision "great"`,
	} {
		if _, err := ReadJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

func TestWrite(t *testing.T) {
	write := func(format string) string {
		t.Helper()
		var b strings.Builder
		if err := sample().Write(&b, format); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	table := write("table")
	for _, want := range []string{
		"engine=flat, ef_search 64 -> none  latency_p50_seconds  41.12µs    25.34µs    -38.4%   -39.0% to -37.6%    <0.001  better",
		"index_bytes          1048576 B  1048576 B  +0.0%    exact                       same",
		"ann_recall_at_10     0.9921     0.9710     -0.0211  -0.0300 to +0.0010  0.200   inconclusive",
		"failed: boom at once", "1 better, 1 same, 0 worse, 1 inconclusive, from 12 pairs of blocks of about 200ms a point", "measured in 12.3s", "Inconclusive: neither",
		"disturbed while 1 of 2 points", "Without a partner: BASE: engine=bleve", "Warning: a | b c",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if text := write("markdown"); !strings.Contains(text, `Warning: a \| b c`) || strings.Count(text, "\n| ") != 5-1 {
		t.Errorf("markdown:\n%s", text)
	}
	lines, err := csv.NewReader(strings.NewReader(write("csv"))).ReadAll()
	if err != nil || len(lines) != 1+4 || lines[1][4] != "4.112e-05" || lines[2][8] != "" || lines[4][13] != "boom\nat once" {
		t.Errorf("csv: %v, %q", err, lines)
	}
	if err := sample().Write(&strings.Builder{}, "xml"); err == nil {
		t.Error("an unknown format is written")
	}
}

func TestFinite(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if Finite(v) != nil {
			t.Errorf("%v is finite", v)
		}
	}
	if v := Finite(0); v == nil || *v != 0 {
		t.Error("0 is not finite")
	}
}
