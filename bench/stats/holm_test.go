package stats

import (
	"math"
	"testing"
)

func TestHolm(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ p, want []float64 }{
		{nil, nil},
		{[]float64{0.03}, []float64{0.03}},
		// 4*0.01; 3*0.02 = 0.06; 2*0.03 = 0.06; 0.04 is lifted to the one before it.
		{[]float64{0.04, 0.01, 0.03, 0.02}, []float64{0.06, 0.04, 0.06, 0.06}},
		{[]float64{0.5, 0.9}, []float64{1, 1}},
		{[]float64{0.01, nan, 0.02}, []float64{0.02, nan, 0.02}},
		{[]float64{nan, nan}, []float64{nan, nan}},
		{[]float64{0.2, 0.2, 0}, []float64{0.4, 0.4, 0}},
	} {
		got := Holm(c.p)
		if len(got) != len(c.want) {
			t.Fatalf("%v: got %v, want %v", c.p, got, c.want)
		}
		for i := range got {
			if !same(got[i], c.want[i]) {
				t.Errorf("%v: got %v, want %v", c.p, got, c.want)
				break
			}
		}
	}
	p := []float64{0.3, 0.1}
	if Holm(p); p[0] != 0.3 || p[1] != 0.1 {
		t.Error("the argument was changed")
	}
}

func TestHolmDecisions(t *testing.T) {
	in := []Comparison{{P: 0.004, Decision: Worse}, {P: 0.006, Decision: Better}, {P: 0.5, Decision: Same}, {P: 0.7, Decision: Inconclusive}}
	got, err := HolmDecisions(in, 0.98)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Comparison{{P: 0.016, Decision: Worse}, {P: 0.018, Decision: Better}, {P: 1, Decision: Same}, {P: 1, Decision: Inconclusive}} {
		if math.Abs(got[i].P-want.P) > 1e-12 || got[i].Decision != want.Decision {
			t.Errorf("%d: got %+v, want %+v", i, got[i], want)
		}
	}
	if got, _ = HolmDecisions(in, 0.983); got[0].Decision != Worse || got[1].Decision != Inconclusive {
		t.Errorf("at 0.983: got %+v", got)
	}
	if in[0].P != 0.004 {
		t.Error("the argument was changed")
	}
	if _, err := HolmDecisions(in, 1); err == nil {
		t.Error("a confidence of 1 was taken")
	}
}
