package goldencheck

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// near is NearDuplicates without an end.
func near(t testing.TB, texts []string) []Pair {
	t.Helper()
	pairs, err := NearDuplicates(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return pairs
}

func shinglesOf(text string) map[string]bool {
	set := map[string]bool{}
	eachShingle(text, func(s string) { set[s] = true })
	return set
}

// naiveJaccard is the similarity by its definition.
func naiveJaccard(a, b map[string]bool) float64 {
	shared := 0
	for s := range a {
		if b[s] {
			shared++
		}
	}
	return float64(shared) / float64(len(a)+len(b)-shared)
}

// A worked example with a known answer.
func TestNearDuplicatesOfTheWorkedExample(t *testing.T) {
	reference := "Mars has two moons, Phobos and Deimos."
	shout := "Mars has two moons, Phobos and Deimos!"
	other := "Curiosity rover landed on Mars in 2012."
	similarity := func(a, b string) float64 { return naiveJaccard(shinglesOf(fold(a)), shinglesOf(fold(b))) }
	if got := similarity(reference, shout); got != 33./35 {
		t.Errorf("similarity %v, want 33/35", got)
	}
	if got := similarity(reference, other); got != 1./68 {
		t.Errorf("similarity %v, want 1/68", got)
	}
	if got, want := near(t, []string{reference, other, shout}), []Pair{{0, 2, 33. / 35}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestShingles(t *testing.T) {
	for text, want := range map[string][]string{
		"":        {""},
		"ab":      {"ab"},
		"abcde":   {"abcde"},
		"abcdef":  {"abcde", "bcdef"},
		"größere": {"größe", "rößer", "ößere"},
		"月球有两个卫星": {"月球有两个", "球有两个卫", "有两个卫星"},
	} {
		var got []string
		eachShingle(text, func(s string) { got = append(got, s) })
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// connected are the groups that pairs make of n texts, as the smallest member of each text's group.
func connected(n int, pairs []Pair) []int {
	group := make([]int, n)
	for i := range group {
		group[i] = i
	}
	for changed := true; changed; {
		changed = false
		for _, p := range pairs {
			if least := min(group[p.First], group[p.Second]); group[p.First] != least || group[p.Second] != least {
				group[p.First], group[p.Second], changed = least, least, true
			}
		}
	}
	return group
}

// randomTexts are made of few words and changed a little now and then, so that many are near-duplicates.
func randomTexts(rng *rand.Rand, n int) []string {
	words := strings.Fields("which what moon planet rover landed orbit crater 2012 2021 Phobos Deimos Curiosity distance temperature of the on in is")
	texts := make([]string, n)
	for i := range texts {
		if i > 0 && rng.IntN(2) == 0 {
			runes := []rune(texts[rng.IntN(i)])
			for range rng.IntN(4) {
				runes[rng.IntN(len(runes))] = rune('a' + rng.IntN(26))
			}
			texts[i] = string(runes)
			continue
		}
		var chosen []string
		for range 4 + rng.IntN(12) {
			chosen = append(chosen, words[rng.IntN(len(words))])
		}
		texts[i] = strings.Join(chosen, " ")
	}
	return texts
}

func TestNearDuplicatesEqualComparingAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for range 6 {
		texts := randomTexts(rng, 120)
		var all []Pair
		margin := 1.0 // how far any pair is from the threshold
		for j := range texts {
			for i := range j {
				s := naiveJaccard(shinglesOf(fold(texts[i])), shinglesOf(fold(texts[j])))
				if margin = min(margin, math.Abs(s-NearDuplicate)); s >= NearDuplicate {
					all = append(all, Pair{i, j, s})
				}
			}
		}
		got := near(t, texts)
		if !slices.Equal(connected(len(texts), got), connected(len(texts), all)) {
			t.Fatalf("groups %v, want %v (nearest to the threshold by %v)", connected(len(texts), got), connected(len(texts), all), margin)
		}
		for _, p := range got {
			if !slices.Contains(all, p) {
				t.Fatalf("%v is no pair of near-duplicates", p)
			}
		}
		if !slices.Equal(got, near(t, texts)) {
			t.Fatal("another answer the second time")
		}
	}
}

// Within a group n-1 pairs are enough, and a text that is there many times costs no more than one that is not.
func TestNearDuplicatesConnectGroups(t *testing.T) {
	var texts []string
	for range 1000 {
		texts = append(texts, "how do I configure the retention of audit logs")
	}
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("how do I configure the retention of audit logs in the region %03d", i))
	}
	pairs := near(t, texts)
	if len(pairs) < 999+299 || len(pairs) > 1299 {
		t.Errorf("%d pairs of 1300 texts in one group or two", len(pairs))
	}
	if len(near(t, nil)) != 0 || len(near(t, []string{"a"})) != 0 {
		t.Error("nothing has near-duplicates")
	}
	if got, want := near(t, []string{"", " ", "Ab", "aB "}), []Pair{{0, 1, 1}, {2, 3, 1}}; !slices.Equal(got, want) {
		t.Errorf("short texts: %v, want %v", got, want)
	}
}

// Questions of one template fill the same buckets without being near-duplicates: only the end of the context may stop what
// they cost.
func TestNearDuplicatesStop(t *testing.T) {
	var texts []string
	for i := range 50 {
		texts = append(texts, fmt.Sprintf("what is the capital of %c%c%c%c%c%c%c%c%c%c?", 'a'+i%26, 'a'+i*7%26, 'a'+i*3%26, 'a'+i%25, 'a'+i*5%26, 'a'+i%24, 'a'+i*9%26, 'a'+i%23, 'a'+i%19, 'a'+i%17))
	}
	if pairs := near(t, texts); len(pairs) != 0 {
		t.Errorf("got %v", pairs)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if pairs, err := NearDuplicates(ctx, texts); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v, %v", pairs, err)
	}
}

func BenchmarkNearDuplicates(b *testing.B) {
	n := 100_000
	if testing.Short() {
		n = 2000
	}
	rng := rand.New(rand.NewPCG(63, 64))
	syllables := strings.Fields("ka re ti mo sul ben dor vi la shu pen gra ost fel nim tor qua zed wil hox")
	texts := make([]string, n)
	for i := range texts {
		var text strings.Builder
		text.WriteString("how do I ")
		for range 6 {
			for range 3 {
				text.WriteString(syllables[rng.IntN(len(syllables))])
			}
			text.WriteByte(' ')
		}
		texts[i] = text.String()
	}
	texts[n-1] = texts[n/2] + "?"
	var pairs []Pair
	for b.Loop() {
		pairs = near(b, texts)
	}
	if len(pairs) != 1 || pairs[0].First != n/2 || pairs[0].Second != n-1 {
		b.Fatalf("got %v", pairs)
	}
	b.ReportMetric(float64(n), "texts/op")
}
