//go:build hnswlib && cgo

package hnswlib

// #cgo CXXFLAGS: -std=c++17 -O3 -DNDEBUG
// #cgo linux LDFLAGS: -lstdc++ -lm -lpthread
// #cgo darwin LDFLAGS: -lc++
// #cgo noescape fr_hnsw_search
// #cgo nocallback fr_hnsw_search
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"
	"unsafe"

	"frontier/indexes"
	"frontier/internal/kernels"
	"frontier/internal/param"
	"frontier/internal/vector"
)

const (
	absent   = ""
	fileName = "hnswlib.bin"
	// addBatch is how many rows are added between two looks at the context.
	addBatch = 8192
)

// hnswlib 0.6 does not state its version in its headers, so only that of our binding is known.
func version() string { return "binding 1" }

func details() map[string]string {
	return map[string]string{"instruction_set": C.GoString(C.fr_hnsw_instruction_set())}
}

func build(ctx context.Context, in indexes.Input, params param.Values) (indexes.Built, error) {
	if err := in.CheckVectors(name, metrics); err != nil {
		return indexes.Built{}, err
	}
	n, dim := in.Vectors.Len(), in.Vectors.Dim()
	if n > math.MaxInt32 {
		return indexes.Built{}, fmt.Errorf("%s: holds at most %d vectors, not %d", name, math.MaxInt32, n)
	}
	var failure message
	graph := C.fr_hnsw_new(space(in.Metric), C.int64_t(dim), C.int64_t(n), C.int64_t(params.Int("M")),
		C.int64_t(params.Int("ef_construction")), C.uint64_t(in.Seed), failure.ptr())
	if graph == nil {
		return indexes.Built{}, failure.err()
	}
	defer C.fr_hnsw_free(graph)
	rows := (*C.float)(unsafe.Pointer(&in.Vectors.Rows(0, n)[0]))
	for from := 0; from < n; from += addBatch {
		if err := ctx.Err(); err != nil {
			return indexes.Built{}, fmt.Errorf("building with %s: %w", name, err)
		}
		batch := min(addBatch, n-from)
		if C.fr_hnsw_add(graph, rows, C.int64_t(from), C.int64_t(batch), C.int(in.Threads), normalize(in.Metric), failure.ptr()) != 0 {
			return indexes.Built{}, fmt.Errorf("adding rows %d to %d: %w", from, from+batch, failure.err())
		}
	}
	size := int64(C.fr_hnsw_bytes(graph))
	if err := save(graph, filepath.Join(in.Dir, fileName), size); err != nil {
		return indexes.Built{}, err
	}
	if err := indexes.NewSaved(name, in, params, size).Write(in.Dir); err != nil {
		return indexes.Built{}, fmt.Errorf("saving the index: %w", err)
	}
	built := indexes.Built{TrainSeconds: math.NaN(), Bytes: size}
	if m, ef := params.Int("M"), params.Int("ef_construction"); ef < m {
		built.Warnings = append(built.Warnings, fmt.Sprintf("hnswlib raised ef_construction from %d to M = %d; ask for at least M", ef, m))
	}
	return built, nil
}

// save checks the size, because hnswlib ignores a full disk.
func save(graph *C.fr_hnsw, path string, size int64) error {
	var failure message
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	if C.fr_hnsw_save(graph, cpath, failure.ptr()) != 0 {
		return fmt.Errorf("saving %s: %w", path, failure.err())
	}
	return indexes.CheckFile(path, size)
}

func load(_ context.Context, dir string, in indexes.Input, params param.Values) (indexes.Index, error) {
	saved, err := indexes.ReadSaved(dir, name, in, params)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fileName)
	if err := indexes.CheckFile(path, saved.Bytes); err != nil {
		return nil, err
	}
	var failure message
	cpath := C.CString(path)
	defer C.free(unsafe.Pointer(cpath))
	graph := C.fr_hnsw_load(space(saved.Metric), C.int64_t(saved.Dim), cpath, failure.ptr())
	if graph == nil {
		return nil, fmt.Errorf("loading %s: %w", path, failure.err())
	}
	x := &index{graph: graph, dim: saved.Dim, metric: saved.Metric, bytes: saved.Bytes, rows: int(C.fr_hnsw_len(graph))}
	if x.rows != saved.Rows {
		return nil, errors.Join(fmt.Errorf("%s: holds %d rows, not the %d that were built; build it again", path, x.rows, saved.Rows), x.Close())
	}
	return x, nil
}

type index struct {
	graph     *C.fr_hnsw
	rows, dim int
	metric    vector.Metric
	bytes     int64
	scratch   sync.Pool // *scratch
}

// scratch is what one search needs; it grows to the largest k asked for.
type scratch struct {
	unit      []float32
	ids       []int64
	distances []float32
	failure   message
}

func (x *index) Len() int     { return x.rows }
func (x *index) Bytes() int64 { return x.bytes }

func (x *index) Set(search param.Values, depth int) (param.Values, []string, error) {
	effective, err := param.Complete(Engine().Search, search)
	if err != nil {
		return nil, nil, err
	}
	ef := effective.Int("ef_search")
	C.fr_hnsw_set_ef(x.graph, C.int64_t(ef))
	if ef >= depth {
		return effective, nil, nil
	}
	effective["ef_search"] = int64(depth)
	return effective, []string{fmt.Sprintf("hnswlib searches with ef_search = %d instead of %d, because %d hits are asked for; ask for a lower depth to measure lower values", depth, ef, depth)}, nil
}

func (x *index) Search(q indexes.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	dst = dst[:0]
	if err := indexes.CheckQuery(name, q, k, x.dim); err != nil {
		return dst, err
	}
	s, ok := x.scratch.Get().(*scratch)
	if !ok {
		s = &scratch{unit: make([]float32, x.dim)}
	}
	defer x.scratch.Put(s)
	k = min(k, x.rows)
	if len(s.ids) < k {
		s.ids, s.distances = make([]int64, k), make([]float32, k)
	}
	query := q.Vector
	if x.metric == vector.Cosine {
		kernels.Normalize(s.unit, query)
		query = s.unit
	}
	found := C.fr_hnsw_search(x.graph, (*C.float)(unsafe.Pointer(&query[0])), C.int64_t(k),
		(*C.int64_t)(unsafe.Pointer(&s.ids[0])), (*C.float)(unsafe.Pointer(&s.distances[0])), s.failure.ptr())
	if found < 0 {
		return dst, s.failure.err()
	}
	for i := range int(found) {
		dst = append(dst, indexes.Hit{ID: s.ids[i], Score: -s.distances[i]})
	}
	indexes.SortHits(dst)
	return dst, nil
}

func (x *index) Close() error {
	C.fr_hnsw_free(x.graph)
	x.graph = nil
	return nil
}

func space(m vector.Metric) C.int {
	if m == vector.L2 {
		return C.FR_L2
	}
	return C.FR_IP
}

func normalize(m vector.Metric) C.int {
	if m == vector.Cosine {
		return 1
	}
	return 0
}

// message is where the shim writes what went wrong.
type message [C.FR_ERROR]byte

func (m *message) ptr() *C.char { return (*C.char)(unsafe.Pointer(&m[0])) }

func (m *message) err() error { return errors.New(C.GoString(m.ptr())) }
