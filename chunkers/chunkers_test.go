package chunkers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"frontier/internal/param"
	"frontier/internal/testdata"
)

func texts(chunks []Chunk) []string {
	var out []string
	for _, c := range chunks {
		out = append(out, c.Text)
	}
	return out
}

func TestExamples(t *testing.T) {
	type v = param.Values
	for _, c := range []struct {
		name, kind string
		p          param.Values
		text       string
		want       []string
	}{
		{"empty", "none", v{}, "", nil},
		{"whole", "none", v{}, " a b ", []string{" a b "}},
		{"only blanks, whole", "none", v{}, " \n", []string{" \n"}},
		{"only blanks, fixed", "fixed", v{"size": 3, "unit": "chars"}, "    ", []string{"   "}},
		{"only blanks, words", "fixed", v{"size": 3, "unit": "words"}, " \u3000 ", []string{" \u3000 "}},
		{"only blanks, recursive", "recursive", v{"size": 2, "unit": "chars"}, "\n\n\n", []string{"\n\n"}},

		{"chars", "fixed", v{"size": 4, "unit": "chars"}, "abcdefghij", []string{"abcd", "efgh", "ij"}},
		{"chars with overlap", "fixed", v{"size": 4, "overlap": "1", "unit": "chars"}, "abcdefghij", []string{"abcd", "defg", "ghij"}},
		{"percent rounds half up", "fixed", v{"size": 4, "overlap": "12.5%", "unit": "chars"}, "abcdefghij", []string{"abcd", "defg", "ghij"}},
		{"a blank window is left out", "fixed", v{"size": 2, "unit": "chars"}, "ab  cd", []string{"ab", "cd"}},
		{"words", "fixed", v{"size": 2, "overlap": "1", "unit": "words"}, " one  two\nthree four ", []string{"one  two", "two\nthree", "three four"}},
		{"ideographs are words", "fixed", v{"size": 2, "unit": "words"}, "你好，「世界」。ok go", []string{"你好，", "「世界」。", "ok go"}},
		{"tokens", "fixed", v{"size": 2}, "one two three four five", []string{"one two", " three four", " five"}},
		{"an emoji of three tokens", "fixed", v{"size": 1}, "a👍b", []string{"a", "👍", "b"}},

		{"it fits", "recursive", v{"size": 9, "unit": "words"}, "\n one\n\ntwo \n", []string{"one\n\ntwo"}},
		{"paragraphs first", "recursive", v{"size": 5, "unit": "words"}, "one two\n\nthree\nfour. five\n\nsix", []string{"one two\n\nthree\nfour. five", "six"}},
		{"then lines", "recursive", v{"size": 3, "unit": "words"}, "one two\nthree. four\r\nfive", []string{"one two", "three. four\r\nfive"}},
		{"a heading does not drag its paragraph", "recursive", v{"size": 4, "unit": "words"}, "Top\n\none two three four five", []string{"Top", "one two three four", "five"}},
		{"then sentences", "recursive", v{"size": 4, "unit": "words"}, "One two. Three (four?) Five six.", []string{"One two. Three (four?)", "Five six."}},
		{"not in e.g. this", "recursive", v{"size": 3, "unit": "words"}, "See e.g. this one. Done", []string{"See e.g. this", "one. Done"}},
		{"sentences in Chinese", "recursive", v{"size": 8, "unit": "chars"}, "你好。「世界！」再见吧朋友。", []string{"你好。「世界！」", "再见吧朋友。"}},
		{"in Hindi", "recursive", v{"size": 12, "unit": "chars"}, "यह एक है। वह दो है।", []string{"यह एक है।", "वह दो है।"}},
		{"then words", "recursive", v{"size": 11, "unit": "chars"}, "alpha beta gamma", []string{"alpha beta", "gamma"}},
		{"then units", "recursive", v{"size": 4, "unit": "chars"}, "abcdefghij", []string{"abcd", "efgh", "ij"}},
		{
			"overlap from a sentence", "recursive",
			v{"size": 6, "overlap": "4", "unit": "words"},
			"One two three. Four five six. Seven eight nine.",
			[]string{"One two three. Four five six.", "Four five six. Seven eight nine."},
		},
		{"overlap from a word", "recursive", v{"size": 4, "overlap": "2", "unit": "words"}, "a b c d e f", []string{"a b c d", "c d e f"}},
		{"overlap from a unit", "recursive", v{"size": 4, "overlap": "1", "unit": "chars"}, "abcdefg", []string{"abcd", "defg"}},
		{
			"a chunk within the overlap is not repeated", "recursive",
			v{"size": 4, "overlap": "3", "unit": "words"},
			"Top\n\none two three four",
			[]string{"Top", "one two three four"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := mustNew(t, c.kind, c.p).Chunk(c.text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(texts(got), c.want) {
				t.Errorf("got  %q\nwant %q", texts(got), c.want)
			}
		})
	}
}

func TestChunkAppends(t *testing.T) {
	first := []Chunk{{Start: 7, End: 8, Text: "x"}}
	for _, c := range []Chunker{mustNew(t, "none", nil), mustNew(t, "fixed", param.Values{"size": 9}), mustNew(t, "recursive", param.Values{"size": 9})} {
		got, err := c.Chunk("ab", first)
		if err != nil || len(got) != 2 || got[0] != first[0] || got[1] != (Chunk{0, 2, "ab"}) {
			t.Errorf("%T appends %v, %v", c, got, err)
		}
		if got, err := c.Chunk("a\xff", first); err == nil || len(got) != 1 {
			t.Errorf("%T: invalid UTF-8 gives %v, %v", c, got, err)
		}
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		size    int
		overlap string
		want    int
	}{
		{10, "0", 0},
		{10, "3", 3},
		{10, "10%", 1},
		{4, "12.5%", 1},
		{4, "12.4%", 0},
		{3, "50%", 2},
		{1000, "0.05%", 1},
		{512, "20%", 102},
		{7, "0%", 0},
		{10, "99999999999999999999999", int(^uint(0) >> 1)},
	} {
		if got := Overlap(param.Values{"size": int64(c.size), "overlap": c.overlap}); got != c.want {
			t.Errorf("%s of %d is %d, want %d", c.overlap, c.size, got, c.want)
		}
	}
	if got := Overlap(param.Values{}); got != 0 {
		t.Errorf("without an overlap it is %d", got)
	}
}

func TestOverlapMustBeLessThanSize(t *testing.T) {
	for _, kind := range []string{"fixed", "recursive"} {
		for _, overlap := range []string{"10", "11", "100%", "95%", "99999999999999999999999"} {
			p := param.Values{"size": int64(10), "overlap": overlap, "unit": "words"}
			_, err := Find(Kinds(), kind).New(p)
			var bad *param.Error
			if !errors.As(err, &bad) || bad.Param != "overlap" || !strings.Contains(bad.Msg, "words") {
				t.Errorf("%s with overlap %s of 10: %v", kind, overlap, err)
			}
		}
	}
}

func TestKindsAreComplete(t *testing.T) {
	for _, k := range Kinds() {
		if k.Doc == "" || k.New == nil {
			t.Errorf("%s: %+v", k.Name, k)
		}
		for _, s := range k.Params {
			if s.Doc == "" || s.Column == "" {
				t.Errorf("%s.%s has no doc or column", k.Name, s.Name)
			}
			if s.Default != nil {
				if _, err := s.Check(s.Default); err != nil {
					t.Errorf("%s.%s: its default is refused: %v", k.Name, s.Name, err)
				}
			}
		}
	}
	if Find(Kinds(), "semantic") != nil {
		t.Error("an unknown kind was found")
	}
}

// corpus is the texts of a BEIR file.
func corpus(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open(testdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var d struct{ Text string }
		if err := json.Unmarshal(in.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		out = append(out, d.Text)
	}
	if err := in.Err(); err != nil || len(out) == 0 {
		t.Fatal(len(out), err)
	}
	return out
}

func TestRealTexts(t *testing.T) {
	for _, name := range []string{"xquad-zh/corpus.jsonl", "xquad-de/corpus.jsonl", "xquad-en/corpus.jsonl", "cranfield/corpus.jsonl", "bad/text/blns.txt"} {
		t.Run(name, func(t *testing.T) {
			var all []string
			if strings.HasSuffix(name, ".txt") {
				raw, err := os.ReadFile(testdata.Path(t, name))
				if err != nil {
					t.Fatal(err)
				}
				all = []string{strings.ToValidUTF8(string(raw), "?")}
			} else {
				all = corpus(t, name)[:80]
			}
			for _, kind := range []string{"fixed", "recursive"} {
				for _, unit := range []Unit{Chars, Words, Tokens} {
					for _, size := range []int{3, 64} {
						c := mustNew(t, kind, param.Values{"size": size, "overlap": "20%", "unit": string(unit)})
						for i, text := range all {
							chunks, err := c.Chunk(text, nil)
							if err == nil {
								err = verify(text, kind, unit, size, Overlap(param.Values{"size": int64(size), "overlap": "20%"}), chunks)
							}
							if err != nil {
								t.Errorf("%s %s %d: text %d: %v", kind, unit, size, i, err)
							}
						}
					}
				}
			}
		})
	}
}

// A text that no separator divides, and long runs of blanks, must take time linear in their length: with quadratic time
// this does not end before the deadline of all tests.
func TestLongTextsWithoutSpaces(t *testing.T) {
	for _, p := range []string{"a", "你", "👍", "\n ", " ", "-", "1", "a'", ". ", "。"} {
		text := strings.Repeat(p, 1<<18/len(p))
		for _, kind := range []string{"fixed", "recursive"} {
			for _, unit := range []Unit{Chars, Words, Tokens} {
				if kind == "fixed" && unit == Tokens {
					continue // most of the time is the tokenizer's, which recursive runs as well
				}
				chunks, err := mustNew(t, kind, param.Values{"size": 256, "overlap": "10%", "unit": string(unit)}).Chunk(text, nil)
				if err != nil || chunks[0].Start != 0 {
					t.Errorf("%q, %s of %s: %d chunks, %v", p, kind, unit, len(chunks), err)
				}
			}
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	all := corpus(b, "cranfield/corpus.jsonl")
	text := strings.Join(all, "\n\n")
	for _, kind := range []string{"fixed", "recursive"} {
		for _, unit := range []Unit{Chars, Words, Tokens} {
			b.Run(fmt.Sprintf("%s/%s", kind, unit), func(b *testing.B) {
				c := mustNew(b, kind, param.Values{"size": 256, "overlap": "10%", "unit": string(unit)})
				b.SetBytes(int64(len(text)))
				var chunks []Chunk
				for b.Loop() {
					var err error
					if chunks, err = c.Chunk(text, chunks[:0]); err != nil {
						b.Fatal(err)
					}
				}
				if err := verify(text, kind, unit, 256, 26, chunks); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func BenchmarkCountTokens(b *testing.B) {
	text := strings.Join(corpus(b, "cranfield/corpus.jsonl"), "\n\n")
	want := len(reference(b, text))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if n, err := CountTokens(text); err != nil || n != want {
			b.Fatal(n, err, want)
		}
	}
}
