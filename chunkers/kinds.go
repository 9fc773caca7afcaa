package chunkers

import (
	"fmt"

	"frontier/internal/param"
)

// maxSize keeps sums of sizes and offsets far from overflow; no text that fits in memory needs more.
const maxSize = 1_000_000_000

// Kinds is every chunker that there is. The slice is the caller's own.
func Kinds() []Kind {
	return []Kind{
		{
			Name: "none",
			Doc:  "Leaves each text whole: one chunk a document.",
			New:  func(param.Values) (Chunker, error) { return whole{}, nil },
		},
		{
			Name:   "fixed",
			Doc:    "Windows of size units, each size-overlap units after the one before. Windows of white space only are left out.",
			Params: windowParams(),
			New: func(p param.Values) (Chunker, error) {
				w, err := newWindow(p)
				if err != nil {
					return nil, err
				}
				return &fixed{window: w}, nil
			},
		},
		{
			Name: "recursive",
			Doc: "At most size units, cut at the coarsest place that fits: between paragraphs, else lines, else sentences of any script, " +
				"else words, else units. White space at the ends of a chunk is left out.",
			Params: windowParams(),
			New: func(p param.Values) (Chunker, error) {
				w, err := newWindow(p)
				if err != nil {
					return nil, err
				}
				return &recursive{window: w}, nil
			},
		},
	}
}

func windowParams() []param.Spec {
	return []param.Spec{
		{
			Name: "size", Type: param.Int, Min: 1, Max: maxSize, Column: "chunk_size",
			Doc: "Largest number of units in a chunk; a single code point of more tokens than that is a chunk of its own.",
		},
		{
			Name: "overlap", Type: param.Amount, Default: "0", Column: "chunk_overlap",
			Doc: "Units that a chunk shares with the one before, or a percentage of size, rounded half up; less than size.",
		},
		{
			Name: "unit", Type: param.String, Default: string(Tokens), Enum: []string{string(Chars), string(Words), string(Tokens)}, Column: "chunk_unit",
			Doc: "What size counts: chars (Unicode code points), words (runs without white space; an ideograph or kana is a word of its own), or tokens of cl100k_base.",
		},
	}
}

// Find is the kind called name, or nil.
func Find(kinds []Kind, name string) *Kind {
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i]
		}
	}
	return nil
}

// newWindow reads the parameters that fixed and recursive share. The error is a *param.Error.
func newWindow(p param.Values) (window, error) {
	w := window{size: p.Int("size"), overlap: Overlap(p), unit: Unit(p.Str("unit"))}
	if w.size < 1 || w.size > maxSize {
		return window{}, &param.Error{Param: "size", Msg: fmt.Sprintf("%d is out of range: 1 to %d", w.size, maxSize)}
	}
	if w.overlap >= w.size {
		return window{}, &param.Error{
			Param: "overlap",
			Msg: fmt.Sprintf("%s is %d %s, which is not less than the size of %d; give at most %d, or a larger size",
				p.Str("overlap"), w.overlap, w.unit, w.size, w.size-1),
		}
	}
	switch w.unit {
	case Chars, Words, Tokens:
	default:
		return window{}, &param.Error{Param: "unit", Msg: fmt.Sprintf("%q is not one of chars, words, tokens", w.unit)}
	}
	return w, nil
}
