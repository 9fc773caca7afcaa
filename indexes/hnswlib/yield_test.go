package hnswlib

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	bench "frontier/bench/load"
	"frontier/indexes"
	"frontier/indexes/internal/enginetest"
	"frontier/internal/vector"
)

// BenchmarkGivingWay searches from a bare loop and from a client of the load generator, and reports queries, and the
// times that a thread lost its core, per second: see the comment of yielder in bench/load.
func BenchmarkGivingWay(b *testing.B) {
	skipAbsent(b)
	rows, length := 20_000, time.Second
	if testing.Short() {
		rows, length = 1000, 20*time.Millisecond
	}
	x := suite(64).Build(b, indexes.Input{Vectors: enginetest.Clustered(b, rows, 64, 1), Metric: vector.L2, Seed: 1, Threads: 1})
	target := &searches{index: x, queries: enginetest.Clustered(b, 500, 64, 2), dst: make([]indexes.Hit, 0, 10)}
	order := make([]int, target.queries.Len())
	for i := range order {
		order[i] = i
	}
	var bare, client rates
	for b.Loop() {
		bare = target.rates(b, func() int64 {
			n := int64(0)
			for begin := time.Now(); time.Since(begin) < length; n++ {
				if err := target.Do(0, order[n%int64(len(order))]); err != nil {
					b.Fatal(err)
				}
			}
			return n
		})
		client = target.rates(b, func() int64 {
			block, err := bench.RunClosed(b.Context(), target, bench.Closed{Clients: 1, Order: order, MinTime: length})
			if err != nil || block.Errors > 0 {
				b.Fatalf("%d failed: %v", block.Errors, err)
			}
			return block.Samples
		})
	}
	b.ReportMetric(bare.queries, "bare-queries/s")
	b.ReportMetric(bare.switches, "bare-switches/s")
	b.ReportMetric(client.queries, "client-queries/s")
	b.ReportMetric(client.switches, "client-switches/s")
}

// searches is an index as a target of load.
type searches struct {
	index   indexes.Index
	queries *vector.Matrix
	dst     []indexes.Hit
}

func (s *searches) Do(_, query int) (err error) {
	s.dst, err = s.index.Search(indexes.Query{Vector: s.queries.Row(query)}, 10, s.dst)
	return err
}

func (*searches) Keep(int, int, time.Duration, error) {}

// rates are by second.
type rates struct{ queries, switches float64 }

func (*searches) rates(b *testing.B, do func() int64) rates {
	var before, after unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &before); err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	n := do()
	seconds := time.Since(begin).Seconds()
	if err := unix.Getrusage(unix.RUSAGE_SELF, &after); err != nil {
		b.Fatal(err)
	}
	return rates{float64(n) / seconds, float64(after.Nivcsw-before.Nivcsw) / seconds}
}
