package ranking

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// docs makes the judged units and the list of a ranking of documents.
func docs(judged map[string]int, ranked string) (grades []int, list []Item) {
	units := map[string]int{}
	for id, grade := range judged {
		units[id] = len(grades)
		grades = append(grades, grade)
	}
	for id := range strings.FieldsSeq(ranked) {
		item := Item{}
		if unit, ok := units[id]; ok {
			item = Item{Held: []int{unit}, Judged: true}
		}
		list = append(list, item)
	}
	return grades, list
}

func evaluate(t *testing.T, grades []int, list []Item, ks []int, relevanceMin int) Metrics {
	t.Helper()
	m, err := Evaluate(grades, list, ks, relevanceMin)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9
}

func TestWorkedExample(t *testing.T) {
	queries := []struct {
		gold   map[string]int
		ranked string
		recall float64
		mrr    float64
		ndcg   float64
	}{
		{map[string]int{"d3": 1}, "d8 d3 d1 d4 d2 d9 d6 d10 d12 d13", 1, 0.5, 0.630930},
		{map[string]int{"d7": 1, "d2": 1}, "d2 d6 d4 d7 d1 d3 d8 d11 d5 d9", 1, 1, 0.877215},
		{map[string]int{"d11": 1}, "d11 d2 d3 d4 d1 d6 d7 d8 d10 d12", 1, 1, 1},
		{map[string]int{"d5": 1}, "d1 d2 d3 d6 d8 d9 d10 d12 d13 d14", 0, 0, 0},
	}
	for _, missing := range []bool{false, true} {
		t.Run(fmt.Sprintf("last query missing from the run=%v", missing), func(t *testing.T) {
			var recall, mrr, ndcg, ap, precision float64
			for i, q := range queries {
				if missing && i == 3 {
					q.ranked = ""
				}
				grades, list := docs(q.gold, q.ranked)
				m := evaluate(t, grades, list, []int{5}, 1)
				if m.Recall[0] != q.recall || m.MRRFull != q.mrr || math.Abs(m.NDCG[0]-q.ndcg) > 5e-7 {
					t.Errorf("q%d: recall %v, reciprocal rank %v, nDCG %v; want %v, %v, %v", i+1, m.Recall[0], m.MRRFull, m.NDCG[0], q.recall, q.mrr, q.ndcg)
				}
				recall, mrr, ndcg, ap, precision = recall+m.Recall[0]/4, mrr+m.MRRFull/4, ndcg+m.NDCG[0]/4, ap+m.MAPFull/4, precision+m.Precision[0]/4
			}
			for _, c := range []struct {
				name      string
				got, want float64
				digits    float64
			}{{"recall@5", recall, 0.750, 1e-12}, {"MRR", mrr, 0.625, 1e-12}, {"nDCG@5", ndcg, 0.627, 5e-4}, {"MAP", ap, 0.5625, 1e-12}, {"P@5", precision, 0.2, 1e-12}} {
				if math.Abs(c.got-c.want) > c.digits {
					t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
				}
			}
		})
	}
}

func TestIncompleteJudgements(t *testing.T) {
	judged := map[string]int{"a": 1}
	grades, list := docs(judged, "a")
	if m := evaluate(t, grades, list, []int{1}, 1); m.Recall[0] != 1 || m.Judged[0] != 1 {
		t.Errorf("run {a}: %+v", m)
	}
	grades, list = docs(judged, "b")
	if m := evaluate(t, grades, list, []int{1}, 1); m.Recall[0] != 0 || m.Judged[0] != 0 {
		t.Errorf("run {b}: %+v", m)
	}
}

// log2 of 3 and 4 places, for discounts worked out by hand.
var discount2, discount3 = 1 / math.Log2(3), 0.5

