package embedders

import (
	"slices"
	"testing"
	"unicode/utf8"
)

func termsOf(a analysis, text string) []string {
	var out []string
	(&analyzer{analysis: a}).each(text, func(term []byte) { out = append(out, string(term)) })
	return out
}

func TestTerms(t *testing.T) {
	for _, c := range []struct {
		text string
		a    analysis
		want []string
	}{
		{"", analysis{}, nil},
		{" ,.;!", analysis{}, nil},
		{"The wings, flying.", analysis{}, []string{"the", "wings", "flying"}},
		{"The wings, flying.", analysis{stem: true}, []string{"the", "wing", "fli"}},
		{"the wing's isn't we’ll o'clock", analysis{}, []string{"the", "wing", "isn", "we", "o", "clock"}},
		{"ReadAll", analysis{}, []string{"readall", "read", "all"}},
		{"HTTPServer sha256Sum URLs JSON Read", analysis{}, []string{"httpserver", "http", "server", "sha256sum", "sha256", "sum", "urls", "json", "read"}},
		{"http.Server.Shutdown", analysis{}, []string{"http", "server", "shutdown", "http.server.shutdown"}},
		{
			"use net/http's context.WithTimeout()",
			analysis{},
			[]string{"use", "net", "http", "net/http", "context", "withtimeout", "with", "timeout", "context.withtimeout"},
		},
		{"MAX_SIZE. Next", analysis{}, []string{"max", "size", "max_size", "next"}},
		{"two-dimensional", analysis{}, []string{"two", "dimensional"}},
		{"ﬁve Ｆｕｌｌ e\u0301", analysis{}, []string{"five", "full", "é"}},
		{"Größe ΩΜΕΓΑ Привет", analysis{stem: true}, []string{"größe", "ωμεγα", "привет"}},
		{"中文字 go", analysis{}, []string{"中", "文", "中文", "字", "文字", "go"}},
		{"x中", analysis{}, []string{"x", "中"}},
		{"cats", analysis{ngrams: 3}, []string{"cats", "\x00^ca", "\x00cat", "\x00ats", "\x00ts$"}},
		{"é", analysis{ngrams: 3}, []string{"é", "\x00^é$"}},
		{"a", analysis{ngrams: 4}, []string{"a"}},
	} {
		if got := termsOf(c.a, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q %+v:\ngot  %q\nwant %q", c.text, c.a, got, c.want)
		}
	}
}

func TestLongWordsAreCut(t *testing.T) {
	word := make([]byte, 10*maxTerm)
	for i := range word {
		word[i] = 'a' + byte(i%26)
	}
	got := termsOf(analysis{stem: true, ngrams: 3}, string(word))
	if len(got) != 1 || len(got[0]) != maxTerm {
		t.Errorf("a word of %d bytes gives %d terms, the first of %d", len(word), len(got), len(got[0]))
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("http.Server's ReadAll 中文 é\xff URLs", uint8(3))
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		a := analysis{stem: n%2 == 0, ngrams: int(n) % 17}
		once, again := termsOf(a, text), termsOf(a, text)
		if !slices.Equal(once, again) {
			t.Fatal("terms differ from one call to the next")
		}
		for _, term := range once {
			if term == "" || len(term) > maxTerm {
				t.Fatalf("a term of %d bytes", len(term))
			}
			if utf8.ValidString(text) && len(term) < maxTerm && !utf8.ValidString(term) {
				t.Fatalf("%q is not UTF-8", term)
			}
		}
	})
}

func TestStemmerForgetsWhenFull(t *testing.T) {
	var s stemmer
	word := []byte("aaaaaa")
	for i := range maxStems + 10 {
		for j, x := 0, i; j < len(word); j, x = j+1, x/26 {
			word[j] = 'a' + byte(x%26)
		}
		s.stem(word)
	}
	if len(s.known) > maxStems {
		t.Errorf("%d stems are remembered, more than %d", len(s.known), maxStems)
	}
}
