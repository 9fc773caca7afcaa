package sweep

import (
	"testing"
	"time"

	"frontier/bench/load"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// servedIn is a block of so many arrivals that took wall, each with the same service time.
func servedIn(t *testing.T, samples int64, service, wall time.Duration) *load.Block {
	t.Helper()
	b := &load.Block{Samples: samples, Wall: wall, Service: hdrhistogram.New(1, int64(load.MaxLatency), 3)}
	if err := b.Service.RecordValues(int64(service), samples); err != nil {
		t.Fatal(err)
	}
	return b
}

// The last answer comes a service time after the last arrival: that is no queue.
func TestKeptUp(t *testing.T) {
	for name, c := range map[string]struct {
		service, wall time.Duration
		want          bool
	}{
		"at once":               {time.Millisecond, time.Second, true},
		"a slow answer":         {300 * time.Millisecond, 1300 * time.Millisecond, true},
		"a queue":               {time.Millisecond, 1200 * time.Millisecond, false},
		"a queue of slow ones":  {300 * time.Millisecond, 1500 * time.Millisecond, false},
		"slower than the block": {2 * time.Second, 3 * time.Second, true},
	} {
		if got := keptUp(servedIn(t, 10, c.service, c.wall), time.Second); got != c.want {
			t.Errorf("%s: kept up: %v", name, got)
		}
	}
}

func TestKeepsUp(t *testing.T) {
	for name, c := range map[string]struct {
		samples, dropped int64
		service, wall    time.Duration
		blocks           int
		rate             float64
		want             bool
	}{
		"as many as arrive":        {1000, 0, time.Millisecond, 10 * time.Second, 3, 100, true},
		"fewer, but not by chance": {800, 0, time.Millisecond, 10 * time.Second, 3, 100, false},
		"few, by chance":           {24, 0, time.Millisecond, 3 * time.Second, 3, 10, true},
		"half of few":              {30, 0, time.Millisecond, 6 * time.Second, 3, 10, false},
		"slow answers":             {400, 0, 500 * time.Millisecond, 4500 * time.Millisecond, 3, 133, true},
		"dropped ones":             {1000, 300, time.Millisecond, 10 * time.Second, 3, 100, false},
		"all service":              {3, 0, 10 * time.Second, 12 * time.Second, 3, 1, true},
	} {
		b := servedIn(t, c.samples, c.service, c.wall)
		b.Dropped = c.dropped
		if got := keepsUp(b, c.blocks, c.rate); got != c.want {
			t.Errorf("%s: keeps up: %v", name, got)
		}
	}
}
