package embedders

import (
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// maxStems bounds the memory of one stemmer to a few megabytes.
const maxStems = 1 << 15

// stemmer is the Snowball stemmer for English with a memory, as words repeat. It serves one goroutine at a time.
type stemmer struct {
	known map[string][]byte
}

// stem is the stem of a lower-cased word; words with anything but English letters are their own stem.
func (s *stemmer) stem(word []byte) []byte {
	if len(word) < 3 {
		return word
	}
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return word
		}
	}
	if stem, ok := s.known[string(word)]; ok {
		return stem
	}
	if s.known == nil {
		s.known = make(map[string][]byte)
	}
	if len(s.known) >= maxStems {
		clear(s.known)
	}
	env := snowballstem.NewEnv(string(word))
	english.Stem(env)
	stem := []byte(env.Current())
	s.known[string(word)] = stem
	return stem
}
