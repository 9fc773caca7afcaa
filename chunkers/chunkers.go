// Package chunkers cuts texts into chunks that know exactly where they came from.
package chunkers

import "frontier/internal/param"

// Chunk is a piece of a text: the code points [Start, End) of it, and exactly these.
type Chunk struct {
	Start, End int
	Text       string // a substring of the source, sharing its memory
}

// Chunker cuts texts. It is safe for concurrent use.
type Chunker interface {
	// Chunk appends the chunks of text to dst, in order of Start. Text that is not empty gives at least one chunk, and
	// every code point that is not white space is in at least one. Text must be valid UTF-8.
	Chunk(text string, dst []Chunk) ([]Chunk, error)
}

// Kind describes one chunker.
type Kind struct {
	Name   string
	Doc    string
	Params []param.Spec
	New    func(param.Values) (Chunker, error) // values as completed by Params; checks what spans parameters
}
