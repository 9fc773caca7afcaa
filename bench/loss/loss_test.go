package loss

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// single is a unit that one engine has at the given ranks.
func single(exact, listed int) Unit { return Unit{Holders: 1, Parts: []Part{{exact, listed}}} }

func hybrid(fused int, parts ...Part) Unit { return Unit{Holders: 1, Parts: parts, Fused: fused} }

func TestEveryClassByConstruction(t *testing.T) {
	with := func(u Unit, change func(*Unit)) Unit { change(&u); return u }
	reranked := func(u Unit, rank int) Unit { return with(u, func(u *Unit) { u.Reranked = rank }) }
	plain, failed, reranks := Query{K: 10}, Query{K: 10, Failed: true}, Query{K: 10, Candidates: 50}
	for _, c := range []struct {
		name string
		q    Query
		u    Unit
		want Class
	}{
		{"at the last rank that counts", plain, single(10, 10), Found},
		{"found though exact search has it behind k", plain, single(11, 10), Found},
		{"in a document that was not indexed", plain, with(single(0, 0), func(u *Unit) { u.Missing = true }), Missing},
		{"not indexed, and the query failed too", failed, Unit{Missing: true}, Missing},
		{"not visible to whoever asks", plain, with(single(0, 0), func(u *Unit) { u.Filtered = true }), Filter},
		{"visible to no one, and cut as well", plain, Unit{Filtered: true, Parts: []Part{{}}}, Filter},
		{"held by no chunk", plain, Unit{Parts: []Part{{}}}, Chunking},
		{"held by no chunk, and the query failed too", failed, Unit{}, Chunking},
		{"of a query that failed", failed, single(1, 1), Failed},
		{"of a query that failed before any part was asked", failed, Unit{Holders: 1}, Failed},
		{"ranked out by the embedder", plain, single(11, 0), Embedding},
		{"ranked out by the embedder, and listed as it should be", plain, single(11, 11), Embedding},
		{"ranked out by BM25", plain, single(200, 200), Embedding},
		{"lost by the index", plain, single(10, 0), ANN},
		{"pushed back by the index", plain, single(10, 11), ANN},
		{"lost in fusion", plain, hybrid(11, Part{1, 1}, Part{0, 0}), Fusion},
		{"lost in fusion though the other part's index lost it", plain, hybrid(0, Part{1, 0}, Part{3, 3}), Fusion},
		{"raised by fusion", plain, hybrid(9, Part{20, 20}, Part{15, 15}), Found},
		{"no part has it, one should", plain, hybrid(12, Part{4, 30}, Part{40, 40}), ANN},
		{"no part has it, the second should", plain, hybrid(12, Part{40, 40}, Part{4, 30}), ANN},
		{"no part has it, none should", plain, hybrid(12, Part{11, 30}, Part{40, 40}), Embedding},
		{"raised by the reranker", reranks, reranked(single(50, 50), 10), Found},
		{"lost by the reranker", reranks, reranked(single(1, 1), 11), Rerank},
		{"left where it was by the reranker", reranks, reranked(single(30, 30), 30), Rerank},
		{"no candidate, as the embedder ranks it out", reranks, single(51, 51), Embedding},
		{"no candidate, as the index lost it", reranks, single(50, 51), ANN},
		{"no candidate, as fusion lost it", reranks, hybrid(51, Part{50, 50}, Part{0, 0}), Fusion},
		{"not in the context", plain, with(single(2, 2), func(u *Unit) { u.CutOff = true }), Budget},
		{"reranked and not in the context", reranks, with(reranked(single(2, 2), 3), func(u *Unit) { u.CutOff = true }), Budget},
		{"behind k, which no context mends", plain, with(single(11, 11), func(u *Unit) { u.CutOff = true }), Embedding},
	} {
		c.q.Units = []Unit{c.u}
		if got, err := Attribute(c.q); err != nil || got[0] != c.want {
			t.Errorf("%s: got %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

func randomUnit(rng *rand.Rand, q Query) Unit {
	u := Unit{
		Missing: rng.IntN(8) == 0, Filtered: rng.IntN(8) == 0, Holders: rng.IntN(3), Fused: rng.IntN(4 * q.K), Reranked: rng.IntN(4 * q.K),
		CutOff: rng.IntN(4) == 0,
	}
	for range 1 + rng.IntN(2) {
		u.Parts = append(u.Parts, Part{rng.IntN(4 * q.K), rng.IntN(4 * q.K)})
	}
	return u
}

func randomQuery(rng *rand.Rand, units int) Query {
	q := Query{K: 1 + rng.IntN(10), Failed: rng.IntN(6) == 0}
	if rng.IntN(2) == 0 {
		q.Candidates = q.K + rng.IntN(20)
	}
	for range units {
		q.Units = append(q.Units, randomUnit(rng, q))
	}
	return q
}

// found says from the definition whether a unit reaches the user.
func found(q Query, u Unit) bool {
	rank := u.Fused
	if len(u.Parts) == 1 {
		rank = u.Parts[0].Listed
	}
	if q.Candidates > 0 {
		rank = u.Reranked
	}
	return !q.Failed && !u.CutOff && rank >= 1 && rank <= q.K
}

// addsUp says whether the losses are exactly what the recall lacks, added in a random order.
func addsUp(rng *rand.Rand, s Shares, recall float64) bool {
	order := Losses()
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	sum := 0.0
	for _, class := range order {
		if s[class] < 0 {
			return false
		}
		sum += s[class]
	}
	return sum == 1-recall && s[Found] == recall
}

func TestLossesAddUpExactly(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	seen := Counts{}
	for range 300 {
		var mean Mean
		recalls := 0.0
		queries := 1 + rng.IntN(60)
		for range queries {
			q := randomQuery(rng, 1+rng.IntN(13))
			all, err := Attribute(q)
			if err != nil {
				t.Fatal(err)
			}
			counts, err := Count(all)
			if err != nil {
				t.Fatal(err)
			}
			hits := 0
			for i, u := range q.Units {
				if found(q, u) != (all[i] == Found) {
					t.Fatalf("%+v: unit %+v is %v", q, u, all[i])
				}
				if found(q, u) {
					hits++
				}
			}
			recall := float64(hits) / float64(len(q.Units))
			shares, err := counts.Shares(recall)
			if err != nil || !addsUp(rng, shares, recall) || counts.Recall() != recall || counts.Units() != len(q.Units) {
				t.Fatalf("%v: %v, %v do not add up to 1 - %v", all, shares, err, recall)
			}
			for class, of := range counts {
				seen[class] += of
				if got := shares[class]; math.Abs(got-float64(of)/float64(len(q.Units))) > 1e-15 {
					t.Fatalf("%v: the share of %v is %v", all, Class(class), got)
				}
			}
			mean.Add(counts)
			recalls += recall
		}
		recall := recalls / float64(queries)
		shares, err := mean.Shares(recall)
		if err != nil || !addsUp(rng, shares, recall) {
			t.Fatalf("%v, %v do not add up to 1 - %v", shares, err, recall)
		}
		total := new(big.Rat)
		for class, exact := range mean.Exact() {
			total.Add(total, exact)
			if want, _ := exact.Float64(); math.Abs(want-shares[class]) > 1e-14 {
				t.Fatalf("the share of %v is %v, exactly %v", Class(class), shares[class], exact)
			}
		}
		if total.Cmp(big.NewRat(1, 1)) != 0 || mean.Queries() != queries {
			t.Fatalf("exact shares of %d queries add up to %v", mean.Queries(), total)
		}
	}
	for class, n := range seen {
		if n < 100 {
			t.Errorf("only %d units were %v", n, Class(class))
		}
	}
}

// Each query counts alike, however many units it has: the mean of recall does the same.
func TestMeanByHand(t *testing.T) {
	var m Mean
	m.Add(Counts{Found: 1, ANN: 1})      // 1/2, 1/2
	m.Add(Counts{Missing: 1, Fusion: 2}) // 1/3, 2/3
	m.Add(Counts{})                      // nothing to explain
	got := m.Exact()
	for class, want := range map[Class]*big.Rat{Found: big.NewRat(1, 4), ANN: big.NewRat(1, 4), Missing: big.NewRat(1, 6), Fusion: big.NewRat(1, 3), Failed: new(big.Rat)} {
		if got[class].Cmp(want) != 0 {
			t.Errorf("the share of %v is %v, want %v", class, got[class], want)
		}
	}
	shares, err := m.Shares(0.25)
	if err != nil || shares.Of(ANN) != 0.25 || math.Abs(shares.Of(Fusion)-1./3) > 1e-15 || shares.Of(Failed) != 0 {
		t.Errorf("%v, %v", shares, err)
	}
}

func TestMistakesAreRefused(t *testing.T) {
	attribute := func(q Query, units ...Unit) error {
		q.Units = units
		_, err := Attribute(q)
		return err
	}
	shares := func(c Counts, recall float64) error {
		_, err := c.Shares(recall)
		return err
	}
	_, unknown := Count([]Class{Found, 77})
	for want, err := range map[string]error{
		"k = 0": attribute(Query{}),
		"9 candidates, which is less than k = 10":   attribute(Query{K: 10, Candidates: 9}),
		"unit 1: no part was asked":                 attribute(Query{K: 10}, single(1, 1), Unit{Holders: 1}),
		"unit 0: part 0 has it at rank -1":          attribute(Query{K: 10}, single(-1, 1)),
		"unit 0: -1 holders":                        attribute(Query{K: 10}, Unit{Holders: -1, Parts: []Part{{}}}),
		"unit 1 has class 77":                       unknown,
		"no query has any relevant gold":            shares(Counts{}, 1),
		"the recall is 0.4, and by what was":        shares(Counts{Found: 1, ANN: 1}, 0.4),
		"the recall is NaN":                         shares(Counts{Found: 1, ANN: 1}, math.NaN()),
		"do not explain the rest":                   shares(Counts{Found: 1}, math.Nextafter(1, 0)),
		"the recall is 1.0000000000000002, and by ": shares(Counts{Found: 1}, math.Nextafter(1, 2)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestNames(t *testing.T) {
	var names []string
	for _, class := range Losses() {
		names = append(names, class.String())
	}
	if got, want := strings.Join(names, " "), "missing filter chunking embedding ann fusion rerank budget failed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if Found.String() != "found" || Class(-1).String() != "class -1" {
		t.Errorf("got %v and %v", Found, Class(-1))
	}
}

// The mean over many queries with many different denominators, which is where exact fractions grow.
func BenchmarkMean(b *testing.B) {
	rng := rand.New(rand.NewPCG(45, 46))
	queries := make([]Counts, 10_000)
	recall := 0.0
	for i := range queries {
		for class := range queries[i] {
			queries[i][class] = rng.IntN(20)
		}
		queries[i][Found]++
		recall += queries[i].Recall()
	}
	recall /= float64(len(queries))
	var shares Shares
	for b.Loop() {
		var m Mean
		for _, c := range queries {
			m.Add(c)
		}
		var err error
		if shares, err = m.Shares(recall); err != nil {
			b.Fatal(err)
		}
	}
	if !addsUp(rng, shares, recall) {
		b.Fatalf("%v do not add up to 1 - %v", shares, recall)
	}
}
