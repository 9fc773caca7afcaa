package chunkers

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"frontier/internal/testdata"

	"pgregory.net/rapid"
)

// reference is what the tokenizer says of the whole text at once. It drops DEL, so texts are compared without.
func reference(t testing.TB, text string) []int {
	t.Helper()
	codec, err := cl100k()
	if err != nil {
		t.Fatal(err)
	}
	_, tokens, err := codec.Encode(text)
	if err != nil {
		t.Fatal(err)
	}
	starts, at := make([]int, 0, len(tokens)), 0
	for _, tok := range tokens {
		starts = append(starts, at)
		at += len(tok)
	}
	return starts
}

func ours(t testing.TB, text string) []int {
	t.Helper()
	e := &encoder{seen: make(map[string][]uint8)}
	var got []int
	if err := e.each(text, func(s int) { got = append(got, s) }); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTokensEqualTheTokenizersOnRandomText(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := strings.ReplaceAll(randomText().Draw(r, "text"), del, "?")
		if got, want := ours(t, text), reference(t, text); !slices.Equal(got, want) {
			r.Fatalf("%q: tokens start at %v, want %v", text, got, want)
		}
	})
}

// Code points between letters, blanks and symbols: the classes of the split must be those of the pattern.
func TestTokensEqualTheTokenizersOnEveryClassOfCodePoints(t *testing.T) {
	var b strings.Builder
	check := func() {
		text := b.String()
		b.Reset()
		if !slices.Equal(ours(t, text), reference(t, text)) {
			t.Errorf("tokens differ between %q and %q", text[:20], text[len(text)-20:])
		}
	}
	for r := rune(0); r <= 0x1ffff; r++ {
		if r > 0x3400 && r%5 != 0 { // long uniform blocks from here on
			continue
		}
		if !utf8.ValidRune(r) || string(r) == del {
			continue
		}
		b.WriteRune('a')
		b.WriteRune(r)
		b.WriteString("b '")
		b.WriteRune(r)
		b.WriteString("1-")
		b.WriteRune(r)
		if b.Len() > 1<<14 {
			check()
		}
	}
	check()
}

func TestTokensEqualTheTokenizersOnRealText(t *testing.T) {
	for _, name := range []string{"cranfield/corpus.jsonl", "xquad-zh/corpus.jsonl", "xquad-de/golden.jsonl", "bad/text/blns.txt"} {
		raw, err := os.ReadFile(testdata.Path(t, name))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(strings.ToValidUTF8(string(raw), "?"), del, "")
		want := reference(t, text)
		if got := ours(t, text); !slices.Equal(got, want) {
			t.Errorf("%s: tokens start elsewhere", name)
		}
		if n, err := CountTokens(text); err != nil || n != len(want) {
			t.Errorf("%s: CountTokens is %d, %v; want %d", name, n, err, len(want))
		}
	}
}

func TestDELIsAToken(t *testing.T) {
	for text, want := range map[string][]int{
		del:                    {0},
		del + del:              {0, 1},
		"a" + del + "bcd ef":   {0, 1, 2, 5},
		"--" + del + "--\n\n-": {0, 2, 3, 7},
	} {
		if got := ours(t, text); !slices.Equal(got, want) {
			t.Errorf("%q: tokens start at %v, want %v", text, got, want)
		}
	}
}

func TestCountTokensOfKnownTexts(t *testing.T) {
	for text, want := range map[string]int{
		"":                             0,
		"hello world":                  2,
		"tiktoken is great!":           6,
		"antidisestablishmentarianism": 6,
		"2 + 2 = 4":                    7,
		"お誕生日おめでとう":                    9,
	} {
		if got, err := CountTokens(text); err != nil || got != want {
			t.Errorf("%q has %d tokens, %v; want %d", text, got, err, want)
		}
	}
	if _, err := CountTokens("ab\xffcd"); err == nil || !strings.Contains(err.Error(), "byte 2") {
		t.Errorf("invalid UTF-8 at byte 2 gives %v", err)
	}
}

func TestEncoderForgetsWhenFull(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	e := &encoder{seen: make(map[string][]uint8)}
	var word [6]byte
	for range maxCachedPieces + 100 {
		for i := range word {
			word[i] = byte('a' + rng.IntN(26))
		}
		if err := e.each(string(word[:]), func(int) {}); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.seen) > maxCachedPieces {
		t.Errorf("the cache holds %d pieces, more than %d", len(e.seen), maxCachedPieces)
	}
	if err := e.each(strings.Repeat("x", 10*maxCachedPiece), func(int) {}); err != nil {
		t.Fatal(err)
	}
	for p := range e.seen {
		if len(p) > maxCachedPiece {
			t.Fatalf("a piece of %d bytes was cached", len(p))
		}
	}
}
