package spans

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// place is one position of a document.
type place struct{ doc, at int }

// naive scores position by position.
type naive struct{ units []Unit }

func placesOf(spans ...Span) map[place]bool {
	all := map[place]bool{}
	for _, s := range spans {
		for at := s.Start; at < s.End; at++ {
			all[place{s.Doc, at}] = true
		}
	}
	return all
}

func common(a, b map[place]bool) (n int) {
	for p := range a {
		if b[p] {
			n++
		}
	}
	return n
}

func (n naive) score(chunks []Span) Score {
	got := placesOf(chunks...)
	var chosen []Span
	for _, u := range n.units {
		first, most := Span{}, -1.0
		for _, s := range u.Spans {
			if share := float64(common(placesOf(s), got)) / float64(s.Len()); share > most {
				first, most = s, share
			}
		}
		chosen = append(chosen, first)
	}
	gold := placesOf(chosen...)
	out := Score{Found: common(gold, got), Gold: len(gold)}
	for _, c := range chunks {
		out.Retrieved += c.Len()
	}
	return out
}

func (n naive) holds(c Span, u Unit, rule Rule) bool {
	chunk := placesOf(c)
	return slices.ContainsFunc(u.Spans, func(s Span) bool {
		wanted := placesOf(s)
		switch {
		case u.Whole:
			return s.Doc == c.Doc
		case rule == Contain:
			return common(wanted, chunk) == len(wanted)
		}
		return common(wanted, chunk) > 0
	})
}

func randomSpan(rng *rand.Rand) Span {
	start := rng.IntN(40)
	return Span{Doc: rng.IntN(3), Start: start, End: start + 1 + rng.IntN(20)}
}

func randomSpans(rng *rand.Rand, n int) []Span {
	all := make([]Span, n)
	for i := range all {
		all[i] = randomSpan(rng)
	}
	return all
}

func randomUnits(rng *rand.Rand) []Unit {
	units := make([]Unit, 1+rng.IntN(4))
	for i := range units {
		units[i] = Unit{Spans: randomSpans(rng, 1+max(rng.IntN(5)-2, 0)), Whole: rng.IntN(5) == 0}
	}
	return units
}

func prepared(t testing.TB, units []Unit) *Gold {
	t.Helper()
	g, err := NewGold(units)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func scored(t testing.TB, g *Gold, ranked []Span, ks ...int) []Score {
	t.Helper()
	scores, err := g.Score(ranked, ks)
	if err != nil {
		t.Fatal(err)
	}
	return scores
}

func chunksOf(t testing.TB, spans []Span) *Chunks {
	t.Helper()
	var docs, starts, ends []int32
	for _, s := range spans {
		docs, starts, ends = append(docs, int32(s.Doc)), append(starts, int32(s.Start)), append(ends, int32(s.End))
	}
	c, err := NewChunks(docs, starts, ends)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestScoreEqualsNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for range 1500 {
		units := randomUnits(rng)
		g := prepared(t, units)
		for range 2 { // the second time with used scratch memory
			ranked := randomSpans(rng, rng.IntN(8))
			ks := []int{1, 3, 5, 100}
			for i, got := range scored(t, g, ranked, ks...) {
				if want := (naive{units}).score(ranked[:min(ks[i], len(ranked))]); got != want {
					t.Fatalf("units %v, chunks %v, k %d: got %+v, want %+v", units, ranked, ks[i], got, want)
				}
			}
		}
	}
}

func TestHoldersAndCeilingEqualNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for range 1500 {
		spans := randomSpans(rng, rng.IntN(15))
		c := chunksOf(t, spans)
		units := randomUnits(rng)
		g := prepared(t, units)
		n := naive{units}
		for _, rule := range []Rule{Overlap, Contain} {
			held := 0
			for _, u := range units {
				var want []int
				for id, s := range spans {
					if n.holds(s, u, rule) != rule.Holds(s, u) {
						t.Fatalf("%v: unit %v, chunk %v: Holds is %v", rule, u, s, rule.Holds(s, u))
					}
					if n.holds(s, u, rule) {
						want = append(want, id)
					}
				}
				if got := c.Holders(nil, u, rule); !slices.Equal(got, want) {
					t.Fatalf("%v: unit %v, chunks %v: held by %v, want %v", rule, u, spans, got, want)
				}
				if want != nil {
					held++
				}
			}
			if got := rule.Held(spans, units); got != held {
				t.Fatalf("%v: units %v, chunks %v: %d held, want %d", rule, units, spans, got, held)
			}
			got := c.Ceiling(g, rule)
			if got.Held != held || got.Units != len(units) {
				t.Fatalf("%v: units %v, chunks %v: %+v, want %d held", rule, units, spans, got, held)
			}
			if slices.ContainsFunc(units, func(u Unit) bool { return len(u.Spans) > 1 }) {
				continue // which span is chosen is for a test of its own
			}
			var touching []Span
			for _, s := range spans {
				if slices.ContainsFunc(units, func(u Unit) bool { return s.overlaps(u.Spans[0]) }) {
					touching = append(touching, s)
				}
			}
			if want := n.score(touching); got.Omega != want {
				t.Fatalf("units %v, chunks %v: omega %+v, want %+v", units, spans, got.Omega, want)
			}
		}
	}
}
