package file

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits on what a sweep file may hold. They are far above any real one and keep a hostile or broken file from taking
// time or memory: aliases of aliases grow exponentially, and the YAML parser is quadratic in nesting.
const (
	maxSource  = 256 << 10
	maxNesting = 32
	maxNodes   = 100_000
)

// checkEncoding refuses text that is not UTF-8 text of a reasonable size.
func checkEncoding(p *problems, src []byte) bool {
	switch {
	case len(src) > maxSource:
		p.add(Pos{}, "", fmt.Sprintf("has more than the %d bytes that a sweep file may have", maxSource), "is this the sweep file?")
	case bytes.HasPrefix(src, []byte{0xff, 0xfe}), bytes.HasPrefix(src, []byte{0xfe, 0xff}):
		p.add(Pos{}, "", "is UTF-16", "save it as UTF-8")
	case bytes.HasPrefix(src, []byte("version https://git-lfs")):
		p.add(Pos{}, "", "is a Git LFS pointer and not the file itself", "run git lfs pull")
	case !utf8.Valid(src):
		for i := 0; i < len(src); {
			r, size := utf8.DecodeRune(src[i:])
			if r == utf8.RuneError && size == 1 {
				before := src[:i]
				start := bytes.LastIndexByte(before, '\n') + 1
				pos := Pos{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1}
				p.add(pos, "", fmt.Sprintf("byte %#x at offset %d is not valid UTF-8", src[i], i), "save the file as UTF-8")
				break
			}
			i += size
		}
	case bytes.IndexByte(src, 0) >= 0:
		p.add(Pos{}, "", fmt.Sprintf("has a NUL byte at offset %d", bytes.IndexByte(src, 0)), "is this the sweep file?")
	default:
		return true
	}
	return false
}

// parseYAML calls the YAML parser, whose faults must not become ours: a panic of it is an error.
func parseYAML(src []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("the YAML parser failed on this text: %v", r)
		}
	}()
	tokens := lexer.Tokenize(string(src))
	if err := checkNesting(tokens); err != nil {
		return nil, err
	}
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // duplicates are reported by us, all of them
}

func checkNesting(tokens token.Tokens) error {
	flow, run, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			run, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(0, flow-1)
		case token.SequenceEntryType, token.AnchorType, token.TagType, token.MappingKeyType:
			run++
		}
		if flow > maxNesting || run > maxNesting {
			return &Error{Pos: Pos{t.Position.Line, t.Position.Column}, Msg: fmt.Sprintf("is nested deeper than %d levels", maxNesting)}
		}
	}
	return nil
}
