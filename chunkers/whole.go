package chunkers

import "unicode/utf8"

// whole leaves a text in one piece.
type whole struct{}

func (whole) Chunk(text string, dst []Chunk) ([]Chunk, error) {
	if err := checkUTF8(text); err != nil {
		return dst, err
	}
	if text == "" {
		return dst, nil
	}
	return append(dst, Chunk{End: utf8.RuneCountInString(text), Text: text}), nil
}
