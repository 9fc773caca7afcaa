package spans

import (
	"fmt"
	"math"
	"slices"
)

// Score is how much of what was retrieved is gold, as lengths, so that sums over queries are exact.
type Score struct {
	Found     int // what is both retrieved and gold, each place once
	Gold      int // the gold, each place once
	Retrieved int // the sum over retrieved chunks
}

// Recall is Found/Gold, in [0,1]; NaN without gold.
func (s Score) Recall() float64 { return float64(s.Found) / float64(s.Gold) }

// Precision is Found/Retrieved, in [0,1]. Where there is gold and nothing was retrieved it is 0, so that a query without
// an answer does not vanish from a mean; without gold it is NaN.
func (s Score) Precision() float64 {
	if s.Gold == 0 {
		return math.NaN()
	}
	if s.Retrieved == 0 {
		return 0
	}
	return float64(s.Found) / float64(s.Retrieved)
}

// IoU is Found/(Retrieved + gold that was not found), in [0,1]; NaN without gold.
func (s Score) IoU() float64 {
	if s.Gold == 0 {
		return math.NaN()
	}
	return float64(s.Found) / float64(s.Retrieved+s.Gold-s.Found)
}

// Gold is the gold of one query, ready for scoring. It serves one goroutine at a time.
type Gold struct {
	units   []Unit
	fixed   []Span   // gold whichever places are chosen, as a union: of the units that have one place
	choices [][]Span // the places of each unit that has several
	regions []Span   // the union of all places of all units
	touched []touched
	scratch []Span
	chosen  []Span
}

// touched is a retrieved chunk that overlaps some gold, with its rank from 0.
type touched struct {
	rank int
	span Span
}

// NewGold prepares the relevant units of a query. The units stay the caller's and must not change. A unit without spans,
// or with one that is no range, is an error; only whole documents may be empty, and then have no length to be found.
func NewGold(units []Unit) (*Gold, error) {
	g := &Gold{units: units}
	for i, u := range units {
		if len(u.Spans) == 0 {
			return nil, fmt.Errorf("span scoring: unit %d of the gold has no spans", i)
		}
		places := u.Spans
		if u.Whole {
			places = slices.DeleteFunc(slices.Clone(places), func(s Span) bool { return s.Len() == 0 })
		}
		for _, s := range places {
			if err := s.check(); err != nil {
				return nil, fmt.Errorf("span scoring: unit %d of the gold: %w", i, err)
			}
		}
		if len(places) > 1 {
			g.choices = append(g.choices, places)
		} else {
			g.fixed = append(g.fixed, places...)
		}
		g.regions = append(g.regions, places...)
	}
	g.fixed, g.regions = union(g.fixed), union(g.regions)
	return g, nil
}

// Score measures the first k chunks of a ranking for each of ks, which must be positive and ascend; there may be fewer
// chunks. Of a chunk in a document without gold only the length matters.
func (g *Gold) Score(ranked []Span, ks []int) ([]Score, error) {
	for i, k := range ks {
		if k < 1 || i > 0 && k <= ks[i-1] {
			return nil, fmt.Errorf("span scoring: k = %d; cut-offs must be at least 1 and ascend", k)
		}
	}
	if err := g.touch(ranked); err != nil {
		return nil, err
	}
	scores := make([]Score, len(ks))
	rank, retrieved := 0, 0
	for i, k := range ks {
		for ; rank < min(k, len(ranked)); rank++ {
			retrieved += ranked[rank].Len()
		}
		scores[i] = g.within(k)
		scores[i].Retrieved = retrieved
	}
	return scores, nil
}

// touch finds the chunks that overlap some gold.
func (g *Gold) touch(ranked []Span) error {
	g.touched = g.touched[:0]
	for rank, s := range ranked {
		if err := s.check(); err != nil {
			return fmt.Errorf("span scoring: the chunk at rank %d: %w", rank+1, err)
		}
		if touches(s, g.regions) {
			g.touched = append(g.touched, touched{rank, s})
		}
	}
	return nil
}

// within scores the touched chunks among the first k.
func (g *Gold) within(k int) Score {
	got := g.scratch[:0]
	for _, t := range g.touched {
		if t.rank >= k {
			break
		}
		got = append(got, t.span)
	}
	got = union(got)
	g.scratch = got[:0]
	gold := g.choose(got)
	return Score{Found: shared(got, gold), Gold: length(gold)}
}

// choose is the union of the gold, with that span of each unit that got covers best.
func (g *Gold) choose(got []Span) []Span {
	if len(g.choices) == 0 {
		return g.fixed
	}
	chosen := append(g.chosen[:0], g.fixed...)
	for _, places := range g.choices {
		chosen = append(chosen, best(places, func(s Span) float64 { return float64(covered(s, got)) / float64(s.Len()) }))
	}
	chosen = union(chosen)
	g.chosen = chosen[:0]
	return chosen
}

// best is the span of the greatest value, the first of equals.
func best(spans []Span, value func(Span) float64) Span {
	first, most := spans[0], value(spans[0])
	for _, s := range spans[1:] {
		if v := value(s); v > most {
			first, most = s, v
		}
	}
	return first
}
