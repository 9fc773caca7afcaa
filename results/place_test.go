package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// boxRow is a row with intervals for recall and latency.
func boxRow(id string, recall, recallLow, recallHigh, latency, latencyLow, latencyHigh float64) Row {
	return Row{
		"point_id": id, "status": "ok", "recall_at_10": recall, "recall_at_10_low": recallLow, "recall_at_10_high": recallHigh,
		"latency_p99_seconds": latency, "latency_p99_low_seconds": latencyLow, "latency_p99_high_seconds": latencyHigh,
	}
}

func TestPlaces(t *testing.T) {
	rows := []Row{
		boxRow("good", 0.9, 0.89, 0.91, 3, 2.9, 3.1),
		boxRow("near good", 0.895, 0.88, 0.905, 3.05, 2.9, 3.2),
		boxRow("fast", 0.5, 0.49, 0.51, 1, 0.9, 1.1),
		boxRow("beaten", 0.4, 0.39, 0.41, 9, 8, 10),
		{"point_id": "null", "status": "ok", "recall_at_10": 1.0},
		{"point_id": "crashed", "status": "crashed", "recall_at_10": 1.0, "latency_p99_seconds": 0.1},
	}
	p, err := Places(rows, paretoObjectives()[:2], Certainty{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []Place{Possible, Possible, Certain, Off, Off, Off}; !slices.Equal(p.Places, want) {
		t.Errorf("places %v, want %v", p.Places, want)
	}
	if p.Intervals != 8 || math.Abs(p.Widening-2.734/1.960) > 0.001 { // 1 - 0.05/8 on both sides
		t.Errorf("%d intervals widened by %v", p.Intervals, p.Widening)
	}
	if got := p.Rivals(0); !slices.Equal(got, []int{1}) {
		t.Errorf("rivals of the first row: %v", got)
	}
	if got := p.AlikeGroups([]int{0, 2}, []int{1, 3, 4}, 5); len(got) != 1 || !slices.Equal(got[0], []int{0, 1}) {
		t.Errorf("not told apart: %v", got)
	}
	if p.Rivals(4) != nil || p.Alike(4, 0) {
		t.Error("a row that is null in an objective has rivals")
	}
	if rule := p.Rule(); !strings.Contains(rule, "with 95% confidence for all at once (8 intervals, each widened 1.4-fold)") {
		t.Errorf("rule: %s", rule)
	}

	// With the questions fixed only latency has a width, which leaves the second of the first two behind in nothing
	// certain; without any interval the places are those of the values.
	if p, err = Places(rows, paretoObjectives()[:2], Certainty{FixedQuestions: true}); err != nil || p.Intervals != 4 || p.Places[0] != Certain {
		t.Errorf("fixed questions: %v, %v", p, err)
	}
	for _, r := range rows {
		delete(r, "recall_at_10_low")
		delete(r, "latency_p99_low_seconds")
	}
	if p, err = Places(rows, paretoObjectives()[:2], Certainty{}); err != nil {
		t.Fatal(err)
	}
	if want := []Place{Certain, Off, Certain, Off, Off, Off}; !slices.Equal(p.Places, want) {
		t.Errorf("without intervals: %v, want %v", p.Places, want)
	}
	if !slices.Equal(p.Bare, []string{"latency_p99_seconds"}) || !strings.Contains(p.Rule(), "latency_p99_seconds has no interval in some rows") {
		t.Errorf("bare objectives %v: %s", p.Bare, p.Rule())
	}
	if _, err := Places(rows, paretoObjectives()[:2], Certainty{Level: 95}); err == nil || !strings.Contains(err.Error(), "between 0 and 1") {
		t.Errorf("a level of 95: %v", err)
	}
}

// The stretched interval keeps to what its column can hold.
func TestWidened(t *testing.T) {
	for _, tt := range []struct {
		objective             string
		cost, low, high, f    float64
		wantLow, wantHighCost float64
	}{
		{"recall_at_10:max", -0.9, -0.95, -0.8, 3, -1, -0.6},
		{"recall_at_10:max", 0, -0.03, 0, 2, -0.06, 0},
		{"latency_p99_seconds:min", 2, 1, 4, 2, 0.5, 8},
		{"latency_p99_seconds:min", 2, 2, 2, 2, 2, 2},
		{"qps:max", -2, -4, -1, 2, -8, -0.5},
		{"chunk_expansion:min", 2, 1, 3, 4, -2, 6},
	} {
		o, err := ParseObjective(tt.objective)
		if err != nil {
			t.Fatal(err)
		}
		col, _ := Lookup(o.Column)
		low, high := widened(o, col, tt.cost, tt.low, tt.high, tt.f)
		if math.Abs(low-tt.wantLow) > 1e-12 || math.Abs(high-tt.wantHighCost) > 1e-12 {
			t.Errorf("%s: [%v, %v], want [%v, %v]", tt.objective, low, high, tt.wantLow, tt.wantHighCost)
		}
	}
}

// The shortcut by layers equals the definition, point against point.
func TestPlacesEqualDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objs := paretoObjectives()[:rapid.IntRange(1, 4).Draw(t, "objectives")]
		b := newBoxes(len(objs))
		few := rapid.IntRange(0, 6)
		n := rapid.IntRange(0, 40).Draw(t, "points")
		for j := range objs {
			for range n {
				ends := []float64{float64(few.Draw(t, "a")), float64(few.Draw(t, "b")), float64(few.Draw(t, "c"))}
				if rapid.IntRange(0, 3).Draw(t, "exact") == 0 {
					ends[1], ends[2] = ends[0], ends[0]
				}
				slices.Sort(ends)
				b.low[j], b.cost[j], b.high[j] = append(b.low[j], ends[0]), append(b.cost[j], ends[1]), append(b.high[j], ends[2])
			}
		}
		on := nondominated(b.cost, indicesUpTo(n))
		for k, got := range b.places(nil) {
			want := Certain
			for a := range n {
				if a != k && b.mayBeat(a, k) {
					want = Possible
				}
			}
			for a := range n {
				if b.beats(a, k) {
					want = Off
				}
			}
			if got != want {
				t.Fatalf("point %d: %v, want %v", k, got, want)
			}
			measured := slices.Contains(on, k)
			if (measured && got == Off) || (!measured && got == Certain) {
				t.Fatalf("point %d is %v, and on the measured frontier: %v", k, got, measured)
			}
		}
	})
}

func indicesUpTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// All places hold at once as often as promised. Points near a trade-off are measured with noise, recall additive and
// latency in proportion, and carry true 95% intervals. In 400 runs at 95%, at most 5% may have a certain point that is not
// on the true frontier or a point of the true frontier that is off; with a standard error of 1.1% that is under 8.3%.
func TestPlacesErrorRate(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	const runs, points, z = 400, 40, 1.959963984540054
	wrong, wrongBare, certain, possible := 0, 0, 0, 0
	for range runs {
		truth, measured := make([]Row, points), make([]Row, points)
		for i := range points {
			x := rng.Float64()
			recall, latency := 0.3+0.6*x, 0.001*math.Exp(2*x+2*rng.Float64()*rng.Float64())
			recallNoise, latencyNoise := 0.003+0.003*rng.Float64(), 0.01+0.03*rng.Float64() // standard errors
			id := fmt.Sprint("p", i)
			truth[i] = Row{"point_id": id, "status": "ok", "recall_at_10": recall, "latency_p99_seconds": latency}
			r, l := recall+recallNoise*rng.NormFloat64(), latency*math.Exp(latencyNoise*rng.NormFloat64())
			measured[i] = boxRow(id, r, r-z*recallNoise, r+z*recallNoise, l, l*math.Exp(-z*latencyNoise), l*math.Exp(z*latencyNoise))
		}
		on, _, err := Frontier(truth, paretoObjectives()[:2])
		if err != nil {
			t.Fatal(err)
		}
		p, err := Places(measured, paretoObjectives()[:2], Certainty{})
		if err != nil {
			t.Fatal(err)
		}
		isWrong := func(i int) bool {
			return (p.Places[i] == Certain && !on[i]) || (p.Places[i] == Off && on[i])
		}
		if slices.ContainsFunc(indicesUpTo(points), isWrong) {
			wrong++
		}
		certain += p.Count(Certain)
		possible += p.Count(Possible)
		for _, r := range measured {
			delete(r, "recall_at_10_low")
			delete(r, "latency_p99_low_seconds")
		}
		if p, err = Places(measured, paretoObjectives()[:2], Certainty{}); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(indicesUpTo(points), isWrong) {
			wrongBare++
		}
	}
	t.Logf("%d of %d runs had a wrong place (%d where the intervals are ignored); %.1f certain and %.1f possible of %d points", wrong, runs, wrongBare, float64(certain)/runs, float64(possible)/runs, points)
	if wrong > runs*83/1000 {
		t.Errorf("%d of %d runs had a wrong place, more than 5%% allows", wrong, runs)
	}
	if wrongBare < runs/2 {
		t.Errorf("only %d of %d runs go wrong without intervals: this noise tests nothing", wrongBare, runs)
	}
	if certain < runs/2 || possible > runs*points*3/4 { // a rule that knows nothing is never wrong
		t.Errorf("%.1f certain and %.1f possible points a run: the rule decides too little", float64(certain)/runs, float64(possible)/runs)
	}
}
