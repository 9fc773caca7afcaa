package results

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func paretoObjectives() []Objective {
	return []Objective{{"recall_at_10", Higher}, {"latency_p99_seconds", Lower}, {"index_bytes", Lower}, {"qps", Higher}}
}

func TestFrontier(t *testing.T) {
	row := func(id string, recall, latency float64) Row {
		return Row{"point_id": id, "status": "ok", "recall_at_10": recall, "latency_p99_seconds": latency}
	}
	rows := []Row{
		row("fast", 0.5, 1), row("twin", 0.5, 1), row("slower", 0.5, 2), row("good", 0.9, 3), row("worse", 0.8, 3),
		{"point_id": "null", "status": "ok", "recall_at_10": 1.0},
		{"point_id": "crashed", "status": "crashed", "recall_at_10": 1.0, "latency_p99_seconds": 0.1},
		row("bad", 0.4, 9),
	}
	on, by, err := Frontier(rows, paretoObjectives()[:2])
	if err != nil {
		t.Fatal(err)
	}
	if want := []bool{true, true, false, true, false, false, false, false}; !slices.Equal(on, want) {
		t.Errorf("on the frontier: %v, want %v", on, want)
	}
	for i, want := range []string{"", "", "fast", "", "good", "", "", "fast good"} {
		if (by[i] == "") != (want == "") || !strings.Contains(want, by[i]) {
			t.Errorf("row %d is dominated by %q, want %q", i, by[i], want)
		}
	}
}

func TestFrontierRefuses(t *testing.T) {
	objs := paretoObjectives()
	rows := []Row{{"status": "ok", "recall_at_10": 1.0}}
	if _, _, err := Frontier(rows, objs[:1]); err == nil || !strings.Contains(err.Error(), "row 0 has no point_id") {
		t.Errorf("a row without an id: %v", err)
	}
	for want, objs := range map[string][]Objective{
		"no objectives": nil,
		"given twice":   {objs[0], objs[0]},
		"holds string":  {{"engine", Higher}},
		"did you mean":  {{"recal_at_10", Higher}},
		"max or min":    {{"recall_at_10", None}},
	} {
		if _, _, err := Frontier(nil, objs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", objs, err, want)
		}
	}
}

func TestParseObjective(t *testing.T) {
	for text, want := range map[string]Objective{
		"recall_at_10:max":      {"recall_at_10", Higher},
		"recall_at_10":          {"recall_at_10", Higher},
		" latency_p99_seconds ": {"latency_p99_seconds", Lower},
		"chunk_size:min":        {"chunk_size", Lower},
	} {
		if got, err := ParseObjective(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"recall_at_10:high": `the direction is max or min, not "high"`,
		"chunk_size":        `write chunk_size:max or chunk_size:min`,
		"":                  `unknown column ""`,
		"latency_p99:min":   `did you mean "latency_p9`,
		"recall_at_K:max":   `did you mean "recall_at_10"`,
		"qps:min":           `qps is better the other way; write qps:max`,
	} {
		if _, err := ParseObjective(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// naive is the definition: a row is off the frontier if any other is at least as good in all and better in one.
func naive(rows []Row, objs []Objective) []bool {
	on := make([]bool, len(rows))
	for i := range rows {
		on[i] = comparable(rows[i], objs)
		for j := range rows {
			if on[i] && comparable(rows[j], objs) && dominates(rows[j], rows[i], objs) {
				on[i] = false
			}
		}
	}
	return on
}

func comparable(r Row, objs []Objective) bool {
	for _, o := range objs {
		if _, ok := r.Number(o.Column); !ok {
			return false
		}
	}
	return r["status"] == "ok"
}

func dominates(a, b Row, objs []Objective) bool {
	better := false
	for _, o := range objs {
		x, _ := a.Number(o.Column)
		y, _ := b.Number(o.Column)
		if o.Direction == Lower {
			x, y = -x, -y
		}
		if x < y {
			return false
		}
		better = better || x > y
	}
	return better
}

func TestFrontierEqualsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objs := paretoObjectives()[:rapid.IntRange(1, 4).Draw(t, "objectives")]
		few := rapid.IntRange(0, 6) // few distinct values, so that ties are common
		rows := make([]Row, rapid.IntRange(0, 60).Draw(t, "rows"))
		byID := map[string]int{}
		for i := range rows {
			id := fmt.Sprint("p", i)
			byID[id] = i
			rows[i] = Row{
				"point_id": id, "status": rapid.SampledFrom([]string{"ok", "ok", "ok", "failed"}).Draw(t, "status"),
				"recall_at_10": float64(few.Draw(t, "recall")), "latency_p99_seconds": float64(few.Draw(t, "latency")),
				"index_bytes": int64(few.Draw(t, "bytes")), "qps": float64(few.Draw(t, "qps")),
			}
			if rapid.IntRange(0, 9).Draw(t, "null") == 0 {
				delete(rows[i], objs[len(objs)-1].Column)
			}
		}
		on, by, err := Frontier(rows, objs)
		if err != nil {
			t.Fatal(err)
		}
		want := naive(rows, objs)
		if !slices.Equal(on, want) {
			t.Fatalf("got %v, want %v", on, want)
		}
		for i := range rows {
			switch {
			case on[i] || !comparable(rows[i], objs):
				if by[i] != "" {
					t.Fatalf("row %d is dominated by %q and should not be", i, by[i])
				}
			case !on[byID[by[i]]] || !dominates(rows[byID[by[i]]], rows[i], objs):
				t.Fatalf("row %d: %q does not dominate it from the frontier", i, by[i])
			}
		}
	})
}

// BenchmarkFrontier uses rows that lie close to a trade-off, so that the frontier is large.
func BenchmarkFrontier(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]Row, 100_000)
	for i := range rows {
		x, y := rng.Float64(), rng.Float64()
		rows[i] = Row{
			"point_id": fmt.Sprint("p", i), "status": "ok", "recall_at_10": x,
			"latency_p99_seconds": y, "index_bytes": int64(1e9 * (2 + x - y + 0.001*rng.Float64())), "qps": rng.Float64(),
		}
	}
	for n := 2; n <= 3; n++ {
		objs := paretoObjectives()[:n]
		b.Run(fmt.Sprintf("objectives=%d", n), func(b *testing.B) {
			var on []bool
			for b.Loop() {
				var err error
				if on, _, err = Frontier(rows, objs); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			size := 0
			for i := range rows {
				if on[i] {
					size++
				}
			}
			b.ReportMetric(float64(size), "on_frontier")
			for range 20 { // a sample against the definition
				i := rng.IntN(len(rows))
				want := !slices.ContainsFunc(rows, func(r Row) bool { return dominates(r, rows[i], objs) })
				if on[i] != want {
					b.Fatalf("row %d: on the frontier %v, want %v", i, on[i], want)
				}
			}
		})
	}
}
