package machine

import (
	"encoding/json"
	"math"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestFingerprint(t *testing.T) {
	f := Read()
	if f.CPU == "" || f.Cores < 1 || f.Memory < 1<<26 || f.OS != runtime.GOOS || f.Kernel == "" || f.InstructionSet == "" {
		t.Errorf("%+v", f)
	}
	if !regexp.MustCompile(`^[0-9a-f]{12}$`).MatchString(f.Digest()) || f.Digest() != Read().Digest() {
		t.Errorf("digest %q", f.Digest())
	}
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back Fingerprint
	if err := json.Unmarshal(raw, &back); err != nil || back != f {
		t.Errorf("%+v came back as %+v, %v", f, back, err)
	}
}

func TestDigestTellsMachinesApart(t *testing.T) {
	base := Fingerprint{CPU: "x", Cores: 4, Memory: 16 << 30, OS: "linux", Arch: "amd64", InstructionSet: "avx2"}
	seen := map[string]string{base.Digest(): "base"}
	for name, change := range map[string]func(*Fingerprint){
		"cpu":    func(f *Fingerprint) { f.CPU = "y" },
		"cores":  func(f *Fingerprint) { f.Cores = 8 },
		"memory": func(f *Fingerprint) { f.Memory = 32 << 30 },
		"limit":  func(f *Fingerprint) { f.MemoryLimit = 1 << 30 },
		"quota":  func(f *Fingerprint) { f.CPULimit = 1.5 },
		"arch":   func(f *Fingerprint) { f.Arch = "arm64" },
		"set":    func(f *Fingerprint) { f.InstructionSet = "avx512" },
	} {
		f := base
		change(&f)
		if other, ok := seen[f.Digest()]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[f.Digest()] = name
	}
	same := base
	same.Kernel, same.GoVersion, same.Commit = "7.0", "go9", "abc"
	same.Memory += 64 << 20
	if same.Digest() != base.Digest() {
		t.Error("an update of kernel and Go makes another machine")
	}
}

func TestMultiplyAddHasTheRightAnswer(t *testing.T) {
	// After n steps a value is 1 + (start-1) * keep^n; the four starts are 0, 0.5, 1.5 and 2, so their sum is 4.
	if got := multiplyAdd(100); math.Abs(got-4) > 1e-12 {
		t.Errorf("after 100 steps the sum is %v", got)
	}
	if got := multiplyAdd(calibrationSteps); math.Abs(got-4) > 1e-9 {
		t.Errorf("at the end the sum is %v", got)
	}
	if d := Calibrate(); d <= 0 {
		t.Errorf("the calibration took %v", d)
	}
}

func TestNoiseByArithmetic(t *testing.T) {
	calibrations := []time.Duration{1500, 1020, 1000, 1100} // the core is slower at first
	clocks := []float64{0.8, 0.95}
	samples := []counters{
		{now: time.Second, steal: 5, busy: 100, total: 400, own: 10 * time.Second, switches: 7},
		{now: 11 * time.Second, steal: 6, busy: 112, total: 420, own: 20 * time.Second, switches: 5007},
	}
	s := startNoise(noiseSource{
		calibrate: func() time.Duration { c := calibrations[0]; calibrations = calibrations[1:]; return c },
		counters:  func() counters { c := samples[0]; samples = samples[1:]; return c },
		clock:     func() float64 { c := clocks[0]; clocks = clocks[1:]; return c },
	})
	n := s.Stop()
	// Of 20 core-seconds, 1 was stolen, 12 were busy, 10 of those ours.
	want := Noise{
		Elapsed: 10 * time.Second, StealFraction: 0.05, OtherFraction: 0.1, OwnFraction: 0.5, CalibrationRatio: 1.1, Calibration: 1000,
		InvoluntarySwitches: 5000, ClockRatio: 0.8,
	}
	if n != want {
		t.Errorf("%+v, want %+v", n, want)
	}
	text := strings.Join(n.Warnings(), "\n")
	for _, part := range []string{"other virtual machines took over 1% of the CPU time", "other processes took over 5%", "over 5% more or less", "less than 90% of their highest"} {
		if !strings.Contains(text, part) {
			t.Errorf("the warnings do not say %q:\n%s", part, text)
		}
	}
}

func TestUnknownNoiseIsNaNAndSilent(t *testing.T) {
	nan := math.NaN()
	s := startNoise(noiseSource{
		calibrate: func() time.Duration { return 1000 },
		counters:  func() counters { return counters{steal: nan, busy: nan, total: nan} },
		clock:     func() float64 { return nan },
	})
	n := s.Stop()
	if !math.IsNaN(n.StealFraction) || !math.IsNaN(n.OtherFraction) || !math.IsNaN(n.ClockRatio) || n.CalibrationRatio != 1 {
		t.Errorf("%+v", n)
	}
	if w := n.Warnings(); len(w) != 0 {
		t.Errorf("nothing is known, but: %v", w)
	}
}

func TestNoiseOfThisMachine(t *testing.T) {
	s := StartNoise()
	if sum := multiplyAdd(1 << 22); math.Abs(sum-4) > 1e-9 {
		t.Errorf("the sum is %v", sum)
	}
	n := s.Stop()
	if n.Elapsed <= 0 || n.CalibrationRatio <= 0 || n.InvoluntarySwitches < 0 {
		t.Errorf("%+v", n)
	}
	for name, f := range map[string]float64{"steal": n.StealFraction, "others": n.OtherFraction} {
		if f < 0 || f > 1.5 {
			t.Errorf("%s: %v", name, f)
		}
	}
}

func TestPeakOfThisProcess(t *testing.T) {
	if n, err := PeakBytes(); err != nil || n < 1<<20 {
		t.Errorf("%d, %v", n, err)
	}
}

func TestParseKilobytes(t *testing.T) {
	raw := []byte("VmHWM:\t    1768 kB\nRssAnonymous: 5 kB\nRssAnon:\t 112 kB\nBad:\t x kB\nBare:\t7\nHuge: 9223372036854775807 kB\n")
	if n, err := parseKilobytes(raw, "RssAnon"); err != nil || n != 112*1024 {
		t.Errorf("%d, %v", n, err)
	}
	for _, key := range []string{"Bad", "Bare", "Huge", "Absent"} {
		if n, err := parseKilobytes(raw, key); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %d, %v", key, n, err)
		}
	}
}

func BenchmarkCalibrate(b *testing.B) {
	for b.Loop() {
		if Calibrate() <= 0 {
			b.Fatal("no time went by")
		}
	}
}
