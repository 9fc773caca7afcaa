// Package embedders turns texts into vectors. The ones here need no network and no model: they are fitted on the
// texts themselves and give the same vectors for the same texts, parameters and seed.
package embedders

import (
	"context"
	"iter"

	"frontier/internal/param"
)

// Texts streams the texts that an embedder is fitted on. It may be called more than once and gives the same texts in
// the same order each time.
type Texts func() iter.Seq2[string, error]

// Embedder turns a text into a vector of unit length (the zero vector where a text has nothing that the embedder
// knows). It is safe for concurrent use and deterministic.
type Embedder interface {
	Dim() int
	// Embed fills dst, of Dim values.
	Embed(text string, dst []float32) error
	// Save writes what Load needs into the folder dir, which exists.
	Save(dir string) error
}

// Kind describes one embedder.
type Kind struct {
	Name   string
	Doc    string
	Params []param.Spec
	// Fit learns from texts (IDF weights, a basis), in memory bounded by the parameters and not by the corpus.
	Fit func(ctx context.Context, p param.Values, seed uint64, texts Texts) (Embedder, error)
	// Load reads what Save wrote.
	Load func(dir string, p param.Values) (Embedder, error)
	// Version changes when the same inputs would give other vectors. It is part of cache keys.
	Version int
}
