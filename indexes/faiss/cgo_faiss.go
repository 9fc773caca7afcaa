//go:build faiss && cgo

package faiss

// #cgo CXXFLAGS: -std=c++17 -O3 -DNDEBUG
// #cgo linux LDFLAGS: -l:libfaiss.a -lopenblas -lgomp -lstdc++ -lm
// #cgo darwin LDFLAGS: -lfaiss -lomp -lc++ -framework Accelerate
// #cgo noescape fr_faiss_search
// #cgo nocallback fr_faiss_search
// #cgo noescape fr_faiss_search_among
// #cgo nocallback fr_faiss_search_among
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"frontier/indexes"
	"frontier/internal/kernels"
	"frontier/internal/param"
	"frontier/internal/vector"
)

const absent = ""

func version() string {
	var buf message
	C.fr_faiss_version(buf.ptr())
	return buf.String()
}

func details() map[string]string {
	var options, blas message
	C.fr_faiss_compile_options(options.ptr())
	C.fr_faiss_blas(blas.ptr())
	return map[string]string{"compile_options": strings.TrimSpace(options.String()), "blas": blas.String()}
}

// anyDim has many divisors, so that a factory string whose dimension is not known yet can be tried with it.
const anyDim = 192

// accepts asks FAISS whether it can make such an index. While the dimension is not known, only a string that FAISS does
// not understand at all is an error.
func accepts(spec string, f factory, dim int) error {
	if dim <= 0 && f.kind != "other" {
		return nil
	}
	trial := dim
	if dim <= 0 {
		trial = anyDim
	}
	x, err := newIndex(spec, trial, vector.L2, 0)
	if err == nil {
		x.free()
		return nil
	}
	if dim <= 0 && !strings.Contains(err.Error(), "could not parse") && !strings.Contains(err.Error(), "did not generate") {
		return nil
	}
	return fmt.Errorf("FAISS %s cannot make %q: %w", version(), spec, err)
}

// handle owns a FAISS index.
type handle struct{ c *C.fr_faiss }

func newIndex(spec string, dim int, m vector.Metric, seed uint64) (handle, error) {
	metric := C.int(C.FR_FAISS_IP)
	if m == vector.L2 {
		metric = C.FR_FAISS_L2
	}
	text := C.CString(spec)
	defer C.free(unsafe.Pointer(text))
	var failure message
	c := C.fr_faiss_new(C.int64_t(dim), text, metric, C.uint64_t(seed), failure.ptr())
	if c == nil {
		return handle{}, failure.err()
	}
	return handle{c}, nil
}

func readIndex(path string) (handle, error) {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var failure message
	c := C.fr_faiss_load(text, failure.ptr())
	if c == nil {
		return handle{}, failure.err()
	}
	return handle{c}, nil
}

func (h handle) trained() bool { return C.fr_faiss_is_trained(h.c) != 0 }
func (h handle) rows() int     { return int(C.fr_faiss_len(h.c)) }
func (h handle) dim() int      { return int(C.fr_faiss_dim(h.c)) }
func (h handle) free()         { C.fr_faiss_free(h.c) }
func (h handle) filters() bool { return C.fr_faiss_can_filter(h.c) != 0 }

func (h handle) train(rows []float32, dim, threads int) error {
	var failure message
	if C.fr_faiss_train(h.c, C.int64_t(len(rows)/dim), floats(rows), C.int(threads), failure.ptr()) != 0 {
		return failure.err()
	}
	return nil
}

func (h handle) add(rows []float32, dim, threads int) error {
	var failure message
	if C.fr_faiss_add(h.c, C.int64_t(len(rows)/dim), floats(rows), C.int(threads), failure.ptr()) != 0 {
		return failure.err()
	}
	return nil
}

func (h handle) bytes() (int64, error) {
	var failure message
	n := int64(C.fr_faiss_bytes(h.c, failure.ptr()))
	if n < 0 {
		return 0, failure.err()
	}
	return n, nil
}

