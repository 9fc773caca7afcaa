package ranking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// naive measures a run of documents straight from the definitions, one measure at a time: the rank of a document is
// one more than the number of documents before it.
type naive struct {
	grades map[string]int
	scores map[string]float64
	ranks  map[string]int // those that were asked for before
}

func (n naive) rank(id string) int {
	if rank, ok := n.ranks[id]; ok {
		return rank
	}
	rank := 1
	for other, score := range n.scores {
		if score > n.scores[id] || score == n.scores[id] && other > id {
			rank++
		}
	}
	n.ranks[id] = rank
	return rank
}

// at sums value over the retrieved documents that are among the first k.
func (n naive) at(k int, value func(id string, rank int) float64) (sum float64) {
	for id := range n.scores {
		if rank := n.rank(id); rank <= k {
			sum += value(id, rank)
		}
	}
	return sum
}

func (n naive) metrics(ks []int, relevanceMin int) Metrics {
	relevant := func(id string, _ int) float64 {
		if n.grades[id] >= relevanceMin {
			return 1
		}
		return 0
	}
	total := 0.0
	for id := range n.grades {
		total += relevant(id, 0)
	}
	first := math.Inf(1)
	for id := range n.scores {
		if relevant(id, 0) == 1 {
			first = min(first, float64(n.rank(id)))
		}
	}
	ap := func(k int) float64 {
		return n.at(k, func(id string, rank int) float64 {
			return relevant(id, rank) * n.at(rank, relevant) / float64(rank)
		}) / total
	}
	gain := func(grade, rank int) float64 { return max(float64(grade), 0) * math.Ln2 / math.Log(float64(rank)+1) }
	// The ideal: a document stands behind all of higher grade and, arbitrarily, behind those of the same with larger ids.
	ideal := func(k int) (sum float64) {
		for id, grade := range n.grades {
			place := 1
			for other, g := range n.grades {
				if g > grade || g == grade && other > id {
					place++
				}
			}
			if place <= k {
				sum += gain(grade, place)
			}
		}
		return sum
	}
	out := Metrics{
		Retrieved: len(n.scores), Relevant: int(total), RelevantRetrieved: int(n.at(math.MaxInt, relevant)),
		MRRFull: 1 / first, MAPFull: ap(math.MaxInt),
	}
	for _, k := range ks {
		hits := n.at(k, relevant)
		mrr := 0.0
		if first <= float64(k) {
			mrr = 1 / first
		}
		out.Recall = append(out.Recall, hits/total)
		out.HitRate = append(out.HitRate, min(hits, 1))
		out.Precision = append(out.Precision, hits/float64(k))
		out.MRR = append(out.MRR, mrr)
		out.MAP = append(out.MAP, ap(k))
		out.NDCG = append(out.NDCG, n.at(k, func(id string, rank int) float64 { return gain(n.grades[id], rank) })/ideal(k))
		judged := n.at(k, func(id string, _ int) float64 {
			if grade, ok := n.grades[id]; ok && grade >= 0 {
				return 1
			}
			return 0
		})
		out.Judged = append(out.Judged, judged/float64(min(k, len(n.scores))))
	}
	return out
}

// On 10,000 random runs, most of them with ties, every metric is that of the naive implementation to 1e-9.
func TestEqualsNaiveOnRandomRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	ks := []int{1, 2, 3, 5, 8, 40}
	for runs := 0; runs < 10_000; {
		n := naive{map[string]int{}, map[string]float64{}, map[string]int{}}
		for d := range 1 + rng.IntN(25) {
			id := fmt.Sprintf("d%d", d)
			if rng.IntN(3) > 0 {
				n.grades[id] = rng.IntN(5) - 1
			}
			if rng.IntN(3) > 0 {
				n.scores[id] = float64(rng.IntN(6)) // many ties
			}
		}
		relevanceMin := 1 + rng.IntN(2)
		units := map[string]int{}
		var grades []int
		for id, grade := range n.grades {
			units[id] = len(grades)
			grades = append(grades, grade)
		}
		if !slices.ContainsFunc(grades, func(g int) bool { return g >= relevanceMin }) {
			continue
		}
		runs++
		var ids []string
		var scores []float64
		for id, score := range n.scores {
			ids, scores = append(ids, id), append(scores, score)
		}
		var list []Item
		for _, i := range Order(ids, scores) {
			item := Item{}
			if unit, ok := units[ids[i]]; ok {
				item.Held = []int{unit}
			}
			list = append(list, item)
		}
		sameMetrics(t, evaluate(t, grades, list, ks, relevanceMin), n.metrics(ks, relevanceMin))
	}
}

