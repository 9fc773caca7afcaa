package machine

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTimerByArithmetic(t *testing.T) {
	var now time.Duration
	// The clock moves by 100 ns at every fourth reading.
	reads := 0
	got, err := measureTimer(func() time.Duration {
		if reads++; reads%4 == 0 {
			now += 100
		}
		return now
	})
	if err != nil || got.ResolutionSeconds != 100e-9 || math.Abs(got.ReadSeconds-25e-9) > 1e-10 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := measureTimer(func() time.Duration { return 5 }); err == nil {
		t.Error("a clock that stands still gave no error")
	}
	if got, err := MeasureTimer(); err != nil || got.ReadSeconds <= 0 || got.ResolutionSeconds <= 0 {
		t.Errorf("of this machine: %+v, %v", got, err)
	}
}

func TestStallsByArithmetic(t *testing.T) {
	// Readings 10 us apart, and gaps of 1 ms and 3 ms.
	var now time.Duration
	reads := 0
	s := watchStalls(10*time.Millisecond, func() time.Duration {
		switch reads++; reads {
		case 20:
			now += time.Millisecond
		case 50:
			now += 3 * time.Millisecond
		default:
			now += 10 * time.Microsecond
		}
		return now
	}, nil)
	if s.Count != 2 || s.LongestSeconds != 0.003 || math.Abs(s.Share-0.4) > 0.001 || math.Abs(s.WatchedSeconds-0.01) > 0.0001 {
		t.Errorf("%+v", s)
	}
}

func TestMeasurementsEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, sleep := MeasureSleep(ctx, time.Hour, 1)
	_, stalls := MeasureStalls(ctx, time.Hour)
	_, add := MeasureMultiplyAdd(ctx, 1, time.Hour)
	_, bandwidth := MeasureBandwidth(ctx, 4<<20, 1, time.Hour)
	_, disk := MeasureDisk(ctx, t.TempDir(), 1, time.Hour)
	_, floor := MeasureFloor(ctx, FloorOptions{Pairs: 2, Confidence: 0.99})
	for name, err := range map[string]error{"sleep": sleep, "stalls": stalls, "multiply-add": add, "bandwidth": bandwidth, "disk": disk, "floor": floor} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSleepIsNeverEarly(t *testing.T) {
	s, err := MeasureSleep(t.Context(), time.Microsecond, 5)
	if err != nil || s.AskedSeconds != 1e-6 || s.MedianSeconds < 0 || s.WorstSeconds < s.MedianSeconds {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestRatesAreMeasuredAndChecked(t *testing.T) {
	for _, workers := range []int{1, 2} {
		if f, err := MeasureMultiplyAdd(t.Context(), workers, time.Millisecond); err != nil || f <= 0 {
			t.Errorf("multiply-add of %d: %v, %v", workers, f, err)
		}
		if b, err := MeasureBandwidth(t.Context(), 6<<20, workers, time.Millisecond); err != nil || b.Read <= 0 || b.Copy <= 0 {
			t.Errorf("bandwidth of %d: %+v, %v", workers, b, err)
		}
	}
	for _, c := range [][2]int{{0, 1}, {1 << 20, 1}, {4 << 20, 3}, {4 << 20, 0}} {
		if _, err := MeasureBandwidth(t.Context(), int64(c[0]), c[1], time.Millisecond); err == nil {
			t.Errorf("%d bytes for %d workers gave no error", c[0], c[1])
		}
	}
}

// Each worker's rate counts, and the best stretch stands for all.
func TestBestRateCountsAllWorkers(t *testing.T) {
	counts := make([]int, 3)
	rate, err := bestRate(t.Context(), 3, 0, func(w int) float64 { counts[w]++; return 1 })
	if err != nil || rate <= 0 {
		t.Fatal(rate, err)
	}
	for w, n := range counts {
		if n < rateSlices {
			t.Errorf("worker %d ran %d times in %d stretches", w, n, rateSlices)
		}
	}
}

func TestDependentChain(t *testing.T) {
	a, b := uint64(1), uint64(2)
	for range 3 * chainLength / 2 {
		a += b
		b ^= a
	}
	if x, y := dependentChain(1, 2, 3); x != a || y != b {
		t.Errorf("%d, %d, want %d, %d", x, y, a, b)
	}
	if f := EstimateFrequency(); f <= 0 {
		t.Errorf("the clock runs at %v Hz", f)
	}
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	d, err := MeasureDisk(t.Context(), filepath.Join(dir, "not", "yet"), 1, time.Second)
	if err != nil || d.Path != dir || d.Free <= 0 || d.Write <= 0 || d.Sync <= 0 || d.Read <= 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := MeasureDisk(t.Context(), dir, math.MaxInt64/2, time.Second); err == nil {
		t.Error("more than is free gave no error")
	}
}

// For n values with standard deviation s the half width is t * s / sqrt(n); t is 3.2498 for 10 values at 0.99.
func TestDetectable(t *testing.T) {
	ratios := []float64{-0.03, 0.03, -0.03, 0.03, -0.03, 0.03, -0.03, 0.03, -0.03, 0.03}
	s := 0.03 * math.Sqrt(10.0/9)
	if got, want := Detectable(ratios, 0.99), math.Expm1(3.2498*s/math.Sqrt(10)); math.Abs(got-want) > 1e-5 {
		t.Errorf("%v, want %v", got, want)
	}
	for i := range ratios {
		ratios[i] += 0.5 // a true difference is no noise
	}
	if got, want := Detectable(ratios, 0.99), math.Expm1(3.2498*s/math.Sqrt(10)); math.Abs(got-want) > 1e-5 {
		t.Errorf("shifted: %v, want %v", got, want)
	}
	if got := Detectable(ratios[:1], 0.99); !math.IsNaN(got) {
		t.Errorf("of one pair: %v", got)
	}
}

func TestFloor(t *testing.T) {
	f, err := MeasureFloor(t.Context(), FloorOptions{Pairs: 2, Confidence: 0.99, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	// 368 is the fewest from which a p99 can be told.
	if f.Pairs != 2 || f.BlockQueries != 368 || f.BlockSeconds <= 0 || f.P50Seconds <= 0 || f.P99Seconds < f.P50Seconds || f.P50 < 0 || f.P99 < 0 {
		t.Errorf("%+v", f)
	}
	for _, o := range []FloorOptions{{Pairs: 1, Confidence: 0.99}, {Pairs: 10, Confidence: 1}, {Pairs: 10}} {
		if _, err := MeasureFloor(t.Context(), o); err == nil {
			t.Errorf("%+v gave no error", o)
		}
	}
}

func TestFloorSearchChecksItsAnswers(t *testing.T) {
	s, err := newFloorSearch(1)
	if err != nil {
		t.Fatal(err)
	}
	s.answers[1]++
	if _, err := s.block(2); err == nil {
		t.Error("a wrong neighbour gave no error")
	}
}

func TestQuantileByOrderStatistic(t *testing.T) {
	sorted := make([]time.Duration, 400)
	for i := range sorted {
		sorted[i] = time.Duration(i+1) * time.Second
	}
	for p, want := range map[float64]float64{0.5: 200, 0.99: 396, 0.0001: 1} {
		if got := quantile(sorted, p); got != want {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
}