func (h handle) save(path string) error {
	text := C.CString(path)
	defer C.free(unsafe.Pointer(text))
	var failure message
	if C.fr_faiss_save(h.c, text, failure.ptr()) != 0 {
		return failure.err()
	}
	return nil
}

func (h handle) set(name string, value float64) error {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	var failure message
	if C.fr_faiss_set(h.c, text, C.double(value), failure.ptr()) != 0 {
		return failure.err()
	}
	return nil
}

func floats(values []float32) *C.float { return (*C.float)(unsafe.Pointer(&values[0])) }

type index struct {
	handle
	factory
	spec      string
	length    int
	queryDim  int
	metric    vector.Metric
	size      int64
	scratches sync.Pool // *scratch
}

// scratch is what one search needs; it grows to the largest k asked for.
type scratch struct {
	unit      []float32
	ids       []int64
	distances []float32
	failure   message
}

func (x *index) Len() int     { return x.length }
func (x *index) Bytes() int64 { return x.size }

func (x *index) Set(search param.Values, depth int) (param.Values, []string, error) {
	full, err := param.Complete(searchSpecs(), search)
	if err != nil {
		return nil, nil, err
	}
	if err := x.checkSearch(x.spec, full); err != nil {
		return nil, nil, err
	}
	effective := param.Values{}
	for _, s := range x.settings(full) {
		if err := x.set(s.faissName, s.value); err != nil {
			return nil, nil, &param.Error{Param: s.name, Msg: fmt.Sprintf("FAISS cannot set it on %q: %v", x.spec, err)}
		}
		if s.name == "k_factor" {
			effective[s.name] = s.value
		} else {
			effective[s.name] = int64(s.value)
		}
	}
	var warnings []string
	if ef, ok := effective["ef_search"].(int64); ok && ef < int64(depth) {
		warnings = append(warnings, fmt.Sprintf("ef_search = %d is below the %d hits asked for and FAISS does not raise it, so recall suffers; use at least %d", ef, depth, depth))
	}
	return effective, warnings, nil
}

func (x *index) Search(q indexes.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	return x.search(q, k, nil, dst)
}

// search is Search, or SearchFiltered where allowed is not nil.
func (x *index) search(q indexes.Query, k int, allowed *indexes.IDSet, dst []indexes.Hit) ([]indexes.Hit, error) {
	dst = dst[:0]
	if err := indexes.CheckQuery(name, q, k, x.queryDim); err != nil {
		return dst, err
	}
	s, ok := x.scratches.Get().(*scratch)
	if !ok {
		s = &scratch{unit: make([]float32, x.queryDim)}
	}
	defer x.scratches.Put(s)
	k = min(k, x.length)
	if len(s.ids) < k {
		s.ids, s.distances = make([]int64, k), make([]float32, k)
	}
	query := q.Vector
	if x.metric == vector.Cosine {
		kernels.Normalize(s.unit, query)
		query = s.unit
	}
	ids := (*C.int64_t)(unsafe.Pointer(&s.ids[0]))
	var result C.int
	if allowed == nil {
		result = C.fr_faiss_search(x.c, floats(query), C.int64_t(k), ids, floats(s.distances), s.failure.ptr())
	} else {
		bitmap := (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(allowed.Words())))
		result = C.fr_faiss_search_among(x.c, floats(query), C.int64_t(k), bitmap, ids, floats(s.distances), s.failure.ptr())
	}
	if result != 0 {
		return dst, s.failure.err()
	}
	for i, id := range s.ids[:k] {
		if id < 0 {
			continue // padding
		}
		score := s.distances[i]
		if x.metric == vector.L2 {
			score = -score
		}
		dst = append(dst, indexes.Hit{ID: id, Score: score})
	}
	indexes.SortHits(dst)
	return dst, nil
}

func (x *index) Close() error {
	x.free()
	x.c = nil
	return nil
}

// message is where the shim writes a text or what went wrong.
type message [C.FR_FAISS_ERROR]byte

func (m *message) ptr() *C.char { return (*C.char)(unsafe.Pointer(&m[0])) }

func (m *message) String() string { return C.GoString(m.ptr()) }

func (m *message) err() error { return errors.New(m.String()) }
