// Package indexes makes vectors and texts searchable, one engine a sub-package, behind one narrow interface.
package indexes

import (
	"context"
	"errors"
	"iter"

	"frontier/internal/param"
	"frontier/internal/vector"
)

// Hit is one answer: the row that was found and the engine's own score, where larger is always better (the negated
// squared distance for L2, the inner product, the cosine, the BM25 score).
type Hit struct {
	ID    int64
	Score float32
}

// Query is one question, as text for lexical engines and as a vector for the others. A hybrid uses both.
type Query struct {
	Text   string
	Vector []float32
}

// Input is what an index is built from. Vector engines read Vectors, lexical ones Texts; row i of one belongs to row i
// of the other.
type Input struct {
	Vectors *vector.Matrix
	Metric  vector.Metric
	Texts   func() iter.Seq2[string, error]
	Seed    uint64
	Threads int    // for building; at least 1. OpenMP and BLAS threads are set to it explicitly
	Dir     string // an empty folder that the engine saves into while or after building
}

// Built says what building took, as the engine knows it. The caller measures wall, CPU and memory itself.
type Built struct {
	TrainSeconds float64 // NaN if the engine does not train
	Bytes        int64   // size of the structure as counted by its own serialisation, or on disk
	Warnings     []string
}

// Index is a loaded index. Search may be called by several goroutines at once; Set and Close may not run beside it.
type Index interface {
	// Search appends at most k hits to dst[:0], best first, without padding, and returns it. It uses one thread. It
	// allocates nothing where the engine allows that.
	Search(q Query, k int, dst []Hit) ([]Hit, error)
	// Set changes the search parameters of the loaded index; it never rebuilds. depth is the k that will be asked for.
	// It returns the values in effect, which differ where an engine raises or ignores one, and warnings that say so.
	// A parameter that does not apply to this index is absent from effective: its column is null.
	Set(search param.Values, depth int) (effective param.Values, warnings []string, err error)
	// Len is the number of rows.
	Len() int
	// Bytes is the size of the structure as far as the engine can tell it.
	Bytes() int64
	Close() error
}

// Filtered is an Index that can search among some of its rows only. That an index has the method does not mean that all
// its kinds can: where one cannot, SearchFiltered returns ErrNoFilter.
type Filtered interface {
	Index
	// SearchFiltered is Search among the allowed rows: at most k hits, fewer only where the engine finds no more. The set
	// is for as many rows as the index has.
	SearchFiltered(q Query, k int, allowed *IDSet, dst []Hit) ([]Hit, error)
}

// ErrNoFilter says that an index of this kind cannot search among some of its rows only.
var ErrNoFilter = errors.New("this kind of index cannot filter while it searches")

// Batch is an Index that answers many queries faster together than one by one.
type Batch interface {
	Index
	// SearchBatch answers each query as Search would, or SearchFiltered where allowed is not nil, on at most threads
	// threads, at least 1. It appends the hits of queries[i] to dst[i][:0]; dst is as long as queries. It returns ctx.Err()
	// soon after ctx is done.
	SearchBatch(ctx context.Context, queries []Query, k int, allowed *IDSet, threads int, dst [][]Hit) error
}

// Engine describes one engine. Build saves into Input.Dir; Load reads that folder, so that what is measured is always
// an index that was saved and loaded, as in production.
type Engine struct {
	Name    string
	Doc     string
	Lexical bool            // reads texts and not vectors
	Metrics []vector.Metric // nil for lexical engines
	Params  []param.Spec    // of building
	Search  []param.Spec    // of a loaded index
	Defects []string        // known ones, shown by "frontier engines"
	// Absent says why this binary does not have the engine and how to get it; "" if it has.
	Absent string
	// Version is the version of the library behind it, and of our binding where that changes answers.
	Version func() string
	// Details are further facts about the library that change its speed or its answers, such as its BLAS and the
	// instruction set in use; nil means none.
	Details func() map[string]string
	// Deterministic says whether the same seed with one build thread gives the same answers.
	Deterministic bool
	// Check refuses impossible combinations before anything is built: n rows of dim values, either -1 while it is not
	// known yet. It returns a *param.Error that names the parameter.
	Check func(build, search param.Values, n, dim int) error
	// Describe gives the kind of index (flat, hnsw, ivf_flat, ivf_pq, bm25, ...) and the columns that are not
	// parameters of the same name: for faiss "IVF1024,PQ16" also nlist and pq_m.
	Describe func(build param.Values) (kind string, spec string, columns map[string]int64)
	Build    func(ctx context.Context, in Input, build param.Values) (Built, error)
	Load     func(ctx context.Context, dir string, in Input, build param.Values) (Index, error)
}
