package abstain

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"frontier/bench/rate"
)

func curve(t testing.TB, answerable, unanswerable []float64) []Outcome {
	t.Helper()
	c, err := Curve(answerable, unanswerable)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCurveByHand(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	got := curve(t, []float64{0.9, 0.5, 0.5, nan}, []float64{0.5, 0.2, -inf})
	var want []Outcome
	for _, o := range [][3]float64{{0.2, 1, 1}, {0.5, 2, 1}, {0.9, 3, 3}, {inf, 3, 4}} {
		want = append(want, Outcome{Threshold: o[0], Right: int(o[1]), Wrong: int(o[2]), Answerable: 4, Unanswerable: 3})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	o, err := At([]float64{0.9, 0.5, 0.5, nan}, []float64{0.5, 0.2, -inf}, 0.6)
	if err != nil || o.Precision() != (rate.Rate{Hits: 3, Of: 6}) || o.Recall() != (rate.Rate{Hits: 3, Of: 3}) || o.Withheld() != (rate.Rate{Hits: 3, Of: 4}) {
		t.Errorf("at 0.6: %+v, %v", o, err)
	}
	if o, err := At(nil, []float64{nan, 1}, -inf); err != nil || o.Right != 1 {
		t.Errorf("no threshold at all withholds what has no result: %+v, %v", o, err)
	}
}

// A published example: of 20 questions without an answer three systems withhold 11, 12 and 14. The 100 that have one are
// another denominator.
func TestAbstentionsOfTheWorkedExample(t *testing.T) {
	for _, right := range []int{11, 12, 14} {
		unanswerable, answerable := make([]float64, 20), make([]float64, 100)
		for i := range unanswerable {
			if i >= right {
				unanswerable[i] = 0.8
			}
		}
		for i := range answerable {
			if i >= 5 {
				answerable[i] = 0.9
			}
		}
		o, err := At(answerable, unanswerable, 0.5)
		if err != nil || o.Recall() != (rate.Rate{Hits: right, Of: 20}) || o.Withheld() != (rate.Rate{Hits: 5, Of: 100}) || o.Precision() != (rate.Rate{Hits: right, Of: right + 5}) {
			t.Errorf("%d: %+v, %v", right, o, err)
		}
	}
}

func TestCurveEqualsNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	scores := func() []float64 {
		all := make([]float64, rng.IntN(30))
		for i := range all {
			if all[i] = float64(rng.IntN(12)) - 3; rng.IntN(10) == 0 {
				all[i] = math.NaN()
			}
		}
		return all
	}
	for range 1000 {
		answerable, unanswerable := scores(), scores()
		all := curve(t, answerable, unanswerable)
		for i, o := range all {
			withheld := func(scores []float64) (n int) {
				for _, s := range scores {
					if math.IsNaN(s) || s < o.Threshold {
						n++
					}
				}
				return n
			}
			if o.Right != withheld(unanswerable) || o.Wrong != withheld(answerable) || o.Answerable != len(answerable) || o.Unanswerable != len(unanswerable) {
				t.Fatalf("answerable %v, unanswerable %v: %+v", answerable, unanswerable, o)
			}
			if at, err := At(answerable, unanswerable, o.Threshold); err != nil || at != o {
				t.Fatalf("answerable %v, unanswerable %v: At gives %+v, %v; the curve %+v", answerable, unanswerable, at, err, o)
			}
			if i > 0 && (all[i-1].Threshold >= o.Threshold || all[i-1].Right+all[i-1].Wrong >= o.Right+o.Wrong) {
				t.Fatalf("%+v comes behind %+v", o, all[i-1])
			}
		}
		// Scores on another scale give the same outcomes.
		stretch := func(scores []float64) []float64 {
			out := make([]float64, len(scores))
			for i, s := range scores {
				out[i] = 8*s + 5
			}
			return out
		}
		for i, o := range curve(t, stretch(answerable), stretch(unanswerable)) {
			if o.Right != all[i].Right || o.Wrong != all[i].Wrong {
				t.Fatalf("stretched: %+v, before %+v", o, all[i])
			}
		}
	}
}

func TestUnder(t *testing.T) {
	all := curve(t, []float64{1, 2, 3, 4}, []float64{0, 1, 1, 2, 5})
	for most, want := range map[float64]Outcome{
		0:   {Threshold: 1, Right: 1, Wrong: 0, Answerable: 4, Unanswerable: 5},
		.25: {Threshold: 2, Right: 3, Wrong: 1, Answerable: 4, Unanswerable: 5},
		.75: {Threshold: 3, Right: 4, Wrong: 2, Answerable: 4, Unanswerable: 5},
		1:   {Threshold: math.Inf(1), Right: 5, Wrong: 4, Answerable: 4, Unanswerable: 5},
	} {
		if got, err := Under(all, most); err != nil || got != want {
			t.Errorf("at most %v: %+v, %v; want %+v", most, got, err, want)
		}
	}
	// What is just allowed is allowed, as users write it.
	scores := make([]float64, 100)
	for i := range scores {
		scores[i] = float64(i)
	}
	hundred := curve(t, scores, []float64{-1, 200})
	for percent := range 101 {
		most, err := strconv.ParseFloat(fmt.Sprintf("%d.%02d", percent/100, percent%100), 64)
		if err != nil {
			t.Fatal(err)
		}
		fits := slices.DeleteFunc(slices.Clone(hundred), func(o Outcome) bool { return o.Wrong != percent })
		if got, err := Under(fits, most); err != nil || got.Wrong != percent {
			t.Errorf("%d of 100 are more than %v: %v", percent, most, err)
		}
	}
}

func TestMistakesAreRefused(t *testing.T) {
	if _, err := Under(curve(t, nil, []float64{1}), 1); !errors.Is(err, rate.ErrEmpty) {
		t.Errorf("without answerable questions: %v", err)
	}
	if _, err := Under(curve(t, []float64{math.NaN()}, []float64{1}), 0.5); err == nil || !strings.Contains(err.Error(), "1 of 1") {
		t.Errorf("nothing withholds so little: %v", err)
	}
	if _, err := At(nil, nil, math.NaN()); err == nil {
		t.Error("a threshold that is not a number is taken")
	}
	if _, err := Curve(nil, []float64{math.Inf(1)}); err == nil {
		t.Error("an infinite score is taken")
	}
}
