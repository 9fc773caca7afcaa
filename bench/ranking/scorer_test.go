package ranking

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func scorer(t testing.TB, relevanceMin int, measures ...string) *Scorer {
	t.Helper()
	all, err := ParseMeasures(measures)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewScorer(all, relevanceMin)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScorerByHand(t *testing.T) {
	for _, c := range []struct {
		name           string
		ranked, judged []int32
		relevanceMin   int
		want           map[string]float64
	}{
		{"bpref over judged documents only", []int32{Unjudged, 0, 1, Unjudged, 1}, []int32{0, 0, 0, 1, 1, 1}, 1, map[string]float64{
			"bpref": (2./3 + 2./3) / 3, "Rprec": 1. / 3, "num_ret": 5, "num_rel": 3, "num_rel_ret": 2, "judged_5": .6, "judged_2": .5,
		}},
		{"bpref with fewer judged irrelevant than relevant", []int32{0, 1}, []int32{0, 1, 1}, 1, map[string]float64{"bpref": 0, "map": .25, "gm_map": .25}},
		{"bpref without any judged irrelevant", []int32{1, Unjudged}, []int32{1, 1}, 1, map[string]float64{"bpref": .5}},
		{"precision is over k and over what was retrieved", []int32{1, 0}, []int32{1, 0}, 1, map[string]float64{"P_5": .2, "judged_5": 1, "recall_5": 1, "success_1": 1}},
		{"reciprocal rank with and without cut-off", []int32{0, 0, 2}, []int32{0, 0, 2}, 2, map[string]float64{"recip_rank": 1. / 3, "recip_rank_cut_2": 0, "recip_rank_cut_3": 1. / 3}},
		{"interpolated precision", []int32{0, 1, 1, 0, 1}, []int32{0, 0, 1, 1, 1, 1}, 1, map[string]float64{
			"iprec_at_recall_0.00": 2. / 3, "iprec_at_recall_0.50": 2. / 3, "iprec_at_recall_0.75": .6, "iprec_at_recall_1.00": 0,
		}},
		{"nDCG takes grades whichever counts as relevant", []int32{1}, []int32{1}, 2, map[string]float64{"ndcg": 1, "ndcg_cut_1": 1, "map": 0, "num_rel": 0}},
		{"nothing relevant", []int32{0, Unjudged}, []int32{0}, 1, map[string]float64{
			"map": 0, "ndcg": 0, "Rprec": 0, "bpref": 0, "recip_rank": 0, "recall_5": 0, "P_5": 0, "success_5": 0, "iprec_at_recall_0.00": 0, "judged_1": 1,
		}},
		{"nothing retrieved", nil, []int32{1, -1}, 1, map[string]float64{"map": 0, "ndcg": 0, "num_rel": 1, "judged_1": math.NaN(), "num_q": 1, "runid": math.NaN()}},
		{"negative grades are no judgements", []int32{-2, 1}, []int32{-2, 1}, 1, map[string]float64{"judged_2": .5, "bpref": 1, "ndcg": 1 / math.Log2(3)}},
	} {
		for name, want := range c.want {
			out := []float64{math.Inf(1)}
			scorer(t, c.relevanceMin, name).Score(c.ranked, c.judged, out)
			if !near(out[0], want) {
				t.Errorf("%s: %s is %v, want %v", c.name, name, out[0], want)
			}
		}
	}
}

func TestNewScorerRefuses(t *testing.T) {
	if _, err := NewScorer(nil, 0); err == nil || !strings.Contains(err.Error(), "smallest relevant grade is 0") {
		t.Errorf("got %v", err)
	}
}

// Where items are documents, Scorer and Evaluate agree.
func TestScorerEqualsEvaluate(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	ks := []int{1, 3, 10}
	s := scorer(t, 1, "recall_1", "recall_3", "recall_10", "success_1", "success_3", "success_10", "P_1", "P_3", "P_10",
		"recip_rank_cut_1", "recip_rank_cut_3", "recip_rank_cut_10", "ndcg_cut_1", "ndcg_cut_3", "ndcg_cut_10", "map_cut_1", "map_cut_3", "map_cut_10",
		"judged_1", "judged_3", "judged_10", "recip_rank", "map", "num_ret", "num_rel", "num_rel_ret")
	for range 3000 {
		judged := make([]int32, 1+rng.IntN(12))
		grades := make([]int, len(judged))
		for i := range judged {
			grades[i] = rng.IntN(5) - 1
			judged[i] = int32(grades[i])
		}
		grades[0], judged[0] = 1, 1
		var list []Item
		var ranked []int32
		for _, unit := range rng.Perm(len(judged) + 8)[:rng.IntN(len(judged)+8)] {
			if unit < len(judged) {
				list, ranked = append(list, Item{Held: []int{unit}}), append(ranked, judged[unit])
			} else {
				list, ranked = append(list, Item{}), append(ranked, Unjudged)
			}
		}
		m := evaluate(t, grades, list, ks, 1)
		want := slices.Concat(m.Recall, m.HitRate, m.Precision, m.MRR, m.NDCG, m.MAP, m.Judged,
			[]float64{m.MRRFull, m.MAPFull, float64(m.Retrieved), float64(m.Relevant), float64(m.RelevantRetrieved)})
		got := make([]float64, len(s.Measures()))
		s.Score(ranked, judged, got)
		if !slices.EqualFunc(got, want, near) {
			t.Fatalf("ranked %v, judged %v: got %v, want %v", ranked, judged, got, want)
		}
	}
}

func TestTotals(t *testing.T) {
	all, err := ParseMeasures([]string{"num_q", "num_ret", "map", "gm_map", "judged_5", "runid"})
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	got := Totals(all, [][]float64{{1, 10, .5, .5, .2, nan}, {1, 4, 0, 0, nan, nan}, {1, 0, .1, .1, .4, nan}})
	want := []float64{3, 14, .2, math.Cbrt(.5 * .00001 * .1), .3, nan}
	if !slices.EqualFunc(got, want, near) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Totals(all, [][]float64{{1, 0, 0, 0, nan, nan}}); !math.IsNaN(got[4]) {
		t.Errorf("the mean of no figure is %v", got[4])
	}
}

func TestScorerDoesNotAllocate(t *testing.T) {
	s := scorer(t, 1, "official", "ndcg_cut", "judged")
	ranked, judged, out := make([]int32, 1000), []int32{3, 0, 1, 2}, make([]float64, len(s.Measures()))
	s.Score(ranked, judged, out)
	if n := testing.AllocsPerRun(20, func() { s.Score(ranked, judged, out) }); n != 0 {
		t.Errorf("%v allocations a query", n)
	}
}
