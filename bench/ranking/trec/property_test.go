package trec

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"frontier/datasets"
)

// naive measures one query straight from the definitions: the rank of a document is one more than the number of
// documents before it, and a sum goes over all documents each time.
type naive struct {
	grades       map[string]int     // of judged documents
	scores       map[string]float64 // of retrieved documents
	relevanceMin int
	ranks        map[string]int // of retrieved documents, once they were asked for
}

func (n naive) rank(id string) int {
	if rank := n.ranks[id]; rank > 0 {
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

func (n naive) relevant(id string) bool {
	grade, judged := n.grades[id]
	return judged && grade >= n.relevanceMin
}

func (n naive) irrelevant(id string) bool {
	grade, judged := n.grades[id]
	return judged && grade >= 0 && grade < n.relevanceMin
}

// within counts the retrieved documents that are among the first k.
func (n naive) within(k int, counts func(id string) bool) (count float64) {
	for id := range n.scores {
		if counts(id) && n.rank(id) <= k {
			count++
		}
	}
	return count
}

func (n naive) judgedAs(counts func(id string) bool) (count float64) {
	for id := range n.grades {
		if counts(id) {
			count++
		}
	}
	return count
}

func (n naive) averagePrecision(k int) (ap float64) {
	for id := range n.scores {
		if rank := n.rank(id); n.relevant(id) && rank <= k {
			ap += n.within(rank, n.relevant) / float64(rank)
		}
	}
	return ratio(ap, n.judgedAs(n.relevant))
}

func (n naive) firstRelevant() (first float64) {
	first = math.Inf(1)
	for id := range n.scores {
		if n.relevant(id) {
			first = min(first, float64(n.rank(id)))
		}
	}
	return first
}

func (n naive) ndcg(k int) float64 {
	var got, ideal float64
	for id := range n.scores {
		if rank := n.rank(id); rank <= k {
			got += float64(max(n.grades[id], 0)) / math.Log2(float64(rank)+1)
		}
	}
	for id, grade := range n.grades {
		place := 1 // behind all of a higher grade and, arbitrarily, those of the same with larger ids
		for other, g := range n.grades {
			if g > grade || g == grade && other > id {
				place++
			}
		}
		if place <= k {
			ideal += float64(max(grade, 0)) / math.Log2(float64(place)+1)
		}
	}
	return ratio(got, ideal)
}

// bpref counts, for each relevant document retrieved, the wrong pairs with the first R judged irrelevant ones.
func (n naive) bpref() (sum float64) {
	total := n.judgedAs(n.relevant)
	for id := range n.scores {
		if !n.relevant(id) {
			continue
		}
		wrong := min(n.within(n.rank(id)-1, n.irrelevant), total)
		sum += 1 - ratio(wrong, min(n.judgedAs(n.irrelevant), total))
	}
	return ratio(sum, total)
}

func (n naive) interpolated(level float64) (best float64) {
	needed := math.Round(level * n.judgedAs(n.relevant))
	for rank := 1; rank <= len(n.scores); rank++ {
		if hits := n.within(rank, n.relevant); hits >= needed {
			best = max(best, hits/float64(rank))
		}
	}
	return best
}

// ratio is 0 if there is nothing to divide.
func ratio(a, b float64) float64 {
	if a == 0 {
		return 0
	}
	return a / b
}

func (n naive) figure(name string) float64 {
	const all = math.MaxInt32
	any := func(string) bool { return true }
	retrieved, total := n.within(all, any), n.judgedAs(n.relevant)
	switch name {
	case "num_ret":
		return retrieved
	case "num_rel":
		return total
	case "num_rel_ret":
		return n.within(all, n.relevant)
	case "map", "gm_map":
		return n.averagePrecision(all)
	case "Rprec":
		return ratio(n.within(int(total), n.relevant), total)
	case "bpref":
		return n.bpref()
	case "recip_rank":
		return 1 / n.firstRelevant()
	case "ndcg":
		return n.ndcg(all)
	}
	family, parameter := name[:strings.LastIndexByte(name, '_')], name[strings.LastIndexByte(name, '_')+1:]
	cut, err := strconv.ParseFloat(parameter, 64)
	if err != nil {
		panic(err) // a name that this test made up
	}
	k := int(cut)
	switch family {
	case "iprec_at_recall":
		return n.interpolated(cut)
	case "P":
		return n.within(k, n.relevant) / cut
	case "recall":
		return ratio(n.within(k, n.relevant), total)
	case "ndcg_cut":
		return n.ndcg(k)
	case "map_cut":
		return n.averagePrecision(k)
	case "success":
		return min(n.within(k, n.relevant), 1)
	case "recip_rank_cut":
		if n.firstRelevant() <= cut {
			return 1 / n.firstRelevant()
		}
		return 0
	case "judged":
		return (n.within(k, n.relevant) + n.within(k, n.irrelevant)) / min(cut, retrieved)
	}
	panic(name)
}

const propertyMeasures = "num_ret,num_rel,num_rel_ret,map,gm_map,Rprec,bpref,recip_rank,iprec_at_recall_0.00,iprec_at_recall_0.30,iprec_at_recall_1.00," +
	"P_1,P_3,P_50,recall_1,recall_4,recall_50,ndcg,ndcg_cut_1,ndcg_cut_4,ndcg_cut_50,map_cut_2,map_cut_50,success_1,success_5," +
	"recip_rank_cut_1,recip_rank_cut_3,judged_1,judged_5,judged_50"

// randomQuery has ties in most rankings, unjudged documents, negative grades, and now and then nothing relevant.
func randomQuery(rng *rand.Rand, relevanceMin int) naive {
	n := naive{map[string]int{}, map[string]float64{}, relevanceMin, map[string]int{}}
	scores := 1 + rng.IntN(8)
	for d := range 1 + rng.IntN(14) {
		id := fmt.Sprintf("d%d", d)
		if rng.IntN(3) > 0 {
			n.grades[id] = rng.IntN(5) - 1
		}
		if rng.IntN(3) > 0 {
			n.scores[id] = float64(rng.IntN(scores)) / 4
		}
	}
	n.grades["judged"] = rng.IntN(3)
	return n
}

// On 10,000 random runs every measure of every query, missing ones included, and every total is that of the naive
// implementation to 1e-9.
func TestEqualsNaiveOnRandomRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	all := measures(t, propertyMeasures)
	for i := range 10000 {
		relevanceMin := 1 + rng.IntN(2)
		queries := map[string]naive{}
		var qrels, run bytes.Buffer
		for q := range 1 + rng.IntN(2) {
			n := randomQuery(rng, relevanceMin)
			if q == 0 {
				n.scores["d0"] = 1 // a run is never empty
			}
			id := fmt.Sprintf("q%d", q)
			queries[id] = n
			for document, grade := range n.grades {
				fmt.Fprintf(&qrels, "%s 0 %s %d\n", id, document, grade)
			}
			for document, score := range n.scores { // in random order, so that the ranks below mean nothing
				fmt.Fprintf(&run, "%s Q0 %s 1 %v t\n", id, document, score)
			}
		}
		judgements, err := datasets.ReadQrels("qrels", &qrels, datasets.QrelsTREC)
		if err != nil {
			t.Fatal(err)
		}
		text := run.String()
		report, err := Evaluate(context.Background(), judgements, "run", strings.NewReader(text), Options{Measures: all, RelevanceMin: relevanceMin, Workers: 1 + i%2})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Queries) != len(queries) {
			t.Fatalf("%d queries of %d", len(report.Queries), len(queries))
		}
		for m, measure := range all {
			sum, logs, counted := 0.0, 0.0, 0.0
			for _, q := range report.Queries {
				want := queries[q.ID].figure(measure.Name())
				if !near(q.Figures[m], want) {
					t.Fatalf("%s of %s is %v, want %v: grades %v, run\n%s", measure.Name(), q.ID, q.Figures[m], want, queries[q.ID].grades, text)
				}
				if !math.IsNaN(want) {
					sum, logs, counted = sum+want, logs+math.Log(max(want, 1e-5)), counted+1
				}
			}
			want := sum / counted
			switch {
			case strings.HasPrefix(measure.Name(), "num_"):
				want = sum
			case measure.Name() == "gm_map":
				want = math.Exp(logs / counted)
			}
			if !near(report.Totals[m], want) {
				t.Fatalf("%s in total is %v, want %v", measure.Name(), report.Totals[m], want)
			}
		}
	}
}

func near(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9
}
