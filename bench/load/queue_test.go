package load

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// meanWait is the mean time between being due and being sent, in seconds.
func meanWait(b *Block) float64 {
	return (b.Total - b.ServiceTotal).Seconds() / float64(b.Samples)
}

// An open loop with Poisson arrivals and one client that takes the same time for every query is the queue M/D/1, whose
// mean wait is rho*S/(2*(1-rho)) (Pollaczek and Khinchine).
func TestOpenMD1(t *testing.T) {
	// The tolerances are five standard deviations of the ratio, as 60 seeds gave them.
	for rho, tolerance := range map[float64]float64{0.3: 0.023, 0.6: 0.039, 0.8: 0.066} {
		ratio, n := runMD1(t, rho, 310_000)
		if math.Abs(ratio-1) > tolerance || n < 300_000 {
			t.Errorf("utilisation %v: the mean wait over %d arrivals is %.4f of the formula's", rho, n, ratio)
		}
		t.Logf("utilisation %v: %.4f of the formula over %d arrivals", rho, ratio, n)
	}
}

// runMD1 is the mean wait in virtual time over that of the formula, and the number of arrivals.
func runMD1(t testing.TB, rho float64, arrivals int) (ratio float64, n int64) {
	const service = time.Millisecond
	rate := rho / service.Seconds()
	b := newVirtual(fixed(service)).open(t, Open{
		Rate: rate, Seed: 1, MinTime: time.Duration(float64(arrivals) / rate * 1e9), MaxWait: time.Hour,
	})
	return meanWait(b) / (rho * service.Seconds() / (2 * (1 - rho))), b.Samples
}

// One stall of a second in a minute of load at 500 queries a second, by a target that else takes a millisecond.
func stalls(t testing.TB) (open, closed *Block) {
	service := func(n int) time.Duration {
		if n == 10_000 {
			return time.Second
		}
		return time.Millisecond
	}
	open = newVirtual(service).open(t, Open{Rate: 500, Seed: 1, MinTime: time.Minute})
	v := newVirtual(service)
	closed, err := RunClosed(context.Background(), v, Closed{Clients: 1, Order: []int{0}, MinTime: time.Minute, Clock: v.clock})
	if err != nil {
		t.Fatal(err)
	}
	return open, closed
}

func p999(b *Block) time.Duration { return time.Duration(b.Histogram.ValueAtQuantile(99.9)) }

// Some 500 arrivals of the open loop come during the stall, of 30,000: the last thousandth have latencies near a second. The
// closed loop sends no query during it, and has one slow answer of 59,000.
func TestStallShows(t *testing.T) {
	open, closed := stalls(t)
	if got := p999(open); got < 900*time.Millisecond || got > 1100*time.Millisecond {
		t.Errorf("p99.9 of the open loop is %v", got)
	}
	if got := p999(closed); got > 2*time.Millisecond || closed.Longest != time.Second {
		t.Errorf("p99.9 of the closed loop is %v, its longest %v", got, closed.Longest)
	}
	if open.Dropped != 0 {
		t.Errorf("%d were dropped", open.Dropped)
	}
	t.Logf("p99.9: open %v of %d, closed %v of %d", p999(open), open.Samples, p999(closed), closed.Samples)
}

func BenchmarkMD1(b *testing.B) {
	arrivals := 1_000_000
	if testing.Short() {
		arrivals = 300_000
	}
	for _, rho := range []float64{0.3, 0.6, 0.8} {
		b.Run(fmt.Sprintf("utilisation=%v", rho), func(b *testing.B) {
			var ratio float64
			var n int64
			for b.Loop() {
				if ratio, n = runMD1(b, rho, arrivals); math.Abs(ratio-1) > 0.06 {
					b.Fatalf("%.4f of the formula over %d arrivals", ratio, n)
				}
			}
			b.ReportMetric(ratio, "of-formula")
			b.ReportMetric(float64(n), "arrivals")
		})
	}
}

func BenchmarkStall(b *testing.B) {
	var open, closed *Block
	for b.Loop() {
		open, closed = stalls(b)
	}
	if p999(open) < 900*time.Millisecond || p999(closed) > 2*time.Millisecond {
		b.Fatalf("p99.9: open %v, closed %v", p999(open), p999(closed))
	}
	b.ReportMetric(float64(p999(open))/1e6, "open-p999-ms")
	b.ReportMetric(float64(p999(closed))/1e6, "closed-p999-ms")
}

// busy is a server that is busy for the same time with every query, and notes for how long it really was: the machine
// may have taken its core away.
type busy struct {
	clock Clock
	time  time.Duration
	took  []time.Duration
}

func (s *busy) Do(int, int) error {
	begin := s.clock()
	now := begin
	for now-begin < s.time {
		now = s.clock()
	}
	s.took = append(s.took, now-begin)
	return nil
}

func (*busy) Keep(int, int, time.Duration, error) {}

// lindley is the mean wait, in seconds, in a queue with one server by Lindley's recursion of 1952 over the arrivals of o:
// who comes next waits for as long as the one before waited and was served, less the gap between the two.
func lindley(o Open, service func(n int) time.Duration, n int) float64 {
	var wait, sum, last time.Duration
	i := 0
	for at := range Schedule(o.Arrivals, o.Rate, o.Seed) {
		if i == n {
			break
		}
		if i > 0 {
			wait = max(wait+service(i-1)-(at-last), 0)
		}
		sum, last, i = sum+wait, at, i+1
	}
	return sum.Seconds() / float64(n)
}

// BenchmarkLindley holds the waits of an open loop on the clock of this machine against the recursion on the same
// arrivals: once with the service times that there were, and once with the one that was meant. Each pass is a tenth of a
// second with other arrivals, and the median of the passes is reported, so that what else the machine does must meet
// half of them to show. Where the second ratio is off and the first is not, the machine took the core from the server;
// where both are, from the client that waits.
func BenchmarkLindley(b *testing.B) {
	const service, length = 500 * time.Microsecond, 100 * time.Millisecond
	for _, rho := range []float64{0.3, 0.6, 0.8} {
		b.Run(fmt.Sprintf("utilisation=%v", rho), func(b *testing.B) {
			var ofRecursion, ofPlanned, overslept []float64
			seed := uint64(0)
			for b.Loop() {
				seed++
				clock := Monotonic()
				o := Open{Rate: rho / service.Seconds(), Seed: seed, Clients: 1, Order: []int{0}, MinTime: length, MaxWait: time.Hour}
				server := &busy{clock: clock, time: service, took: make([]time.Duration, 0, int(2*o.Rate*length.Seconds())+100)}
				block, err := RunOpen(b.Context(), server, o)
				if err != nil || int(block.Samples) != len(server.took) || block.Waited == 0 {
					b.Fatal(block, err)
				}
				wait, n := meanWait(block), len(server.took)
				actual := lindley(o, func(i int) time.Duration { return server.took[i] }, n)
				if wait < actual {
					b.Fatalf("a mean wait of %v s is below that of the recursion, %v s: something was sent too early", wait, actual)
				}
				ofRecursion = append(ofRecursion, wait/actual)
				ofPlanned = append(ofPlanned, wait/lindley(o, fixed(service), n))
				overslept = append(overslept, float64(block.Overslept)/float64(block.Waited))
			}
			b.ReportMetric(median(ofRecursion), "of-recursion")
			b.ReportMetric(slices.Max(ofRecursion), "of-recursion-worst")
			b.ReportMetric(median(ofPlanned), "of-planned")
			b.ReportMetric(median(overslept), "overslept-ns")
		})
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