// chunked is a random list of chunks over random units, of which some are relevant.
func chunked(rng *rand.Rand) (grades []int, list []Item) {
	grades = make([]int, 1+rng.IntN(6))
	for i := range grades {
		grades[i] = rng.IntN(5) - 1
	}
	grades[0] = 1 + rng.IntN(3)
	list = make([]Item, rng.IntN(9))
	for i := range list {
		for range rng.IntN(4) {
			list[i].Held = append(list[i].Held, rng.IntN(len(grades)))
		}
	}
	return grades, list
}

var propertyCuts = []int{1, 2, 4, 7, 30}

// A list of chunks has the nDCG of the list of units that it expands to.
func TestChunksEqualTheirExpansion(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 4000 {
		grades, list := chunked(rng)
		seen := map[int]bool{}
		var expanded []Item
		for _, item := range list {
			var fresh []int
			for _, unit := range item.Held {
				if !seen[unit] && grades[unit] > 0 {
					fresh = append(fresh, unit)
				}
				seen[unit] = true
			}
			slices.SortFunc(fresh, func(a, b int) int { return grades[b] - grades[a] })
			for _, unit := range fresh {
				expanded = append(expanded, Item{Held: []int{unit}})
			}
			if fresh == nil {
				expanded = append(expanded, Item{})
			}
		}
		got, want := evaluate(t, grades, list, propertyCuts, 1), evaluate(t, grades, expanded, propertyCuts, 1)
		if !slices.EqualFunc(got.NDCG, want.NDCG, near) || !slices.EqualFunc(got.MAP, want.MAP, near) || !near(got.MAPFull, want.MAPFull) {
			t.Fatalf("grades %v, list %v: nDCG %v, MAP %v; expanded %v, %v", grades, list, got.NDCG, got.MAP, want.NDCG, want.MAP)
		}
	}
}

