package spans

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func one(doc, start, end int) Unit { return Unit{Spans: []Span{{doc, start, end}}} }

func TestScoreByHand(t *testing.T) {
	for name, c := range map[string]struct {
		units                  []Unit
		ranked                 []Span
		recall, precision, iou float64
	}{
		"a chunk that is the gold":                                          {[]Unit{one(0, 10, 20)}, []Span{{0, 10, 20}}, 1, 1, 1},
		"half of the gold, half of it not":                                  {[]Unit{one(0, 10, 20)}, []Span{{0, 15, 25}}, .5, .5, 5. / 15},
		"what two chunks share counts once as found and twice as retrieved": {[]Unit{one(0, 0, 10)}, []Span{{0, 0, 10}, {0, 5, 15}}, 1, .5, .5},
		"gold that overlaps counts once":                                    {[]Unit{one(0, 0, 10), one(0, 5, 20)}, []Span{{0, 0, 20}}, 1, 1, 1},
		"another document":                                                  {[]Unit{one(0, 0, 10)}, []Span{{1, 0, 10}}, 0, 0, 0},
		"touching ends share nothing":                                       {[]Unit{one(0, 0, 10)}, []Span{{0, 10, 20}}, 0, 0, 0},
		"nothing retrieved":                                                 {[]Unit{one(0, 0, 10)}, nil, 0, 0, 0},
		"the place that is covered best counts":                             {[]Unit{{Spans: []Span{{0, 0, 10}, {1, 0, 10}}}}, []Span{{1, 2, 12}}, .8, .8, 8. / 12},
		"the same text a second time adds nothing":                          {[]Unit{{Spans: []Span{{0, 0, 10}, {1, 0, 10}}}}, []Span{{1, 0, 10}, {0, 0, 10}}, 1, .5, .5},
	} {
		s := scored(t, prepared(t, c.units), c.ranked, 10)[0]
		if s.Recall() != c.recall || s.Precision() != c.precision || s.IoU() != c.iou {
			t.Errorf("%s: recall %v, precision %v, IoU %v; want %v, %v, %v", name, s.Recall(), s.Precision(), s.IoU(), c.recall, c.precision, c.iou)
		}
	}
	// A document without text is judged all the same, and adds nothing to what can be found.
	blank := Unit{Spans: []Span{{3, 0, 0}}, Whole: true}
	g := prepared(t, []Unit{blank, one(0, 0, 10)})
	if s := scored(t, g, []Span{{0, 0, 10}, {3, 0, 5}}, 2)[0]; s != (Score{Found: 10, Gold: 10, Retrieved: 15}) {
		t.Errorf("with an empty document: %+v", s)
	}
	if c := chunksOf(t, []Span{{0, 0, 10}}).Ceiling(g, Contain); c.Held != 1 || c.Units != 2 || c.Omega != (Score{Found: 10, Gold: 10, Retrieved: 10}) {
		t.Errorf("with an empty document: %+v", c)
	}
	// So it is where another document would do as well, whichever comes first.
	for _, spans := range [][]Span{{{3, 0, 0}, {1, 0, 10}}, {{1, 0, 10}, {3, 0, 0}}} {
		g := prepared(t, []Unit{{Spans: spans, Whole: true}})
		if s := scored(t, g, []Span{{1, 5, 15}}, 1)[0]; s != (Score{Found: 5, Gold: 10, Retrieved: 10}) {
			t.Errorf("%v: %+v", spans, s)
		}
		if c := chunksOf(t, []Span{{1, 0, 10}}).Ceiling(g, Contain); c.Held != 1 || c.Omega != (Score{Found: 10, Gold: 10, Retrieved: 10}) {
			t.Errorf("%v: %+v", spans, c)
		}
	}
	none := prepared(t, []Unit{{Spans: []Span{{3, 0, 0}, {4, 0, 0}}, Whole: true}})
	if s := scored(t, none, []Span{{3, 0, 5}}, 1)[0]; s != (Score{Retrieved: 5}) {
		t.Errorf("with empty documents only: %+v", s)
	}
	if s := scored(t, prepared(t, nil), []Span{{0, 0, 10}}, 1)[0]; !math.IsNaN(s.Recall()) || !math.IsNaN(s.Precision()) || !math.IsNaN(s.IoU()) {
		t.Errorf("without gold: %v, %v, %v", s.Recall(), s.Precision(), s.IoU())
	}
}

