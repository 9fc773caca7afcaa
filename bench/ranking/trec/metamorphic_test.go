package trec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"frontier/bench/ranking"
)

// written is a random run and its judgements as text, every document renamed.
func written(queries map[string]naive, rename func(string) string) (qrels, run string) {
	var judged, ranked strings.Builder
	for id, n := range queries {
		for document, grade := range n.grades {
			fmt.Fprintf(&judged, "%s 0 %s %d\n", id, rename(document), grade)
		}
		for document, score := range n.scores {
			fmt.Fprintf(&ranked, "%s Q0 %s 1 %v t\n", id, rename(document), score)
		}
	}
	return judged.String(), ranked.String()
}

func sameFigures(a, b []Query) bool {
	return slices.EqualFunc(a, b, func(x, y Query) bool { return x.ID == y.ID && slices.EqualFunc(x.Figures, y.Figures, near) })
}

// What documents are called, what else was asked, and how often a wrong answer could have been given change nothing.
func TestMetamorphic(t *testing.T) {
	rng := rand.New(rand.NewPCG(47, 48))
	all := measures(t, propertyMeasures)
	options := func() Options { return Options{Measures: all, RelevanceMin: 1} }
	for range 120 {
		queries := map[string]naive{}
		for q := range 1 + rng.IntN(3) {
			n := randomQuery(rng, 1)
			n.scores["d0"] = 1
			queries[fmt.Sprintf("q%d", q)] = n
		}
		qrels, run := written(queries, func(id string) string { return id })
		evaluate := func(qrels, run string) *Report {
			t.Helper()
			r, err := evaluateText(t, qrels, strings.NewReader(run), options())
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		want := evaluate(qrels, run)

		// Ties go by id, so other names that sort alike give the same figures.
		prefix := string(rune('a' + rng.IntN(26)))
		if got := evaluate(written(queries, func(id string) string { return prefix + id + "-x" })); !sameFigures(got.Queries, want.Queries) {
			t.Fatalf("renamed in order: %v, before %v", got.Queries, want.Queries)
		}

		// Without ties any other names do.
		untied := map[string]naive{}
		for id, n := range queries {
			scores := map[string]float64{}
			for document := range n.scores {
				scores[document] = float64(len(scores))
			}
			untied[id] = naive{n.grades, scores, 1, map[string]int{}}
		}
		before := evaluate(written(untied, func(id string) string { return id }))
		names := map[string]string{}
		got := evaluate(written(untied, func(id string) string {
			if names[id] == "" {
				names[id] = fmt.Sprintf("n%d-%d", rng.IntN(1000), len(names))
			}
			return names[id]
		}))
		if !sameFigures(got.Queries, before.Queries) {
			t.Fatalf("renamed at random: %v, before %v", got.Queries, before.Queries)
		}

		// A question that nobody judged is ignored and said so.
		got = evaluate(qrels, run+"stranger Q0 d1 1 9 t\n")
		if !sameFigures(got.Queries, want.Queries) || !slices.EqualFunc(got.Totals, want.Totals, near) || got.Ignored != want.Ignored+1 {
			t.Fatalf("with a question that was not judged: %v, %d ignored; before %v", got.Queries, got.Ignored, want.Queries)
		}

		// A judged question without anything relevant is one more zero in the means, and changes no other.
		got = evaluate(qrels+"zz 0 d1 0\n", run+"zz Q0 d1 1 9 t\n")
		if last := len(got.Queries) - 1; !sameFigures(got.Queries[:last], want.Queries) || got.Queries[last].ID != "zz" {
			t.Fatalf("with a question without anything relevant: %v, before %v", got.Queries, want.Queries)
		}
		n := float64(len(want.Queries))
		i := slices.IndexFunc(all, func(m ranking.Measure) bool { return m.Name() == "map" })
		if !near(got.Totals[i], want.Totals[i]*n/(n+1)) {
			t.Fatalf("with a question without anything relevant map is %v, before %v over %v", got.Totals[i], want.Totals[i], n)
		}

		// A document twice in one ranking is refused, wherever it is.
		lines := strings.SplitAfter(run, "\n")
		again := lines[rng.IntN(len(lines)-1)]
		if _, err := evaluateText(t, qrels, strings.NewReader(run+again), options()); err == nil || !strings.Contains(err.Error(), "has document") {
			t.Fatalf("%q twice: %v", again, err)
		}
	}
}
