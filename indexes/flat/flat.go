// Package flat is exact search: every row is compared with the query by the kernels of this project.
package flat

import (
	"context"
	"fmt"
	"math"
	"sync"

	"frontier/indexes"
	"frontier/internal/kernels"
	"frontier/internal/param"
	"frontier/internal/vector"
)

const name = "flat"

var metrics = []vector.Metric{vector.L2, vector.IP, vector.Cosine}

// Engine describes exact search.
func Engine() indexes.Engine {
	return indexes.Engine{
		Name:          name,
		Doc:           "Exact search by comparing the query with every row, in float32; ties go to the smaller id. The yardstick for recall, and fast enough below some 10,000 rows.",
		Metrics:       metrics,
		Version:       func() string { return "2" },
		Details:       func() map[string]string { return map[string]string{"kernels": kernels.Variant()} },
		Deterministic: true,
		Check:         func(_, _ param.Values, _, dim int) error { return indexes.CheckDim(nil, dim) },
		Describe: func(param.Values) (string, string, map[string]int64) {
			return "flat", "Flat", nil
		},
		Build: build,
		Load:  load,
	}
}

// build saves only a description: the vectors themselves are the index.
func build(_ context.Context, in indexes.Input, params param.Values) (indexes.Built, error) {
	if err := in.CheckVectors(name, metrics); err != nil {
		return indexes.Built{}, err
	}
	x := index{vectors: in.Vectors, metric: in.Metric}
	if err := indexes.NewSaved(name, in, params, 0).Write(in.Dir); err != nil {
		return indexes.Built{}, fmt.Errorf("saving the flat index: %w", err)
	}
	return indexes.Built{TrainSeconds: math.NaN(), Bytes: x.Bytes()}, nil
}

func load(_ context.Context, dir string, in indexes.Input, params param.Values) (indexes.Index, error) {
	if in.Vectors == nil {
		return nil, fmt.Errorf("%s: a flat index is loaded from the vectors, and none were given", dir)
	}
	saved, err := indexes.ReadSaved(dir, name, in, params)
	if err != nil {
		return nil, err
	}
	return newIndex(in.Vectors, saved.Metric), nil
}

type index struct {
	vectors *vector.Matrix // the caller's; Close leaves it open
	metric  vector.Metric
	inverse []float32 // for cosine: 1/norm of each row, 0 for a zero row, or extreme
	scratch sync.Pool // *scratch
	size    func() float64
}

// scratch is what a search works in.
type scratch struct {
	unit   []float32 // for cosine: the normalised query
	scores [scoreRows]float32
}

// scoreRows is how many rows are compared before their scores are looked at.
const scoreRows = 256

func newIndex(vectors *vector.Matrix, m vector.Metric) *index {
	x := &index{vectors: vectors, metric: m}
	x.scratch.New = func() any { return &scratch{unit: make([]float32, vectors.Dim())} }
	x.size = sync.OnceValue(func() float64 { return largest(vectors.Rows(0, vectors.Len())) })
	if m == vector.Cosine {
		x.inverse = make([]float32, x.Len())
		for i := range x.inverse {
			x.inverse[i] = inverseNorm(kernels.Norm(vectors.Row(i)))
		}
	}
	return x
}

func (x *index) Len() int { return x.vectors.Len() }

func (x *index) Bytes() int64 {
	bytes := int64(x.Len()) * int64(x.vectors.Dim()) * 4
	if x.metric == vector.Cosine {
		bytes += int64(x.Len()) * 4
	}
	return bytes
}

func (x *index) Set(search param.Values, _ int) (param.Values, []string, error) {
	effective, err := param.Complete(nil, search)
	return effective, nil, err
}

func (x *index) Search(q indexes.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	if err := indexes.CheckQuery(name, q, k, x.vectors.Dim()); err != nil {
		return dst[:0], err
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	var top indexes.TopK
	top.Reset(dst, min(k, x.Len()))
	query := x.prepare(s, q.Vector)
	for from := 0; from < x.Len(); from += scoreRows {
		for i, score := range x.scores(s, query, from, min(from+scoreRows, x.Len())) {
			// Of equal scores the smaller id, which came before, is kept.
			if score > top.Threshold() || !top.Full() {
				top.Offer(int64(from+i), score)
			}
		}
	}
	return top.Sorted(), nil
}

// prepare is the query as it is compared with rows. It may lie in s.
func (x *index) prepare(s *scratch, query []float32) []float32 {
	if x.metric != vector.Cosine {
		return query
	}
	kernels.Normalize(s.unit, query)
	return s.unit
}

// scores is those of the rows [from, to), at most scoreRows, for a prepared query. A row has the same bits in whatever
// company. The result lies in s.
func (x *index) scores(s *scratch, query []float32, from, to int) []float32 {
	scores, rows := s.scores[:to-from], x.vectors.Rows(from, to)
	if x.metric == vector.L2 {
		kernels.SquaredL2Rows(scores, query, rows)
		for i := range scores {
			scores[i] = -scores[i]
		}
		return scores
	}
	kernels.DotRows(scores, query, rows)
	if x.metric == vector.Cosine {
		for i, inverse := range x.inverse[from:to] {
			if inverse == extreme {
				scores[i] = extremeDot(query, x.vectors.Row(from+i))
				continue
			}
			scores[i] *= inverse
		}
	}
	return scores
}

func (x *index) Close() error { return nil }

// extreme marks a row whose norm, or its inverse, is near the end of float32's range, where products in float32 would
// vanish or overflow.
const extreme float32 = -1

func inverseNorm(norm float64) float32 {
	switch {
	case norm == 0:
		return 0
	case norm < 1e-15 || norm > 1e15:
		return extreme
	}
	return float32(1 / norm)
}

func extremeDot(unit, row []float32) float32 {
	return float32(kernels.Dot64(unit, row) / kernels.Norm(row))
}
