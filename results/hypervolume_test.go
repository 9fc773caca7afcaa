package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// inclusionExclusion sums over all subsets what they dominate together: the definition, in exponential time.
func inclusionExclusion(points [][]float64) float64 {
	sum := 0.0
	for set := 1; set < 1<<len(points); set++ {
		sign, product := -1.0, 1.0
		for j := range points[0] {
			corner := 0.0
			for i, p := range points {
				if set>>i&1 == 1 {
					corner = max(corner, p[j])
				}
			}
			product *= 1 - corner
		}
		for i := range points {
			if set>>i&1 == 1 {
				sign = -sign
			}
		}
		sum += sign * product
	}
	return sum
}

func TestVolumeEqualsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for objectives := 1; objectives <= 5; objectives++ {
		for range 60 {
			points := make([][]float64, 1+rng.IntN(9))
			for i := range points {
				points[i] = make([]float64, objectives)
				for j := range points[i] {
					points[i][j] = float64(rng.IntN(8)) / 8 // ties, equal points and dominated ones
				}
			}
			if got, want := volume(points), inclusionExclusion(points); math.Abs(got-want) > 1e-12 {
				t.Fatalf("%v: %v, want %v", points, got, want)
			}
		}
	}
}

func TestHypervolume(t *testing.T) {
	objs := paretoObjectives()[:2]
	// In the box from (recall 1, 0 s) to (recall 0.5, 1 s), the points lie at (0.2, 0.6) and (0.6, 0.1).
	rows := kneeRows([2]float64{0.9, 0.6}, [2]float64{0.7, 0.1}, [2]float64{0.5, 0.05}, [2]float64{0.6, 1})
	v, err := Hypervolume(rows, objs, map[string]float64{"recall_at_10": 0.5, "latency_p99_seconds": 1})
	if err != nil || math.Abs(v.Value-(0.8*0.4+0.4*0.5)) > 1e-12 || v.Points != 3 || v.Beyond != 1 {
		t.Errorf("%+v, %v; want 0.52 of three points, one of them beyond", v, err)
	}
	if v.Box[0].Ideal != 1 || v.Box[0].Reference != 0.5 || v.Box[1].Ideal != 0 || v.Box[1].Reference != 1 {
		t.Errorf("the box is %+v", v.Box)
	}
	v, err = Hypervolume(rows, objs, nil) // the box ends at 0.45 and 1.1
	if err != nil || v.Beyond != 0 || math.Abs(v.Box[0].Reference-0.45) > 1e-12 || math.Abs(v.Box[1].Reference-1.1) > 1e-12 || math.Abs(v.Value-0.58264462) > 1e-8 {
		t.Errorf("without a reference: %+v, %v", v, err)
	}
	v, err = Hypervolume(rows, objs, map[string]float64{"recall_at_10": 0, "latency_p99_seconds": 0.2})
	if err != nil || math.Abs(v.Value-(0.7*0.5+0.5*0.25)) > 1e-12 || v.Beyond != 1 {
		t.Errorf("with a reference: %+v, %v; want 0.475", v, err)
	}
	// Where all have the ideal recall, latency alone decides: 0.1 of 1.1 is left.
	perfect := kneeRows([2]float64{1, 1}, [2]float64{1, 0.1})
	if v, err := Hypervolume(perfect, objs, nil); err != nil || math.Abs(v.Value-1/1.1) > 1e-12 || v.Beyond != 0 {
		t.Errorf("all of recall 1: %+v, %v", v, err)
	}
	if v, err := Hypervolume(perfect, objs, map[string]float64{"recall_at_10": 1}); err != nil || v.Value != 0 || v.Beyond != 1 {
		t.Errorf("nothing is better than a reference of recall 1: %+v, %v", v, err)
	}
	// A rate has no ideal of its own: the best that was measured.
	rates := []Row{{"point_id": "a", "status": "ok", "qps": 100.0}, {"point_id": "b", "status": "ok", "qps": 50.0}}
	if v, err := Hypervolume(rates, []Objective{{"qps", Higher}}, map[string]float64{"qps": 0}); err != nil || v.Value != 1 || v.Box[0].Ideal != 100 {
		t.Errorf("one objective: %+v, %v", v, err)
	}
	if v, err := Hypervolume(nil, objs, nil); err != nil || v.Value != 0 || v.Points != 0 {
		t.Errorf("no rows: %+v, %v", v, err)
	}
	for want, reference := range map[string]map[string]float64{
		"which is no objective": {"qps": 1}, "is NaN": {"recall_at_10": math.NaN()},
	} {
		if _, err := Hypervolume(rows, objs, reference); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("reference %v: %v, want %q", reference, err, want)
		}
	}
}

// BenchmarkVolume uses points on a sphere, none of which dominates another.
func BenchmarkVolume(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{2, 5000}, {3, 1000}, {4, 200}} {
		objectives, n := size[0], size[1]
		points := make([][]float64, n)
		for i := range points {
			points[i] = make([]float64, objectives)
			norm := 0.0
			for j := range points[i] {
				points[i][j] = math.Abs(rng.NormFloat64())
				norm += points[i][j] * points[i][j]
			}
			for j := range points[i] {
				points[i][j] = 1 - points[i][j]/math.Sqrt(norm)
			}
		}
		b.Run(fmt.Sprintf("objectives=%d/points=%d", objectives, n), func(b *testing.B) {
			var got float64
			for b.Loop() {
				got = volume(points)
			}
			// The part of the unit box within a ball around the corner: 1 - 2^-m of the ball's volume.
			ball := map[int]float64{2: math.Pi, 3: 4 * math.Pi / 3, 4: math.Pi * math.Pi / 2}[objectives]
			if whole := ball / math.Pow(2, float64(objectives)); got > whole || got < whole*0.6 { // few points leave gaps
				b.Fatalf("volume %v, want less than %v, and not much less", got, whole)
			}
		})
	}
}
