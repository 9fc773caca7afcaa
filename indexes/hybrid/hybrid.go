// Package hybrid fuses the rankings of two indexes over the same rows, such as a lexical and a dense one.
package hybrid

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"frontier/indexes"
	"frontier/internal/param"
)

const name = "hybrid"

// Engine describes hybrids for help and validation. A hybrid is made of two loaded indexes by New, so Build and Load
// are errors that say so.
func Engine() indexes.Engine {
	errParts := errors.New("hybrid: is made of two indexes that are already loaded; it is not built or loaded by itself")
	return indexes.Engine{
		Name: name,
		Doc:  "Fusion of any two of the other engines: {engine: hybrid, of: [bleve, hnswlib], fusion: {rrf: 60}}. Each part takes the parameters of its engine.",
		Defects: []string{
			"Both parts are searched one after the other on one thread, so its latency is the sum of theirs.",
		},
		Version:       func() string { return "1" },
		Deterministic: true,
		Check:         func(_, _ param.Values, _, _ int) error { return nil },
		Describe: func(param.Values) (string, string, map[string]int64) {
			return name, name, nil
		},
		Build: func(context.Context, indexes.Input, param.Values) (indexes.Built, error) {
			return indexes.Built{}, errParts
		},
		Load: func(context.Context, string, indexes.Input, param.Values) (indexes.Index, error) {
			return nil, errParts
		},
	}
}

// New is an index that searches both parts, each for as many hits as it is asked for and at least depth, and fuses what
// they find. Search parameters are set on the parts themselves. Closing it closes them. The parts must be of the same
// rows.
func New(parts [2]indexes.Index, depth int, f Fusion) (indexes.Index, error) {
	if err := f.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if a, b := parts[0].Len(), parts[1].Len(); a != b {
		return nil, fmt.Errorf("%s: one part has %d rows and the other %d; both must index the same rows", name, a, b)
	}
	return &index{parts: parts, depth: depth, fusion: f}, nil
}

type index struct {
	parts   [2]indexes.Index
	depth   int
	fusion  Fusion
	scratch sync.Pool // *scratch
}

type scratch struct {
	lists [2][]indexes.Hit
	fuser *Fuser
}

func (x *index) Len() int     { return x.parts[0].Len() }
func (x *index) Bytes() int64 { return x.parts[0].Bytes() + x.parts[1].Bytes() }

func (x *index) Set(search param.Values, _ int) (param.Values, []string, error) {
	effective, err := param.Complete(nil, search)
	return effective, nil, err
}

func (x *index) Search(q indexes.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	dst = dst[:0]
	if err := indexes.CheckDepth(name, k); err != nil {
		return dst, err
	}
	s, ok := x.scratch.Get().(*scratch)
	if !ok {
		s = &scratch{fuser: NewFuser()}
	}
	defer x.scratch.Put(s)
	for i, part := range x.parts {
		var err error
		if s.lists[i], err = part.Search(q, max(k, x.depth), s.lists[i]); err != nil {
			return dst, fmt.Errorf("%s: part %d: %w", name, i+1, err)
		}
	}
	dst, err := x.fusion.fuse(s.fuser, dst, s.lists[0], s.lists[1])
	if err != nil {
		return dst, fmt.Errorf("%s: %w", name, err)
	}
	return dst[:min(k, len(dst))], nil
}

func (x *index) Close() error { return errors.Join(x.parts[0].Close(), x.parts[1].Close()) }
