package chunkers

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// window is what fixed and recursive share: chunks of at most size units that share overlap units, which is less, with
// the chunk before.
type window struct {
	size, overlap int
	unit          Unit
}

// scratch is the working memory of one call, about 8 bytes a unit of the text.
type scratch struct {
	encoder encoder
	units   units
	seams   seams
}

var scratches = sync.Pool{New: func() any { return &scratch{encoder: encoder{seen: make(map[string][]uint8)}} }}

// prepare checks text and finds its units. The caller puts the scratch back.
func (w window) prepare(text string) (*scratch, error) {
	if err := checkUTF8(text); err != nil {
		return nil, err
	}
	s := scratches.Get().(*scratch)
	var err error
	if s.units, err = s.units[:0].measure(text, w.unit, &s.encoder); err != nil {
		scratches.Put(s)
		return nil, err
	}
	return s, nil
}

// cutter turns byte offsets into chunks. It counts code points as it goes, so starts must ascend; the time is linear in
// the length of the chunks that it makes.
type cutter struct {
	text          string
	bytes, points int // code points before byte offset bytes
}

// cut is the chunk of the bytes [start, end), both at the start of a code point.
func (c *cutter) cut(start, end int) Chunk {
	c.points += utf8.RuneCountInString(c.text[c.bytes:start])
	c.bytes = start
	text := c.text[start:end]
	return Chunk{Start: c.points, End: c.points + utf8.RuneCountInString(text), Text: text}
}

// skipSpace is the offset of the first code point at or after i that is not white space, or the length of text.
func skipSpace(text string, i int) int {
	return len(text) - len(strings.TrimLeftFunc(text[i:], unicode.IsSpace))
}

// trimSpace is the end of the last code point before end that is not white space, or from.
func trimSpace(text string, from, end int) int {
	return from + len(strings.TrimRightFunc(text[from:end], unicode.IsSpace))
}
