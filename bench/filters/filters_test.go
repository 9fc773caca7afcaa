package filters

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"frontier/bench/rate"
)

func value(t *testing.T, r rate.Rate) float64 {
	t.Helper()
	v, err := r.Value()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A worked example with a published answer. The caller of all four queries is acme.
func TestFalseExclusionOfTheWorkedExample(t *testing.T) {
	tenant := []string{"acme", "acme", "globex", "acme", "acme", "acme"} // of d1 to d6
	locale := []string{"en-US", "en-GB", "en-US", "en-US", "de-DE", "fr-FR"}
	is := func(field []string, v string) Selection {
		return Select(len(field), func(doc int) bool { return field[doc] == v })
	}
	acme := is(tenant, "acme")
	var tally Tally
	var recalled rate.Rate
	for _, q := range []struct {
		gold      int // of d1 to d6
		predicate Selection
	}{
		{2, is(locale, "en-US")},
		{4, is(tenant, "acme")},
		{6, is(locale, "en-US")},
		{5, is(locale, "de-DE")},
	} {
		gold := []int{q.gold - 1}
		counts, err := Judge(gold, acme, q.predicate)
		if err != nil {
			t.Fatal(err)
		}
		if err := tally.Add(counts); err != nil {
			t.Fatal(err)
		}
		recalled = recalled.Add(rate.Rate{Hits: counts.KeptGold, Of: counts.Gold}) // of all that eligibility and predicate leave
	}
	if got := tally.FalseExclusion(); got != (rate.Rate{Hits: 2, Of: 4}) {
		t.Errorf("false exclusion: %v", got)
	}
	// Rebuilding the gold after the filter would wrongly give 1.0.
	if got := value(t, recalled); got != 0.5 || recalled.Of != 4 { // each question has one
		t.Errorf("recall@10 is %v, of %v", got, recalled)
	}
	if got := value(t, tally.PredicateRecall()); got != 0.5 {
		t.Errorf("predicate recall: %v", got)
	}
	// en-US leaves acme two documents, acme all five, de-DE one: 10 in all, of which d4 and d5 are gold.
	if got := tally.PredicatePrecision(); got != (rate.Rate{Hits: 2, Of: 10}) {
		t.Errorf("predicate precision: %v", got)
	}
	if got := tally.Selectivity(); got != (rate.Rate{Hits: 10, Of: 20}) {
		t.Errorf("selectivity: %v", got)
	}
}

func TestNothingEligibleIsNoRate(t *testing.T) {
	none := Select(4, func(int) bool { return false })
	all := Select(4, func(int) bool { return true })
	q, err := Judge([]int{1, 2, 99}, none, all)
	if err != nil || q != (Query{}) {
		t.Errorf("%+v, %v", q, err)
	}
	var tally Tally
	if err := tally.Add(q); err != nil {
		t.Fatal(err)
	}
	for _, r := range []rate.Rate{tally.FalseExclusion(), tally.PredicatePrecision(), tally.PredicateRecall()} {
		if _, err := r.Value(); !errors.Is(err, rate.ErrEmpty) {
			t.Errorf("%v: %v", r, err)
		}
	}
}

func TestJudgeEqualsNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for range 500 {
		n := 1 + rng.IntN(200)
		eligible, kept := make([]bool, n), make([]bool, n)
		want := Query{}
		isGold := map[int]bool{}
		for range rng.IntN(10) {
			isGold[rng.IntN(n+3)] = true // some are not in the corpus
		}
		for doc := range n {
			eligible[doc], kept[doc] = rng.IntN(3) > 0, rng.IntN(2) > 0
			if !eligible[doc] {
				continue
			}
			want.Eligible++
			if kept[doc] {
				want.Kept++
			}
			if isGold[doc] {
				want.Gold++
				if kept[doc] {
					want.KeptGold++
				}
			}
		}
		var gold []int
		for doc := range isGold {
			gold = append(gold, doc, doc)
		}
		a, b := Select(n, func(doc int) bool { return eligible[doc] }), Select(n, func(doc int) bool { return kept[doc] })
		if got, err := Judge(gold, a, b); err != nil || got != want {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
		if a.Has(-1) || a.Has(n) {
			t.Fatal("a document outside of the corpus is selected")
		}
	}
	if _, err := Judge(nil, Select(3, func(int) bool { return true }), Select(4, func(int) bool { return true })); err == nil {
		t.Error("filters over different corpora are compared")
	}
	if err := new(Tally).Add(Query{Eligible: 1, Kept: 2}); err == nil {
		t.Error("more is kept than there is")
	}
}

func TestDecide(t *testing.T) {
	limits := Limits{MinGain: 0.05, MaxFalseExclusion: 0.02, MaxRecallLost: 0.01}
	good := Measured{GainLow: 0.05, FalseExclusion: rate.Rate{Hits: 2, Of: 100}, RecallLost: 0.01}
	change := func(f func(*Measured)) Measured { m := good; f(&m); return m }
	for name, c := range map[string]struct {
		m       Measured
		hard    bool
		reasons []string
	}{
		"at all limits":           {good, true, nil},
		"the gain is not certain": {change(func(m *Measured) { m.GainLow = 0.049 }), false, []string{"as low as +0.049"}},
		"one exclusion too many":  {change(func(m *Measured) { m.FalseExclusion.Hits = 3 }), false, []string{"of 3 of 100 queries (0.030)"}},
		"too much recall lost":    {change(func(m *Measured) { m.RecallLost = 0.02 }), false, []string{"loses 0.020 of recall"}},
		"the worked example":      {Measured{-0.1, rate.Rate{Hits: 2, Of: 4}, 0.5}, false, []string{"-0.100", "2 of 4", "0.500"}},
	} {
		d, err := limits.Decide(c.m)
		if err != nil || d.Hard != c.hard || len(d.Reasons) != len(c.reasons) {
			t.Errorf("%s: %+v, %v", name, d, err)
			continue
		}
		for i, want := range c.reasons {
			if !strings.Contains(d.Reasons[i], want) {
				t.Errorf("%s: %q does not say %q", name, d.Reasons[i], want)
			}
		}
	}
	if _, err := limits.Decide(change(func(m *Measured) { m.FalseExclusion = rate.Rate{} })); !errors.Is(err, rate.ErrEmpty) {
		t.Errorf("no query with eligible gold: %v", err)
	}
	if _, err := limits.Decide(change(func(m *Measured) { m.GainLow = math.NaN() })); err == nil {
		t.Error("a gain that was not measured decides")
	}
	if _, err := (Limits{MaxRecallLost: math.NaN()}).Decide(good); err == nil || !strings.Contains(err.Error(), "loss of recall") {
		t.Errorf("limits that are none: %v", err)
	}
}