func TestCeilingByHand(t *testing.T) {
	// Chunks of ten with an overlap of two; nothing covers [26, 30).
	c := chunksOf(t, []Span{{0, 0, 10}, {0, 8, 18}, {0, 16, 26}, {0, 30, 40}, {1, 0, 5}, {1, 5, 50}})
	for name, want := range map[string]struct {
		units                      []Unit
		overlap, contain           float64
		precision, recall          float64
		retrieved, overlapsOfFirst int
	}{
		"within the overlap of two": {[]Unit{one(0, 8, 10)}, 1, 1, 2. / 20, 1, 20, 2},
		"over a cut":                {[]Unit{one(0, 9, 20)}, 1, 0, 11. / 30, 1, 30, 3},
		"left out by the chunker":   {[]Unit{one(0, 26, 30)}, 0, 0, 0, 0, 0, 0},
		"partly left out":           {[]Unit{one(0, 20, 30)}, 1, 0, .6, .6, 10, 1},
		"two units, one is cut":     {[]Unit{one(0, 0, 10), one(0, 12, 26)}, 1, .5, 24. / 30, 1, 30, 2},
		"the cheaper of two places": {[]Unit{{Spans: []Span{{1, 6, 8}, {1, 1, 3}}}}, 1, 1, .4, 1, 5, 2},
		"a document without chunks": {[]Unit{one(2, 0, 9)}, 0, 0, 0, 0, 0, 0},
		"a document beyond them":    {[]Unit{one(7, 0, 9)}, 0, 0, 0, 0, 0, 0},
		"a whole document":          {[]Unit{{Spans: []Span{{1, 0, 50}}, Whole: true}}, 1, 1, 1, 1, 50, 2},
	} {
		g := prepared(t, want.units)
		overlap, contain := c.Ceiling(g, Overlap), c.Ceiling(g, Contain)
		if overlap.Recall() != want.overlap || contain.Recall() != want.contain || overlap.Omega != contain.Omega {
			t.Errorf("%s: recall %v and %v, want %v and %v", name, overlap.Recall(), contain.Recall(), want.overlap, want.contain)
		}
		if o := overlap.Omega; o.Precision() != want.precision || o.Recall() != want.recall || o.Retrieved != want.retrieved {
			t.Errorf("%s: omega %+v has precision %v, recall %v; want %v, %v", name, o, o.Precision(), o.Recall(), want.precision, want.recall)
		}
		if n := len(c.Holders(nil, want.units[0], Overlap)); n != want.overlapsOfFirst {
			t.Errorf("%s: %d chunks overlap the first unit, want %d", name, n, want.overlapsOfFirst)
		}
	}
}

func TestRanks(t *testing.T) {
	ranked := []Span{{0, 0, 10}, {1, 0, 10}, {0, 5, 20}, {1, 0, 10}}
	units := []Unit{one(0, 8, 12), one(1, 2, 3), one(2, 0, 5), {Spans: []Span{{1, 40, 50}}, Whole: true}}
	if got, want := Overlap.Ranks(ranked, units), []int{1, 2, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("overlap: %v, want %v", got, want)
	}
	if got, want := Contain.Ranks(ranked, units), []int{3, 2, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("contain: %v, want %v", got, want)
	}
}

func TestMetamorphic(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 38))
	for range 2000 {
		units := randomUnits(rng)
		ranked := randomSpans(rng, 1+rng.IntN(8))
		g := prepared(t, units)
		k := len(ranked)
		s := scored(t, g, ranked, k)[0]
		if s.Found > s.Gold || s.Found > s.Retrieved || s.Recall() > 1 || s.IoU() > min(s.Recall(), s.Precision()) {
			t.Fatalf("units %v, chunks %v: %+v", units, ranked, s)
		}

		// The order within the first k plays no part.
		shuffled := slices.Clone(ranked)
		rng.Shuffle(k, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if got := scored(t, g, shuffled, k)[0]; got != s {
			t.Fatalf("units %v, chunks %v: %+v in another order, %+v before", units, ranked, got, s)
		}

		// Nor does the order of the units.
		turned := slices.Clone(units)
		slices.Reverse(turned)
		if got := scored(t, prepared(t, turned), ranked, k)[0]; got != s {
			t.Fatalf("units %v, chunks %v: %+v with the units turned round, %+v before", units, ranked, got, s)
		}

		// A chunk a second time finds nothing and is paid for.
		twice := append(slices.Clone(ranked), ranked[0])
		if got := scored(t, g, twice, k+1)[0]; got.Found != s.Found || got.Gold != s.Gold || got.Retrieved != s.Retrieved+ranked[0].Len() {
			t.Fatalf("units %v, chunks %v: %+v with the first twice, %+v before", units, ranked, got, s)
		}

		// A chunk in a document without gold lowers precision and nothing else.
		elsewhere := append(slices.Clone(ranked), Span{99, 0, 7})
		if got := scored(t, g, elsewhere, k+1)[0]; got.Found != s.Found || got.Gold != s.Gold || got.Retrieved != s.Retrieved+7 {
			t.Fatalf("units %v, chunks %v: %+v with a chunk elsewhere, %+v before", units, ranked, got, s)
		}

		// Chunks that are larger on both sides never cover less, and never hold less.
		larger := slices.Clone(ranked)
		for i := range larger {
			larger[i].Start = max(larger[i].Start-rng.IntN(4), 0)
			larger[i].End += rng.IntN(4)
		}
		for _, rule := range []Rule{Overlap, Contain} {
			if rule.Held(larger, units) < rule.Held(ranked, units) {
				t.Fatalf("%v: units %v: %v hold less than %v", rule, units, larger, ranked)
			}
			if a, b := chunksOf(t, larger).Ceiling(g, rule), chunksOf(t, ranked).Ceiling(g, rule); a.Held < b.Held {
				t.Fatalf("%v: units %v: the ceiling of %v is below that of %v", rule, units, larger, ranked)
			}
		}
		single := slices.DeleteFunc(slices.Clone(units), func(u Unit) bool { return len(u.Spans) > 1 })
		lone := prepared(t, single)
		if a, b := scored(t, lone, larger, k)[0], scored(t, lone, ranked, k)[0]; a.Found < b.Found || a.Gold != b.Gold {
			t.Fatalf("units %v: %+v of %v, %+v of %v", single, a, larger, b, ranked)
		}

		// Whoever contains a unit overlaps it.
		if Contain.Held(ranked, units) > Overlap.Held(ranked, units) {
			t.Fatalf("units %v, chunks %v: more are contained than overlapped", units, ranked)
		}
	}
}

