package trec

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"frontier/datasets"
)

// 200 queries of 1,000 results each, reading included. Every tenth result is relevant, so that the answer is known.
func BenchmarkEvaluate(b *testing.B) {
	const queries, results, every = 200, 1000, 10
	var run, judgements bytes.Buffer
	for q := range queries {
		for d := range results {
			fmt.Fprintf(&run, "%d Q0 document-%06d %d %.4f benchmark\n", q, (d*7919+q)%1000000, d+1, float64(results-d)/7)
			if d%every == every-1 {
				fmt.Fprintf(&judgements, "%d 0 document-%06d 1\n", q, (d*7919+q)%1000000)
			}
		}
	}
	o := Options{Measures: measures(b, "map,recip_rank,P_10,recall_100,ndcg_cut_10"), RelevanceMin: 1, Workers: runtime.GOMAXPROCS(0)}
	qrels, err := datasets.ReadQrels("qrels", &judgements, datasets.QrelsTREC)
	if err != nil {
		b.Fatal(err)
	}
	ideal := 0.0
	for rank := 1; rank <= 10; rank++ {
		ideal += 1 / math.Log2(float64(rank)+1)
	}
	want := []float64{0.1, 0.1, 0.1, 0.1, 1 / math.Log2(11) / ideal}
	b.SetBytes(int64(run.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Evaluate(context.Background(), qrels, "run", bytes.NewReader(run.Bytes()), o)
		if err != nil {
			b.Fatal(err)
		}
		for i, figure := range r.Totals {
			if !near(figure, want[i]) {
				b.Fatalf("%s is %v, want %v", o.Measures[i].Name(), figure, want[i])
			}
		}
	}
}
