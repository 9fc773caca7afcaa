package load

import (
	"math"
	"slices"
	"testing"
	"time"

	"frontier/internal/splitmix"
)

// scan is a target like a small engine: it finds, of 64 vectors of 64 dimensions, the one with the largest inner product.
type scan struct {
	vectors, queries [64][64]float32
	found            [64]int // the answer to each query
}

func newScan() *scan {
	s := &scan{}
	for i := range 64 {
		for j := range 64 {
			s.vectors[i][j] = float32(int8(splitmix.Mix(uint64(i*64 + j))))
			s.queries[i][j] = float32(int8(splitmix.Mix(uint64(i*64 + j + 4096))))
		}
	}
	return s
}

func (s *scan) Do(_, query int) error {
	best, most := 0, float32(math.Inf(-1))
	q := &s.queries[query]
	for i := range s.vectors {
		sum := float32(0)
		for j, x := range s.vectors[i] {
			sum += x * q[j]
		}
		if sum > most {
			best, most = i, sum
		}
	}
	s.found[query] = best
	return nil
}

func (*scan) Keep(int, int, time.Duration, error) {}

// check computes the answers anew from the last vector to the first. All sums are whole numbers, without rounding.
func (s *scan) check(b *testing.B) {
	b.Helper()
	for q := range s.queries {
		best, most := 0, math.MinInt
		for i := range slices.Backward(s.vectors[:]) {
			sum := 0
			for j := range s.vectors[i] {
				sum += int(s.vectors[i][j]) * int(s.queries[q][j])
			}
			if sum >= most {
				best, most = i, sum
			}
		}
		if s.found[q] != best {
			b.Fatalf("query %d found vector %d, want %d", q, s.found[q], best)
		}
	}
}

// BenchmarkHarnessOverhead is what the loops take per query beyond a bare loop that calls the same target. The arrivals
// of the open loop are all due at once, so that none is waited for. The three loops take turns in stretches of some
// milliseconds, and the medians are compared.
func BenchmarkHarnessOverhead(b *testing.B) {
	passes, turns := 32, 51
	if testing.Short() {
		passes, turns = 8, 5
	}
	s, keeper := newScan(), NewKeeper(64)
	once := Order(64, 1)
	order := slices.Repeat(once, passes)
	bare := func() time.Duration {
		var target Target = s
		begin := time.Now()
		for _, q := range order {
			if err := target.Do(0, q); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(begin)
	}
	closed := func(order []int) *Block {
		block, err := RunClosed(b.Context(), s, Closed{Clients: 1, Order: order, EachOnce: true, Timeout: time.Hour, Keeper: keeper})
		if err != nil || block.Samples != int64(len(order)) {
			b.Fatal(block, err)
		}
		return block
	}
	open := func(order []int) *Block {
		block, err := RunOpen(b.Context(), s, Open{
			Rate: MaxRate, Clients: 1, Order: order, EachOnce: true, MaxWait: time.Hour, Timeout: time.Hour, Keeper: keeper,
		})
		if err != nil || block.Samples != int64(len(order)) || block.Dropped != 0 {
			b.Fatal(block, err)
		}
		return block
	}

	var each [3][]float64 // nanoseconds a query
	for b.Loop() {
		for range turns {
			for i, wall := range []time.Duration{bare(), closed(order).Wall, open(order).Wall} {
				each[i] = append(each[i], float64(wall)/float64(len(order)))
			}
		}
	}
	s.check(b)
	base := median(each[0])
	b.ReportMetric(base, "bare-ns/query")
	b.ReportMetric(median(each[1])-base, "closed-ns/query")
	b.ReportMetric(median(each[2])-base, "open-ns/query")
	perQuery := func(run func([]int) *Block) float64 {
		few := testing.AllocsPerRun(3, func() { run(once) })
		many := testing.AllocsPerRun(3, func() { run(order) })
		return (many - few) / float64(len(order)-len(once))
	}
	b.ReportMetric(perQuery(closed), "closed-allocs/query")
	b.ReportMetric(perQuery(open), "open-allocs/query")
	b.ReportMetric(0, "ns/op") // of all three together it tells nothing
}