func TestMistakesAreRefused(t *testing.T) {
	g := prepared(t, []Unit{one(0, 0, 10)})
	for want, err := range map[string]error{
		"unit 0 of the gold has no spans": second(NewGold([]Unit{{}})),
		"unit 1 of the gold: [3, 3)":      second(NewGold([]Unit{one(0, 0, 1), one(0, 3, 3)})),
		"unit 0 of the gold: [2, 1)":      second(NewGold([]Unit{{Spans: []Span{{0, 0, 0}, {1, 2, 1}}, Whole: true}})),
		"k = 0":                           second(g.Score(nil, []int{0})),
		"k = 2; cut-offs":                 second(g.Score(nil, []int{2, 2})),
		"at rank 2: [5, 4) of document 1": second(g.Score([]Span{{0, 0, 1}, {1, 5, 4}}, []int{2})),
		"chunk 1: [4, 4) of document 0":   second(NewChunks([]int32{0, 0}, []int32{0, 4}, []int32{4, 4})),
		"2 documents, 1 starts":           second(NewChunks([]int32{0, 0}, []int32{0}, []int32{4, 4})),
		"1 chunks and the tokens of 0":    second(g.Within([]Span{{0, 0, 1}}, nil, 10, Overlap)),
		"0 tokens; give at least 1":       second(g.Within(nil, nil, 0, Overlap)),
		"use overlap or contain":          second(ParseRule("hold")),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	for _, rule := range []Rule{Overlap, Contain} {
		if again, err := ParseRule(rule.String()); err != nil || again != rule {
			t.Errorf("%v parses to %v, %v", rule, again, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestSizes(t *testing.T) {
	lengths := make([]int, 100)
	for i := range lengths {
		lengths[i] = 100 - i
	}
	if got, want := SizesOf(lengths), (Sizes{Chunks: 100, Sum: 5050, Mean: 50.5, Min: 1, P05: 5, P50: 50, P95: 95, Max: 100}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if lengths[0] != 100 {
		t.Error("the lengths were sorted in place")
	}
	if got, want := SizesOf([]int{7}), (Sizes{Chunks: 1, Sum: 7, Mean: 7, Min: 7, P05: 7, P50: 7, P95: 7, Max: 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := SizesOf(nil); got != (Sizes{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// Large enough to show that neither long documents nor long rankings are walked position by position.
func BenchmarkScore(b *testing.B) {
	units := []Unit{one(0, 500_000, 500_400), one(1, 100, 300), {Spans: []Span{{2, 0, 50}, {3, 900, 950}}}}
	ranked := make([]Span, 1000)
	for i := range ranked {
		ranked[i] = Span{Doc: i % 50, Start: 400 * i, End: 400*i + 500}
	}
	g := prepared(b, units)
	var s []Score
	for b.Loop() {
		s = scored(b, g, ranked, 10, 100, 1000)
	}
	if want := (naive{units}).score(ranked); s[2] != want {
		b.Fatalf("got %+v, want %+v", s[2], want)
	}
}

func BenchmarkCeiling(b *testing.B) {
	n := 1_000_000
	if testing.Short() {
		n = 10_000
	}
	spans := make([]Span, n)
	for i := range spans {
		spans[i] = Span{Doc: 0, Start: 400 * i, End: 400*i + 500}
	}
	c := chunksOf(b, spans)
	g := prepared(b, []Unit{one(0, 200*n, 200*n+50), one(0, 100*n, 100*n+900)})
	var got Ceiling
	for b.Loop() {
		got = c.Ceiling(g, Contain)
	}
	if got.Held != 1 || got.Omega.Found != 950 || got.Omega.Retrieved != 500*6 {
		b.Fatalf("got %+v", got)
	}
}
