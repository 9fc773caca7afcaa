package embedders

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"frontier/internal/param"
	"frontier/internal/splitmix"
)

const (
	// hashBits is the size of the table of document frequencies; terms that share a place share the sum.
	hashBits = 20
	// hashSpread is how many components a term is added to, each with a sign of its own: several make it unlikely
	// that two heavy terms share all.
	hashSpread = 4
)

// hashed is signed feature hashing (Weinberger et al., ICML 2009) of terms weighted by (1 + log tf) idf.
type hashed struct {
	analysis
	dim     int
	seed    uint64
	params  string
	idf     []float32 // by the top hashBits of the hash; 0 where no text had a term
	scratch sync.Pool
}

type hashScratch struct {
	analyzer analyzer
	hashes   []uint64
}

func newHashed(p param.Values, seed uint64) *hashed {
	h := &hashed{
		analysis: analysis{stem: p.Bool("stem"), ngrams: p.Int("char_ngrams")},
		dim:      p.Int("dim"), seed: seed, params: p.Canonical(),
		idf: make([]float32, 1<<hashBits),
	}
	h.scratch.New = func() any { return &hashScratch{analyzer: analyzer{analysis: h.analysis}} }
	return h
}

func fitHash(ctx context.Context, p param.Values, seed uint64, texts Texts) (Embedder, error) {
	h := newHashed(p, seed)
	df := make([]uint32, len(h.idf))
	s := h.scratch.Get().(*hashScratch)
	defer h.scratch.Put(s)
	n := 0
	for text, err := range texts() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("fit hash: text %d: %w", n, err)
		}
		n++
		before := -1
		for _, x := range h.terms(text, s) { // sorted, so equal places are neighbours
			if place := int(x >> (64 - hashBits)); place != before {
				df[place]++
				before = place
			}
		}
	}
	for place, d := range df {
		if d > 0 {
			h.idf[place] = float32(idf(n, int(d)))
		}
	}
	return h, nil
}

// terms is the sorted hashes of all terms of text, in the memory of s.
func (h *hashed) terms(text string, s *hashScratch) []uint64 {
	s.hashes = s.hashes[:0]
	s.analyzer.each(text, func(term []byte) { s.hashes = append(s.hashes, hashTerm(term, h.seed)) })
	slices.Sort(s.hashes)
	return s.hashes
}

// Dim is the number of components.
func (h *hashed) Dim() int { return h.dim }

// Embed fills dst with the vector of text. Terms that no fitted text had count for nothing.
func (h *hashed) Embed(text string, dst []float32) error {
	if len(dst) != h.dim {
		return fmt.Errorf("hash: a vector of %d values for an embedding of %d", len(dst), h.dim)
	}
	clear(dst)
	s := h.scratch.Get().(*hashScratch)
	defer h.scratch.Put(s)
	hashes := h.terms(text, s)
	for i := 0; i < len(hashes); {
		x, tf := hashes[i], 0
		for ; i < len(hashes) && hashes[i] == x; i++ {
			tf++
		}
		weight := h.idf[x>>(64-hashBits)]
		if weight == 0 {
			continue
		}
		weight *= float32(damped(tf))
		for range hashSpread {
			x = splitmix.Mix(x)
			at := int((x >> 32) * uint64(h.dim) >> 32)
			if x&1 == 0 {
				dst[at] += weight
			} else {
				dst[at] -= weight
			}
		}
	}
	normalize(dst)
	return nil
}

// hashTerm is FNV-1a, finished so that every bit depends on every byte and on the seed.
func hashTerm(term []byte, seed uint64) uint64 {
	x := uint64(0xcbf29ce484222325)
	for _, c := range term {
		x = (x ^ uint64(c)) * 0x100000001b3
	}
	return splitmix.Finish(x ^ splitmix.Finish(seed))
}
