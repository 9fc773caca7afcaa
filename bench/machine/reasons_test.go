package machine

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestReasons(t *testing.T) {
	nan := math.NaN()
	quiet := Noise{Elapsed: time.Second, OwnFraction: 0.5, CalibrationRatio: 1, ClockRatio: 1}
	perCore := int64(runtime.NumCPU())
	for _, c := range []struct {
		name   string
		change func(*Noise)
		want   []Reason
	}{
		{"quiet", func(*Noise) {}, nil},
		{"nothing is known", func(n *Noise) {
			n.StealFraction, n.OtherFraction, n.OwnFraction, n.CalibrationRatio, n.ClockRatio = nan, nan, nan, nan, nan
		}, nil},
		{"a low clock does not pass", func(n *Noise) { n.ClockRatio = 0.3 }, nil},
		{"steal", func(n *Noise) { n.StealFraction = 0.08 }, []Reason{Stolen}},
		{"little steal", func(n *Noise) { n.StealFraction = 0.06 }, nil},
		{"two ticks in a short stretch", func(n *Noise) { n.Elapsed, n.StealFraction = 100*time.Millisecond, 0.2 }, nil},
		{"many ticks in a short stretch", func(n *Noise) { n.Elapsed, n.StealFraction = 100*time.Millisecond, 0.3 }, []Reason{Stolen}},
		{"others beside an idle core", func(n *Noise) { n.OtherFraction = 0.3 }, nil},
		{"others in the way", func(n *Noise) { n.OtherFraction = 0.45 }, []Reason{Crowded}},
		{"all cores are ours", func(n *Noise) { n.OwnFraction, n.OtherFraction = 0.95, 0.05 }, nil},
		{"slower", func(n *Noise) { n.CalibrationRatio = 1.2 }, []Reason{Shifted}},
		{"faster", func(n *Noise) { n.CalibrationRatio = 0.8 }, []Reason{Shifted}},
		{"a little slower", func(n *Noise) { n.CalibrationRatio = 1.1 }, nil},
		{"some switches", func(n *Noise) { n.InvoluntarySwitches = 400 * perCore }, nil},
		{"many switches", func(n *Noise) { n.InvoluntarySwitches = 600 * perCore }, []Reason{Preempted}},
		{"no length", func(n *Noise) { n.Elapsed, n.StealFraction, n.OtherFraction, n.InvoluntarySwitches = 0, 1, 1, 5 }, nil},
		{"everything", func(n *Noise) {
			n.StealFraction, n.OtherFraction, n.CalibrationRatio, n.InvoluntarySwitches = 0.2, 0.5, 2, 1e6*perCore
		}, []Reason{Stolen, Crowded, Shifted, Preempted}},
	} {
		n := quiet
		c.change(&n)
		if got := n.Reasons(); !slices.Equal(got, c.want) || n.Noisy() != (len(c.want) > 0) {
			t.Errorf("%s: %v, noisy %v, want %v", c.name, got, n.Noisy(), c.want)
		}
	}
}

// What is worth measuring again is worth a warning too.
func TestNoisyStretchesWarn(t *testing.T) {
	if noisySteal < quietSteal || noisyOther < quietOther || noisyCalibration < quietCalibration || noisySwitches < quietSwitches {
		t.Error("a stretch may be measured again without a warning that says why")
	}
}
