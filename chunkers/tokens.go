package chunkers

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

const (
	// maxCachedPiece is the longest piece that is worth remembering; its token lengths fit a byte.
	maxCachedPiece = 64
	// maxCachedPieces bounds the cache of one encoder to a few megabytes.
	maxCachedPieces = 1 << 15

	del = "\x7f"
)

// cl100k is the vocabulary, read once. Its Encode only reads, so it may be shared.
var cl100k = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.Cl100kBase) })

var encoders = sync.Pool{New: func() any { return &encoder{seen: make(map[string][]uint8)} }}

// CountTokens is the number of tokens of cl100k_base in text, which must be valid UTF-8. Names of special tokens are
// ordinary text. It is safe for concurrent use.
func CountTokens(text string) (int, error) {
	if err := checkUTF8(text); err != nil {
		return 0, err
	}
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	count := 0
	err := e.each(text, func(int) { count++ })
	return count, err
}

// encoder finds where tokens start. It remembers the pieces that it has seen, as words repeat. It serves one
// goroutine at a time.
type encoder struct {
	seen map[string][]uint8 // piece to the lengths of its tokens
}

// each calls yield with the byte offset at which each token of text starts, in order. Together the tokens cover text.
func (e *encoder) each(text string, yield func(start int)) error {
	codec, err := cl100k()
	if err != nil {
		return fmt.Errorf("load the vocabulary of cl100k_base: %w", err)
	}
	for at := 0; at < len(text); {
		piece := text[at:]
		piece = piece[:nextPiece(piece)]
		lengths, known := e.seen[piece]
		if known {
			for _, n := range lengths {
				yield(at)
				at += int(n)
			}
			continue
		}
		tokens, err := encode(codec, piece)
		if err != nil {
			return fmt.Errorf("tokenize the piece at byte %d: %w", at, err)
		}
		end := at + len(piece)
		for _, t := range tokens {
			yield(at)
			at += len(t)
		}
		if at != end {
			return fmt.Errorf("tokenize the piece that ends at byte %d: its tokens end at byte %d", end, at)
		}
		e.remember(piece, tokens)
	}
	return nil
}

// encode is the tokens of piece. The tokenizer drops the character DEL, which is a token by itself and in no other.
func encode(codec tokenizer.Codec, piece string) ([]string, error) {
	before, after, found := strings.Cut(piece, del)
	_, tokens, err := codec.Encode(before)
	for found && err == nil {
		tokens = append(tokens, del)
		var more []string
		before, after, found = strings.Cut(after, del)
		_, more, err = codec.Encode(before)
		tokens = append(tokens, more...)
	}
	return tokens, err
}

func (e *encoder) remember(piece string, tokens []string) {
	if len(piece) > maxCachedPiece {
		return
	}
	if len(e.seen) >= maxCachedPieces {
		clear(e.seen)
	}
	lengths := make([]uint8, len(tokens))
	for i, t := range tokens {
		lengths[i] = uint8(len(t))
	}
	e.seen[strings.Clone(piece)] = lengths // a clone, so as not to hold on to the whole text
}

// checkUTF8 says where text is not UTF-8.
func checkUTF8(text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("byte %d: the text is not valid UTF-8 there; convert it first", i)
		}
		i += n
	}
	return nil
}

// runeFloor is the last start of a code point of text at or before i.
func runeFloor(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
