package load

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func blockOf(clients int, wall time.Duration, latencies ...time.Duration) *Block {
	b := &Block{Histogram: newHistogram(), Clients: clients, Wall: wall}
	for _, l := range latencies {
		b.record(l, nil)
	}
	return b
}

func TestMergeIsOneBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOf(rapid.Int64Range(0, int64(MaxLatency)))
		first, second := draw.Draw(t, "first"), draw.Draw(t, "second")
		durations := func(values []int64) []time.Duration {
			var d []time.Duration
			for _, v := range values {
				d = append(d, time.Duration(v))
			}
			return d
		}
		a, b := blockOf(2, 3*time.Second, durations(first)...), blockOf(2, 4*time.Second, durations(second)...)
		a.Errors, b.Errors, b.TimedOut = 1, 2, 1
		b.Next, b.Covered, b.FirstError = 17, true, context.DeadlineExceeded
		whole := blockOf(2, 7*time.Second, durations(slices.Concat(first, second))...)
		sum, err := Merge(a, b)
		if err != nil {
			t.Fatal(err)
		}
		if !sum.Histogram.Equals(whole.Histogram) || sum.Samples != whole.Samples || sum.Total != whole.Total || sum.Longest != whole.Longest || sum.Wall != whole.Wall {
			t.Fatalf("%+v, want %+v", sum, whole)
		}
		if sum.Errors != 3 || sum.TimedOut != 1 || sum.Next != 17 || !sum.Covered || sum.FirstError == nil || sum.Clients != 2 {
			t.Fatalf("%+v", sum)
		}
	})
}

func TestMergeRefuses(t *testing.T) {
	if _, err := Merge(); err == nil {
		t.Error("nothing was merged")
	}
	if _, err := Merge(blockOf(1, 1), blockOf(2, 1)); err == nil || !strings.Contains(err.Error(), "block 1 had 2 clients") {
		t.Errorf("%v", err)
	}
	open := blockOf(1, 1)
	open.Rate, open.Arrivals, open.Service = 100, Poisson, newHistogram()
	if _, err := Merge(open, blockOf(1, 1)); err == nil || !strings.Contains(err.Error(), "block 1 is a closed loop") {
		t.Errorf("%v", err)
	}
	other := *open
	other.Arrivals = Constant
	if _, err := Merge(open, &other); err == nil || !strings.Contains(err.Error(), "100 constant arrivals") {
		t.Errorf("%v", err)
	}
}

// Blocks of an open loop add up in all their counts.
func TestMergeOpen(t *testing.T) {
	var blocks []*Block
	for seed := range uint64(3) {
		v := newVirtual(fixed(5 * time.Millisecond))
		blocks = append(blocks, v.open(t, Open{Rate: 250, Seed: seed, MinTime: 2 * time.Second, MaxWait: 20 * time.Millisecond, Slack: time.Millisecond}))
	}
	sum, err := Merge(blocks...)
	if err != nil {
		t.Fatal(err)
	}
	want := Block{Histogram: sum.Histogram, Service: sum.Service, Clients: 1, Rate: 250, Arrivals: Poisson, Covered: true}
	for _, b := range blocks {
		want.Samples += b.Samples
		want.Dropped += b.Dropped
		want.Late += b.Late
		want.Waited += b.Waited
		want.Overslept += b.Overslept
		want.Total += b.Total
		want.ServiceTotal += b.ServiceTotal
		want.Wall += b.Wall
		want.Longest = max(want.Longest, b.Longest)
	}
	if *sum != want || sum.Dropped == 0 || sum.Waited == 0 || sum.Service.TotalCount() != sum.Samples-sum.Dropped {
		t.Errorf("%+v, want %+v", *sum, want)
	}
}

func TestEmptyBlock(t *testing.T) {
	b := blockOf(1, 0)
	if !math.IsNaN(b.QPS()) || !math.IsNaN(b.Mean()) {
		t.Errorf("nothing ran, but QPS %v, mean %v", b.QPS(), b.Mean())
	}
}

func TestHistogramRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := blockOf(1, 1)
		for _, v := range rapid.SliceOf(rapid.Int64Range(0, int64(2*MaxLatency))).Draw(t, "latencies") {
			b.record(time.Duration(v), nil)
		}
		raw, err := EncodeHistogram(b.Histogram)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(raw, []byte("HISTFAAA")) {
			t.Fatalf("begins %q", raw[:8])
		}
		h, err := DecodeHistogram(raw)
		if err != nil {
			t.Fatal(err)
		}
		if !h.Equals(b.Histogram) || h.TotalCount() != b.Samples {
			t.Fatal("the histogram changed on the way")
		}
	})
	for _, raw := range []string{"", "HISTFAAA", "not a histogram"} {
		if _, err := DecodeHistogram([]byte(raw)); err == nil {
			t.Errorf("%q was decoded", raw)
		}
	}
}

func FuzzDecodeHistogram(f *testing.F) {
	raw, err := EncodeHistogram(blockOf(1, 1, 1, 1000, time.Second).Histogram)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, err := DecodeHistogram(raw)
		if err == nil && h.TotalCount() < 0 {
			t.Fatal(h.TotalCount())
		}
	})
}
