package chunkers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"frontier/internal/param"

	"pgregory.net/rapid"
)

func mustNew(t testing.TB, kind string, given param.Values) Chunker {
	t.Helper()
	k := Find(Kinds(), kind)
	if k == nil {
		t.Fatalf("no kind %q", kind)
	}
	p, err := param.Complete(k.Params, given)
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// count counts units in the plainest way there is.
func count(unit Unit, text string) int {
	switch unit {
	case Chars:
		return utf8.RuneCountInString(text)
	case Words:
		n := 0
		var w wordStarts
		for _, r := range text {
			if w.starts(r) {
				n++
			}
		}
		return n
	}
	n, err := CountTokens(text)
	if err != nil {
		return -1
	}
	return n
}

// verify checks everything that a Chunker promises.
func verify(text string, kind string, unit Unit, size, overlap int, chunks []Chunk) error {
	runes := []rune(text)
	if len(chunks) == 0 {
		if text != "" {
			return fmt.Errorf("no chunks of %d bytes", len(text))
		}
		return nil
	}
	covered := make([]bool, len(runes))
	for i, c := range chunks {
		if c.Start < 0 || c.End > len(runes) || c.Start >= c.End || string(runes[c.Start:c.End]) != c.Text {
			return fmt.Errorf("chunk %d: text[%d:%d] is not %.60q", i, c.Start, c.End, c.Text)
		}
		if i > 0 && (c.Start <= chunks[i-1].Start || c.End <= chunks[i-1].End) {
			return fmt.Errorf("chunk %d [%d:%d) does not advance on [%d:%d)", i, c.Start, c.End, chunks[i-1].Start, chunks[i-1].End)
		}
		for j := c.Start; j < c.End; j++ {
			covered[j] = true
		}
		if kind == "none" {
			continue
		}
		blank := strings.TrimSpace(c.Text) == ""
		if blank && len(chunks) > 1 {
			return fmt.Errorf("chunk %d is white space", i)
		}
		if kind == "recursive" && !blank && strings.TrimSpace(c.Text) != c.Text {
			return fmt.Errorf("chunk %d is not trimmed: %.60q", i, c.Text)
		}
		// A chunk tokenized by itself may need a few tokens more than it had in the whole text: 4 at most on real text.
		slack := 0
		if unit == Tokens {
			slack = 5
		}
		if n := count(unit, c.Text); n > size+slack && c.End-c.Start > 1 {
			return fmt.Errorf("chunk %d has %d %s, more than %d: %.60q", i, n, unit, size, c.Text)
		}
		if i > 0 && c.Start < chunks[i-1].End {
			if n := count(unit, string(runes[c.Start:chunks[i-1].End])); n > overlap+slack {
				return fmt.Errorf("chunk %d shares %d %s with the one before, more than %d", i, n, unit, overlap)
			}
		}
	}
	for i, r := range runes {
		if !covered[i] && !unicode.IsSpace(r) {
			return fmt.Errorf("code point %d (%q) is in no chunk", i, r)
		}
	}
	return nil
}

// pieces mixes what is hard: scripts without spaces, combining marks, joined emoji, every kind of line break.
var pieces = []string{
	" ", " ", "  ", "\n", "\n\n", "\r\n", "\r\n\r\n", "\t", "\u2028", "\u2029", "\u00a0", "\u3000", "\ufeff",
	"word", "Hello", "don't", "it'ſ", "K\u212aelvin", "naïve", "e\u0301", "http.Server.Shutdown", "3.14159", "2026", "½",
	". ", "? ", "!", "...", "。", "！", "？", "।", "؟", "」", "「", "(", ")", "\"", "'", "“", "”",
	"你好", "世界", "ひらがな", "カタカナー", "한국어", "ภาษาไทย", "العربية", "हिन्दी", "ɐ", "𠜎", "𝔘", "👩‍👩‍👧‍👦", "🏳️‍🌈", "😀", "\u0000", "\U0010ffff",
}

func randomText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(0, 150).Draw(t, "n")
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.SampledFrom(pieces), rapid.StringN(0, 3, -1)), n, n).Draw(t, "parts")
		return strings.ToValidUTF8(strings.Join(parts, ""), "?")
	})
}

func TestEveryChunkIsItsSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := randomText().Draw(t, "text")
		kind := rapid.SampledFrom([]string{"none", "fixed", "recursive"}).Draw(t, "kind")
		unit := rapid.SampledFrom([]Unit{Chars, Words, Tokens}).Draw(t, "unit")
		size := rapid.IntRange(1, 40).Draw(t, "size")
		overlap := rapid.IntRange(0, size-1).Draw(t, "overlap")
		k := Find(Kinds(), kind)
		p := param.Values{}
		if kind != "none" {
			p = param.Values{"size": int64(size), "overlap": fmt.Sprint(overlap), "unit": string(unit)}
		}
		c, err := k.New(p)
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := c.Chunk(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(text, kind, unit, size, overlap, chunks); err != nil {
			t.Fatal(err)
		}
	})
}

// Long random texts, and sizes so small that single characters are more than a chunk.
func TestLongRandomTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var b strings.Builder
		for range rng.IntN(400) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		kind, unit := []string{"fixed", "recursive"}[rng.IntN(2)], []Unit{Chars, Words, Tokens}[rng.IntN(3)]
		size := 1 + rng.IntN(6+rng.IntN(60))
		overlap := rng.IntN(size)
		c := mustNew(t, kind, param.Values{"size": size, "overlap": overlap, "unit": string(unit)})
		chunks, err := c.Chunk(b.String(), nil)
		if err == nil {
			err = verify(b.String(), kind, unit, size, overlap, chunks)
		}
		if err != nil {
			t.Fatalf("%s, %d %s, overlap %d of %q: %v", kind, size, unit, overlap, b.String(), err)
		}
	}
}

func FuzzChunk(f *testing.F) {
	for i, p := range pieces {
		f.Add(p+" "+pieces[(i*7)%len(pieces)]+p, uint8(i), uint8(i/2), uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, size, overlap, which uint8) {
		units := []Unit{Chars, Words, Tokens}
		unit, kind := units[int(which)%3], []string{"fixed", "recursive"}[int(which/3)%2]
		n := int(size)%50 + 1
		o := int(overlap) % n
		c, err := Find(Kinds(), kind).New(param.Values{"size": int64(n), "overlap": fmt.Sprint(o), "unit": string(unit)})
		if err != nil {
			t.Fatal(err)
		}
		chunks, err := c.Chunk(text, nil)
		if !utf8.ValidString(text) {
			if err == nil {
				t.Fatal("invalid UTF-8 was accepted")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(text, kind, unit, n, o, chunks); err != nil {
			t.Fatal(err)
		}
	})
}

func TestChunkersAreSafeForConcurrentUse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 40)
	for i := range texts {
		var b strings.Builder
		for range 200 {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		texts[i] = b.String()
	}
	for _, kind := range []string{"fixed", "recursive"} {
		for _, unit := range []Unit{Chars, Words, Tokens} {
			c := mustNew(t, kind, param.Values{"size": 20, "overlap": "25%", "unit": string(unit)})
			want := make([][]Chunk, len(texts))
			for i, text := range texts {
				var err error
				if want[i], err = c.Chunk(text, nil); err != nil {
					t.Fatal(err)
				}
			}
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					for n := range texts {
						i := (n*7 + g*11) % len(texts)
						got, err := c.Chunk(texts[i], nil)
						if err != nil || fmt.Sprint(got) != fmt.Sprint(want[i]) {
							t.Errorf("%s %s: text %d differs when chunked beside others: %v", kind, unit, i, err)
						}
					}
				})
			}
			wg.Wait()
		}
	}
}