func TestChunks(t *testing.T) {
	for _, c := range []struct {
		name         string
		grades       []int
		list         []Item
		ks           []int
		relevanceMin int
		want         Metrics
	}{
		{
			"one chunk holds both units",
			[]int{2, 1},
			[]Item{{Held: []int{1, 0}}},
			[]int{1, 2},
			1,
			Metrics{
				Recall: []float64{1, 1}, HitRate: []float64{1, 1}, Precision: []float64{1, .5}, MRR: []float64{1, 1},
				NDCG: []float64{1, 1}, MAP: []float64{.5, 1}, Judged: []float64{1, 1}, MRRFull: 1, MAPFull: 1,
				Retrieved: 1, Relevant: 2, RelevantRetrieved: 2,
			},
		},
		{
			"two chunks share a unit",
			[]int{1, 1},
			[]Item{{Held: []int{0}}, {Held: []int{0}}, {Held: []int{1}}},
			[]int{2, 3},
			1,
			Metrics{
				Recall: []float64{.5, 1}, HitRate: []float64{1, 1}, Precision: []float64{1, 1}, MRR: []float64{1, 1},
				NDCG:   []float64{1 / (1 + discount2), (1 + discount3) / (1 + discount2)},
				MAP:    []float64{.5, (1 + 2./3) / 2},
				Judged: []float64{1, 1}, MRRFull: 1, MAPFull: (1 + 2./3) / 2, Retrieved: 3, Relevant: 2, RelevantRetrieved: 2,
			},
		},
		{
			"places behind a full chunk move back",
			[]int{1, 1, 1},
			[]Item{{Held: []int{0, 1}}, {}, {Held: []int{2}}},
			[]int{3},
			1,
			Metrics{
				Recall: []float64{1}, HitRate: []float64{1}, Precision: []float64{2. / 3}, MRR: []float64{1},
				NDCG: []float64{(1 + discount2) / (1 + discount2 + discount3)},
				MAP:  []float64{2. / 3}, Judged: []float64{2. / 3}, MRRFull: 1, MAPFull: (1 + 1 + 3./4) / 3, Retrieved: 3, Relevant: 3, RelevantRetrieved: 3,
			},
		},
		{
			"units that count for nothing take no place",
			[]int{2, 0, -1},
			[]Item{{Held: []int{1, 2}}, {Held: []int{2, 1, 0}}},
			[]int{1, 2},
			1,
			Metrics{
				Recall: []float64{0, 1}, HitRate: []float64{0, 1}, Precision: []float64{0, .5}, MRR: []float64{0, .5},
				NDCG: []float64{0, discount2}, MAP: []float64{0, .5}, Judged: []float64{1, 1}, MRRFull: .5, MAPFull: .5,
				Retrieved: 2, Relevant: 1, RelevantRetrieved: 1,
			},
		},
		{
			"a negative grade is not a judgement",
			[]int{1, -1},
			[]Item{{Held: []int{1}}, {Held: []int{0}}},
			[]int{1},
			1,
			Metrics{
				Recall: []float64{0}, HitRate: []float64{0}, Precision: []float64{0}, MRR: []float64{0}, NDCG: []float64{0}, MAP: []float64{0},
				Judged: []float64{0}, MRRFull: .5, MAPFull: .5, Retrieved: 2, Relevant: 1, RelevantRetrieved: 1,
			},
		},
		{
			"a higher bar for relevance leaves nDCG alone",
			[]int{1, 2},
			[]Item{{Held: []int{0}}, {Held: []int{1}}},
			[]int{2},
			2,
			Metrics{
				Recall: []float64{1}, HitRate: []float64{1}, Precision: []float64{.5}, MRR: []float64{.5},
				NDCG: []float64{(1 + 2*discount2) / (2 + discount2)}, MAP: []float64{.5}, Judged: []float64{1}, MRRFull: .5, MAPFull: .5,
				Retrieved: 2, Relevant: 1, RelevantRetrieved: 1,
			},
		},
		{
			"a unit twice in one chunk gains once",
			[]int{1, 1},
			[]Item{{Held: []int{0, 0}}},
			[]int{1},
			1,
			Metrics{
				Recall: []float64{.5}, HitRate: []float64{1}, Precision: []float64{1}, MRR: []float64{1}, NDCG: []float64{1}, MAP: []float64{.5},
				Judged: []float64{1}, MRRFull: 1, MAPFull: .5, Retrieved: 1, Relevant: 2, RelevantRetrieved: 1,
			},
		},
		{
			"nothing retrieved",
			[]int{1},
			nil,
			[]int{3},
			1,
			Metrics{
				Recall: []float64{0}, HitRate: []float64{0}, Precision: []float64{0}, MRR: []float64{0}, NDCG: []float64{0}, MAP: []float64{0},
				Judged: []float64{math.NaN()}, Relevant: 1,
			},
		},
		{
			"nothing relevant",
			[]int{1, 0},
			[]Item{{Held: []int{0}}, {}},
			[]int{2},
			2,
			Metrics{
				Recall: []float64{math.NaN()}, HitRate: []float64{math.NaN()}, Precision: []float64{math.NaN()}, MRR: []float64{math.NaN()},
				NDCG: []float64{math.NaN()}, MAP: []float64{math.NaN()}, Judged: []float64{.5}, MRRFull: math.NaN(), MAPFull: math.NaN(), Retrieved: 2,
			},
		},
		{"no k", []int{1}, []Item{{Held: []int{0}}}, nil, 1, Metrics{MRRFull: 1, MAPFull: 1, Retrieved: 1, Relevant: 1, RelevantRetrieved: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sameMetrics(t, evaluate(t, c.grades, c.list, c.ks, c.relevanceMin), c.want)
		})
	}
}

