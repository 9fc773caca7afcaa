package cost

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func testCatalog() *Catalog {
	return &Catalog{
		File: "prices.yaml", Date: "2026-11-01", Source: "a test", StorageUSDPerGiBMonth: 0.1,
		Machines: []Machine{
			{"small", 2, 8 * gib, 0.10},
			{"medium", 4, 16 * gib, 0.20},
			{"large", 16, 64 * gib, 0.80},
			{"roomy", 4, 32 * gib, 0.25},
		},
		Embedding: []Embedding{{"e-small", 0.02}},
	}
}

func TestEstimateByHand(t *testing.T) {
	for _, c := range []struct {
		name     string
		in       Input
		machine  string
		machines int
		month    float64 // USD
		million  float64 // USD
		capacity float64 // queries a second
		use      float64 // utilisation
	}{
		{
			// 400/2 = 200 a core; small: 2 * 200 * 0.7 = 280 a machine. Two replicas: 2 * 0.10 * 730 = 146 a month.
			// A month has 100 * 730 * 3600 = 262.8 million queries.
			name:    "replicas decide",
			in:      Input{QPS: 100, Replicas: 2, MeasuredQPS: 400, Cores: 2, Concurrency: 2, MemoryServing: 4 * gib},
			machine: "small", machines: 2, month: 146, million: 146 / 262.8, capacity: 560, use: 100.0 / 800,
		},
		{
			// One client kept one of two cores busy: 400 a core, 560 a small machine and 1120 a medium one. Two small ones
			// are as dear as one medium, and fewer machines win.
			name:    "throughput decides, one client",
			in:      Input{QPS: 1000, MeasuredQPS: 400, Cores: 2, Concurrency: 1, MemoryServing: gib, MemoryMapped: gib},
			machine: "medium", machines: 1, month: 146, million: 146 / 2628.0, capacity: 1120, use: 1000.0 / 1600,
		},
		{
			// 8 clients on 2 cores: 200 a core. 1120 = 4 * 280 fit exactly: 4 small (0.40), as dear as 2 medium (0.40):
			// fewer machines win.
			name:    "a tie in price",
			in:      Input{QPS: 1120, MeasuredQPS: 400, Cores: 2, Concurrency: 8, MemoryServing: gib},
			machine: "medium", machines: 2, month: 292, million: 292 / 2943.36, capacity: 1120, use: 0.7,
		},
		{
			// 18 + 2 = 20 GiB: small and medium hold 5.6 and 11.2, roomy 22.4. 4 * 200 * 0.7 = 560 a roomy machine.
			name:    "memory decides",
			in:      Input{QPS: 100, Replicas: 1, MeasuredQPS: 400, Cores: 2, Concurrency: 2, MemoryServing: 18 * gib, MemoryMapped: 2 * gib},
			machine: "roomy", machines: 1, month: 182.5, million: 182.5 / 262.8, capacity: 560, use: 0.125,
		},
		{
			// Without headroom 16 GiB fit into medium: 146; roomy would be 182.5.
			name:    "no headroom",
			in:      Input{QPS: 100, MeasuredQPS: 400, Cores: 2, MemoryServing: 16 * gib, Policy: &Policy{Headroom: 0, MaxUtilisation: 1}},
			machine: "medium", machines: 1, month: 146, million: 146 / 262.8, capacity: 800, use: 0.125,
		},
		{
			// As the first, and 2 machines * 30 GiB * 0.1 = 6 a month for disks.
			name:    "disks",
			in:      Input{QPS: 100, Replicas: 2, MeasuredQPS: 400, Cores: 2, Concurrency: 2, MemoryServing: gib, DiskBytes: 30 * gib},
			machine: "small", machines: 2, month: 152, million: 152 / 262.8, capacity: 560, use: 0.125,
		},
	} {
		d, err := Estimate(c.in, testCatalog())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d.Machine.Name != c.machine || d.Machines != c.machines {
			t.Errorf("%s: %d x %s, want %d x %s", c.name, d.Machines, d.Machine.Name, c.machines, c.machine)
		}
		for what, pair := range map[string][2]float64{
			"USD a month": {d.USDPerMonth, c.month}, "USD a million": {d.USDPerMillionQueries, c.million},
			"capacity": {d.CapacityQPS, c.capacity}, "utilisation": {d.Utilisation, c.use},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-9*pair[1] {
				t.Errorf("%s: %s is %v, want %v", c.name, what, pair[0], pair[1])
			}
		}
	}
}

func TestEstimateEmbedding(t *testing.T) {
	in := Input{QPS: 1, MeasuredQPS: 400, Cores: 2, MemoryServing: gib, EmbedTokens: 50_000_000, EmbedModel: "e-small"}
	d, err := Estimate(in, testCatalog())
	if err != nil || math.Abs(d.EmbedUSD-1) > 1e-12 { // 50 million at 0.02 a million
		t.Errorf("%v USD, %v", d.EmbedUSD, err)
	}
	in.EmbedModel = "unheard-of"
	d, err = Estimate(in, testCatalog())
	if err != nil || !math.IsNaN(d.EmbedUSD) || !strings.Contains(strings.Join(d.Assumptions, "\n"), `no price for the model "unheard-of"`) {
		t.Errorf("%v USD, %v, %v", d.EmbedUSD, err, d.Assumptions)
	}
	in.EmbedModel = ""
	if d, err := Estimate(in, testCatalog()); err != nil || d.EmbedUSD != 0 {
		t.Errorf("%v USD, %v", d.EmbedUSD, err)
	}
}

