package enginetest

import (
	"testing"

	"frontier/indexes"
	"frontier/internal/vector"
)

// Benchmark times one search for 10 hits on sift5k, after checking that recall@10 is at least recall.
func Benchmark(b *testing.B, c Case, recall float64) {
	base, queries := SIFT(b)
	x := c.Build(b, indexes.Input{Vectors: base, Metric: vector.L2, Seed: 1, Threads: 1})
	got := Recall(b, x, base, queries, vector.L2, 10)
	if got < recall {
		b.Fatalf("recall@10 is %.4f, expected at least %.4f", got, recall)
	}
	dst := make([]indexes.Hit, 0, 10)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := x.Search(indexes.Query{Vector: queries.Row(i % queries.Len())}, 10, dst); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(got, "recall@10")
}
