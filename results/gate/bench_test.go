package gate

import (
	"testing"

	"frontier/results"
)

// BenchmarkJudge is a gate over 100 points with 185 questions, at each of which a few changed, by four rules. What it
// decides is checked: the one point that lost many questions fails by the two rules of quality.
func BenchmarkJudge(b *testing.B) {
	points := 100
	if testing.Short() {
		points = 10
	}
	base, next := newSample("base"), newSample("next")
	for i := range points {
		for _, s := range []*sample{base, next} {
			p := s.add("point"+string(rune('A'+i)), results.Row{"engine": "faiss", "nprobe": int64(i + 1)}, 0.75, 0.001)
			if s == next {
				p.lose(2)
				p.win(3)
			}
		}
	}
	next.point("pointA").lose(60)
	p, err := Parse("gate.yaml", []byte("rules:\n  - {metric: recall_at_10, max_drop: 0.05}\n  - {metric: ndcg_at_10, max_drop: 5%}\n  - {metric: latency_p99_seconds, max_rise: 10%}\n  - {metric: index_bytes, max_rise: 2%}\n"))
	if err != nil {
		b.Fatal(err)
	}
	baseSide, nextSide := base.side(), next.side()
	for b.Loop() {
		r, err := judgeSides(p, baseSide, nextSide)
		if err != nil {
			b.Fatal(err)
		}
		if got := found(r, Fail); len(got) != 2 || r.Matched() != points+4 {
			b.Fatalf("failed: %v at %d points", got, r.Matched())
		}
	}
	b.ReportMetric(float64(len(p.Rules)*(points+4)), "decisions/op")
}
