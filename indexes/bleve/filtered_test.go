package bleve

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"frontier/indexes"
)

// Searching among some rows is searching among all and leaving out the others, with the same scores.
func TestSearchFilteredIsSearchWithoutTheOthers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	words := []string{"red", "green", "blue", "heavy", "light", "round", "flat", "old"}
	var all []string
	for i := range 2300 { // several of the builder's batches
		text := fmt.Sprintf("item%d", i)
		for range 1 + rng.IntN(6) {
			text += " " + words[rng.IntN(len(words))]
		}
		all = append(all, text)
	}
	x := open(t, all, nil).(indexes.Filtered)
	for _, share := range []float64{0, 0.01, 0.5, 1} {
		allowed := indexes.NewIDSet(len(all))
		for i := range all {
			if rng.Float64() < share {
				allowed.Add(int64(i))
			}
		}
		for _, question := range []string{"red", "green heavy", "blue round old flat", "item77 light", "unheard", ""} {
			q := indexes.Query{Text: question}
			everything, err := x.Search(q, len(all), nil)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc(everything, func(h indexes.Hit) bool { return !allowed.Has(h.ID) })
			want = want[:min(25, len(want))]
			got, err := x.SearchFiltered(q, 25, allowed, nil)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("%q among %d rows: %v, %v; expected %v", question, allowed.Len(), got, err, want)
			}
		}
	}
	if _, err := x.SearchFiltered(indexes.Query{Text: "red"}, 5, indexes.NewIDSet(3), nil); err == nil {
		t.Error("a set of other rows is accepted")
	}
	if _, err := x.SearchFiltered(indexes.Query{Text: "red"}, 0, indexes.NewIDSet(len(all)), nil); err == nil {
		t.Error("k = 0 is accepted")
	}
}