func sameMetrics(t *testing.T, got, want Metrics) {
	t.Helper()
	same := near(got.MRRFull, want.MRRFull) && near(got.MAPFull, want.MAPFull) &&
		got.Retrieved == want.Retrieved && got.Relevant == want.Relevant && got.RelevantRetrieved == want.RelevantRetrieved
	for _, pair := range [][2][]float64{
		{got.Recall, want.Recall},
		{got.HitRate, want.HitRate},
		{got.Precision, want.Precision},
		{got.MRR, want.MRR},
		{got.NDCG, want.NDCG},
		{got.MAP, want.MAP},
		{got.Judged, want.Judged},
	} {
		same = same && slices.EqualFunc(pair[0], pair[1], near)
	}
	if !same {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

func TestEvaluateRefuses(t *testing.T) {
	list := []Item{{Held: []int{0}}, {Held: []int{3}}}
	for _, c := range []struct {
		name         string
		grades       []int
		list         []Item
		ks           []int
		relevanceMin int
		want         string
	}{
		{"k = 0", []int{1}, nil, []int{0}, 1, "k = 0"},
		{"k < 0", []int{1}, nil, []int{-5}, 1, "k = -5"},
		{"descending", []int{1}, nil, []int{10, 5}, 1, "k = 5 comes after 10"},
		{"repeated", []int{1}, nil, []int{5, 5}, 1, "k = 5 comes after 5"},
		{"relevance of 0", []int{1}, nil, []int{5}, 0, "smallest relevant grade is 0"},
		{"unit beyond the grades", []int{1, 1, 1}, list, []int{5}, 1, "rank 2 holds unit 3, but there are 3"},
		{"negative unit", []int{1}, []Item{{Held: []int{-1}}}, []int{5}, 1, "rank 1 holds unit -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Evaluate(c.grades, c.list, c.ks, c.relevanceMin); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name   string
		ids    []string
		scores []float64
		want   []int
	}{
		{"by score", []string{"a", "b", "c"}, []float64{1, 3, 2}, []int{1, 2, 0}},
		{"ties by id, descending, by bytes", []string{"d2", "d10", "D9", "d9"}, []float64{1, 1, 1, 1}, []int{3, 0, 1, 2}},
		{"infinities", []string{"a", "b", "c"}, []float64{math.Inf(-1), 0, math.Inf(1)}, []int{2, 1, 0}},
		{"negative zero ties with zero", []string{"a", "b"}, []float64{0, math.Copysign(0, -1)}, []int{1, 0}},
		{"NaN and missing last", []string{"a", "b", "c"}, []float64{math.NaN(), -1}, []int{1, 2, 0}},
		{"none", nil, nil, []int{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Order(c.ids, c.scores); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
