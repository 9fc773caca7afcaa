package trec

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"

	"frontier/bench/ranking"
	"frontier/datasets"
)

// grader finds the grades of a ranking's documents and their order. Its memory is used again for the next query.
type grader struct {
	seed      maphash.Seed
	slots     []uint32 // hash table over documents: index+1, 0 if empty
	documents []document
	ranked    []ranked
	grades    []int32
}

// document is one that was judged, retrieved, or both.
type document struct {
	hash  uint64
	id    string // if it was judged
	bytes []byte // if it was only retrieved
	grade int32
	line  int // of the run; 0 if it was not retrieved
}

// ranked is a result with what its order depends on; index is that of its line.
type ranked struct {
	score float64
	index int32
	grade int32
}

func newGrader() *grader { return &grader{seed: maphash.MakeSeed()} }

// grade gives the grades of the results in the order of ranking.Order, valid until the next call. A document that is
// retrieved twice is an error.
func (g *grader) grade(file string, judgements []datasets.Judgement, r *datasets.Ranking) ([]int32, error) {
	g.reset(len(judgements) + len(r.Results))
	for _, j := range judgements {
		h := maphash.String(g.seed, j.Document)
		slot, _ := g.find(h, nil, j.Document)
		g.documents = append(g.documents, document{hash: h, id: j.Document, grade: int32(max(j.Grade, ranking.Unjudged))})
		g.slots[slot] = uint32(len(g.documents))
	}
	inOrder := true
	for i, result := range r.Results {
		h := maphash.Bytes(g.seed, result.Document)
		slot, known := g.find(h, result.Document, "")
		if known == nil {
			g.documents = append(g.documents, document{hash: h, bytes: result.Document, grade: ranking.Unjudged})
			g.slots[slot] = uint32(len(g.documents))
			known = &g.documents[len(g.documents)-1]
		} else if known.line > 0 {
			return nil, &datasets.Error{
				File: file, Line: result.Line,
				Msg:  fmt.Sprintf("query %q has document %q here and on line %d", r.Query, result.Document, known.line),
				Hint: "keep one of them: a document counted twice raises every measure",
			}
		}
		known.line = result.Line
		g.ranked = append(g.ranked, ranked{result.Score, int32(i), known.grade})
		inOrder = inOrder && (i == 0 || before(r, g.ranked[i-1], g.ranked[i]) < 0)
	}
	if !inOrder {
		slices.SortFunc(g.ranked, func(a, b ranked) int { return before(r, a, b) })
	}
	for _, result := range g.ranked {
		g.grades = append(g.grades, result.grade)
	}
	return g.grades, nil
}

// before is the order of ranking.Order: score descending, then id descending.
func before(r *datasets.Ranking, a, b ranked) int {
	if c := cmp.Compare(b.score, a.score); c != 0 {
		return c
	}
	return bytes.Compare(r.Results[b.index].Document, r.Results[a.index].Document)
}

// reset makes room for n documents, with half of the slots empty.
func (g *grader) reset(n int) {
	if size := 1 << bits.Len(uint(2*n+1)); size <= cap(g.slots) {
		g.slots = g.slots[:size]
		clear(g.slots)
	} else {
		g.slots = make([]uint32, size)
	}
	g.documents, g.ranked, g.grades = g.documents[:0], g.ranked[:0], g.grades[:0]
}

// find is the document with the given id, as bytes or as text, or nil and the slot where it belongs.
func (g *grader) find(hash uint64, id []byte, text string) (int, *document) {
	mask := len(g.slots) - 1
	for slot := int(hash&math.MaxInt64) & mask; ; slot = (slot + 1) & mask {
		if g.slots[slot] == 0 {
			return slot, nil
		}
		d := &g.documents[g.slots[slot]-1]
		if d.hash != hash {
			continue
		}
		if id == nil && d.id == text || id != nil && (d.bytes != nil && bytes.Equal(d.bytes, id) || d.bytes == nil && d.id == string(id)) {
			return slot, d
		}
	}
}