func TestEstimateSaysWhatItAssumed(t *testing.T) {
	c := testCatalog()
	c.StorageUSDPerGiBMonth = math.NaN()
	d, err := Estimate(Input{QPS: 100, Replicas: 2, MeasuredQPS: 400, Cores: 4, Concurrency: 2, MemoryServing: 3 * gib, MemoryMapped: 512 << 20, DiskBytes: gib}, c)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(d.Assumptions, "\n")
	for _, part := range []string{
		"prices.yaml, dated 2026-11-01 (a test)", "730 hours", "100 queries a second", "2 busy of 4 cores at concurrency 2: 200 for each vCPU",
		"70%", "12.5%", "3.0 GiB of memory in use, 512.0 MiB of mapped files in RAM and 1.0 GiB of disk", "30% of their memory", "small has 8.0 GiB",
		"at least 2 machines", "Disk is not counted", "not bought",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the assumptions do not say %q:\n%s", part, text)
		}
	}
	if math.IsNaN(d.USDPerMonth) || !math.IsNaN(d.StorageUSDPerMonth) {
		t.Errorf("%+v", d)
	}
}

func TestEstimateTooLarge(t *testing.T) {
	_, err := Estimate(Input{QPS: 1, MeasuredQPS: 1, Cores: 1, MemoryServing: 50 * gib}, testCatalog())
	// The largest has 64 GiB, of which 44.8 are offered: 5.2 are missing.
	if !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	for _, part := range []string{"50.0 GiB", "large with 64.0 GiB", "offers 44.8 GiB", "5.2 GiB are missing"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestEstimateRefuses(t *testing.T) {
	good := Input{QPS: 1, MeasuredQPS: 1, Cores: 1, MemoryServing: 1}
	for want, change := range map[string]func(*Input){
		"NaN queries a second is not a load": func(in *Input) { in.QPS = math.NaN() },
		"0 queries a second is not a load":   func(in *Input) { in.QPS = 0 },
		"measured throughput of +Inf":        func(in *Input) { in.MeasuredQPS = math.Inf(1) },
		"on 0 cores":                         func(in *Input) { in.Cores = 0 },
		"-1 replicas":                        func(in *Input) { in.Replicas = -1 },
		"negative size":                      func(in *Input) { in.DiskBytes = -1 },
		"more than any machine":              func(in *Input) { in.MemoryServing, in.MemoryMapped = math.MaxInt64, 1 },
		"memory in use is not known":         func(in *Input) { in.MemoryServing = 0 },
		"headroom of 1":                      func(in *Input) { in.Policy = &Policy{Headroom: 1, MaxUtilisation: 1} },
		"utilisation of 0":                   func(in *Input) { in.Policy = &Policy{} },
		"more than 1000000 machines":         func(in *Input) { in.QPS = 1e12 },
	} {
		in := good
		change(&in)
		if _, err := Estimate(in, testCatalog()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Estimate(good, &Catalog{}); err == nil {
		t.Error("an empty catalogue gave an estimate")
	}
}

// Whatever is asked for, the answer must do it, no single type may be cheaper, and asking for more never costs less.
func TestEstimateIsCheapestAndSufficient(t *testing.T) {
	c := testCatalog()
	rapid.Check(t, func(t *rapid.T) {
		in := Input{
			QPS: rapid.Float64Range(0.1, 1e5).Draw(t, "qps"), Replicas: rapid.IntRange(0, 9).Draw(t, "replicas"),
			MeasuredQPS: rapid.Float64Range(1, 1e5).Draw(t, "measured"), Cores: rapid.IntRange(1, 64).Draw(t, "cores"),
			Concurrency: rapid.IntRange(0, 64).Draw(t, "concurrency"), MemoryServing: rapid.Int64Range(1, 44*gib).Draw(t, "memory"),
		}
		d, err := Estimate(in, c)
		if err != nil {
			t.Skip(err)
		}
		if d.Machines < max(1, in.Replicas) || d.CapacityQPS < in.QPS*(1-1e-9) || d.Utilisation > 0.7*(1+1e-9) || float64(in.MemoryServing) > 0.7*float64(d.Machine.Memory) {
			t.Fatalf("%+v does not do %+v", d, in)
		}
		for _, m := range c.Machines {
			one, err := Estimate(in, &Catalog{Machines: []Machine{m}, StorageUSDPerGiBMonth: 0.1})
			if err == nil && one.USDPerMonth < d.USDPerMonth*(1-1e-9) {
				t.Fatalf("%s would cost %v, not %v", m.Name, one.USDPerMonth, d.USDPerMonth)
			}
		}
		more := in
		more.QPS *= 2
		if bigger, err := Estimate(more, c); err == nil && bigger.USDPerMonth < d.USDPerMonth*(1-1e-9) {
			t.Fatalf("twice the load costs %v, not %v", bigger.USDPerMonth, d.USDPerMonth)
		}
	})
}

func BenchmarkEstimate(b *testing.B) {
	c, in := testCatalog(), Input{QPS: 100, Replicas: 2, MeasuredQPS: 400, Cores: 2, Concurrency: 2, MemoryServing: 4 * gib}
	for b.Loop() {
		if d, err := Estimate(in, c); err != nil || d.Machines != 2 || d.Machine.Name != "small" {
			b.Fatal(d, err)
		}
	}
}