func TestMetamorphic(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 4000 {
		grades, list := chunked(rng)
		m := evaluate(t, grades, list, propertyCuts, 1)

		for i := range propertyCuts {
			for _, v := range []float64{m.Recall[i], m.HitRate[i], m.Precision[i], m.MRR[i], m.NDCG[i], m.MAP[i]} {
				if !(v >= 0 && v <= 1+1e-12) {
					t.Fatalf("grades %v, list %v: %v is outside of [0,1]", grades, list, v)
				}
			}
			if i > 0 && (m.Recall[i] < m.Recall[i-1] || m.HitRate[i] < m.HitRate[i-1] || m.MRR[i] < m.MRR[i-1] || m.MAP[i] < m.MAP[i-1]) {
				t.Fatalf("grades %v, list %v: a larger k lowered recall, hits, MRR or MAP: %+v", grades, list, m)
			}
		}

		// Which index a unit has does not matter.
		perm := rng.Perm(len(grades))
		moved := make([]int, len(grades))
		for unit, to := range perm {
			moved[to] = grades[unit]
		}
		renamed := make([]Item, len(list))
		for i, item := range list {
			for _, unit := range item.Held {
				renamed[i].Held = append(renamed[i].Held, perm[unit])
			}
		}
		sameMetrics(t, evaluate(t, moved, renamed, propertyCuts, 1), m)

		// Gains that are all twice as large give the same nDCG.
		doubled := make([]int, len(grades))
		for i, g := range grades {
			doubled[i] = 2 * g
		}
		sameMetrics(t, evaluate(t, doubled, list, propertyCuts, 2), m)

		// A chunk that comes a second time gains nothing and moves nothing that stood before it.
		if len(list) > 0 {
			from := rng.IntN(len(list))
			at := from + 1 + rng.IntN(len(list)-from)
			again := evaluate(t, grades, slices.Insert(slices.Clone(list), at, list[from]), propertyCuts, 1)
			for i, k := range propertyCuts {
				if again.Recall[i] > m.Recall[i] || again.NDCG[i] > m.NDCG[i]+1e-12 || again.MAP[i] > m.MAP[i]+1e-12 || again.MRR[i] > m.MRR[i] || again.HitRate[i] > m.HitRate[i] {
					t.Fatalf("grades %v, list %v: item %d again at %d: %+v, before %+v", grades, list, from, at, again, m)
				}
				if k <= at && (again.Recall[i] != m.Recall[i] || again.MRR[i] != m.MRR[i] || again.Precision[i] != m.Precision[i]) {
					t.Fatalf("grades %v, list %v: item %d again at %d changes what is within the first %d", grades, list, from, at, k)
				}
			}
			if again.RelevantRetrieved != m.RelevantRetrieved || again.Retrieved != m.Retrieved+1 {
				t.Fatalf("grades %v, list %v: item %d again at %d: %+v", grades, list, from, at, again)
			}
		}

		// Items behind the last k change nothing within it.
		last := propertyCuts[len(propertyCuts)-1]
		longer := slices.Clone(list)
		for len(longer) < last {
			longer = append(longer, Item{Judged: true})
		}
		padded := evaluate(t, grades, longer, propertyCuts, 1)
		beyond := evaluate(t, grades, append(longer, Item{Held: []int{0}}), propertyCuts, 1)
		if !slices.EqualFunc(padded.NDCG, beyond.NDCG, near) || !slices.Equal(padded.Recall, beyond.Recall) || !slices.Equal(padded.Recall, m.Recall) {
			t.Fatalf("grades %v, list %v: items behind the last k count", grades, list)
		}

		// Moving an item that holds nothing behind its successor never lowers a metric.
		for i := 0; i+1 < len(list); i++ {
			if len(list[i].Held) > 0 {
				continue
			}
			better := slices.Clone(list)
			better[i], better[i+1] = better[i+1], better[i]
			b := evaluate(t, grades, better, propertyCuts, 1)
			for j := range propertyCuts {
				if b.Recall[j] < m.Recall[j] || b.MRR[j] < m.MRR[j] || b.NDCG[j] < m.NDCG[j]-1e-12 || b.MAP[j] < m.MAP[j]-1e-12 || b.Precision[j] < m.Precision[j] {
					t.Fatalf("grades %v, list %v: moving empty item %d back lowered a metric", grades, list, i)
				}
			}
		}

		// All units, best first, cannot be bettered.
		order := make([]int, len(grades))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return grades[b] - grades[a] })
		best := make([]Item, len(order))
		for i, unit := range order {
			best[i].Held = []int{unit}
		}
		b := evaluate(t, grades, best, propertyCuts, 1)
		if b.MAPFull != 1 || b.MRRFull != 1 || slices.Min(b.NDCG) != 1 || slices.Max(b.NDCG) != 1 {
			t.Fatalf("grades %v: the best order scores %+v", grades, b)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	grades := make([]int, 20)
	for i := range grades {
		grades[i] = i % 3
	}
	list := make([]Item, 100)
	for i := range grades {
		list[5*i] = Item{Held: []int{i}, Judged: true}
	}
	var m Metrics
	for b.Loop() {
		var err error
		if m, err = Evaluate(grades, list, []int{1, 5, 10, 100}, 1); err != nil {
			b.Fatal(err)
		}
	}
	if m.Recall[3] != 1 || m.RelevantRetrieved != 13 {
		b.Fatalf("wrong answer %+v", m)
	}
}
