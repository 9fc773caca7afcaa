package kernels

import (
	"math"
	"testing"
)

func TestNormalize(t *testing.T) {
	for _, c := range []struct {
		in, want []float32
		norm     float64
	}{
		{[]float32{3, 4}, []float32{0.6, 0.8}, 5},
		{[]float32{0, 0, 0}, []float32{0, 0, 0}, 0},
		{[]float32{-2}, []float32{-1}, 2},
		{[]float32{3e38, 3e38}, []float32{math.Sqrt2 / 2, math.Sqrt2 / 2}, 3e38 * math.Sqrt2}, // the norm is no float32
		{[]float32{1e-38, 0}, []float32{1, 0}, 1e-38},                                         // its square is none
		{nil, nil, 0},
	} {
		got := make([]float32, len(c.in))
		norm := Normalize(got, c.in)
		if math.Abs(norm-c.norm) > 1e-6*c.norm || math.Abs(Norm(c.in)-c.norm) > 1e-6*c.norm {
			t.Errorf("%v: norm %v, expected %v", c.in, norm, c.norm)
		}
		for i, v := range got {
			if math.Abs(float64(v-c.want[i])) > 1e-6 {
				t.Errorf("%v: %v, expected %v", c.in, got, c.want)
				break
			}
		}
	}
	same := []float32{3, 4}
	Normalize(same, same)
	if same[0] != 0.6 || same[1] != 0.8 {
		t.Errorf("in place: %v", same)
	}
}
