// Package coder is the HNSW graph of github.com/coder/hnsw, in pure Go. It is here because people have it deployed; its
// defects are stated, and the sweep shows them.
package coder

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"

	"github.com/coder/hnsw"

	"frontier/indexes"
	"frontier/internal/kernels"
	"frontier/internal/param"
	"frontier/internal/vector"
)

const (
	name     = "coder"
	module   = "github.com/coder/hnsw"
	fileName = "coder.hnsw"
	// buildEf is the library's default; it has no other parameter for building.
	buildEf = 20
)

var metrics = []vector.Metric{vector.L2, vector.Cosine}

func searchSpecs() []param.Spec {
	return []param.Spec{
		{Name: "ef_search", Type: param.Int, Default: int64(buildEf), Min: 1, Max: 1000000, Column: "ef_search", Doc: "Candidates kept while searching; it changes little, see the defects."},
	}
}

// Engine describes coder/hnsw.
func Engine() indexes.Engine {
	return indexes.Engine{
		Name:    name,
		Doc:     "HNSW graph of github.com/coder/hnsw, in pure Go. For those who have it deployed; use hnswlib or faiss for a graph that finds its neighbours.",
		Metrics: metrics,
		Params: []param.Spec{
			{Name: "M", Type: param.Int, Default: int64(16), Min: 2, Max: 2048, Column: "m", Doc: "Links that a vector keeps on each layer."},
		},
		Search: searchSpecs(),
		Defects: []string{
			"v0.6.1 finds few of the true neighbours: recall@10 between 0.05 and 0.25 on 10,000 vectors where hnswlib has 0.53 to 0.95, and a larger ef_search does not help.",
			"Search enters the graph at a random node, so the same query is answered differently each time, whatever the seed.",
			"Nodes that lose their links are linked again by cosine distance, even in a graph of Euclidean distances.",
			"Zero vectors have no distance under cosine, so they are left out of the graph and never found.",
			"There is no inner product and no ef_construction, building uses one thread, and every search allocates.",
		},
		Version: func() string { return indexes.ModuleVersion(module) },
		Check: func(_, _ param.Values, _, dim int) error {
			return indexes.CheckDim([]param.Spec{{Name: "M"}}, dim)
		},
		Describe: func(build param.Values) (string, string, map[string]int64) {
			return "hnsw", fmt.Sprintf("HNSW%d", build.Int("M")), nil
		},
		Build: build,
		Load:  load,
	}
}

func build(ctx context.Context, in indexes.Input, params param.Values) (indexes.Built, error) {
	if err := in.CheckVectors(name, metrics); err != nil {
		return indexes.Built{}, err
	}
	graph := hnsw.NewGraph[int64]()
	graph.M, graph.EfSearch = params.Int("M"), buildEf
	graph.Rng = rand.New(rand.NewSource(int64(in.Seed)))
	graph.Distance = hnsw.EuclideanDistance
	if in.Metric == vector.Cosine {
		graph.Distance = hnsw.CosineDistance
	}
	built := indexes.Built{TrainSeconds: math.NaN()}
	zeros := 0
	for i := range in.Vectors.Len() {
		if err := ctx.Err(); err != nil {
			return indexes.Built{}, fmt.Errorf("building with %s: %w", name, err)
		}
		row := in.Vectors.Row(i)
		if in.Metric == vector.Cosine {
			unit := make([]float32, len(row))
			if kernels.Normalize(unit, row) == 0 {
				zeros++
				continue
			}
			row = unit
		}
		if err := guard(func() { graph.Add(hnsw.MakeNode(int64(i), row)) }); err != nil {
			return indexes.Built{}, fmt.Errorf("adding row %d: %w", i, err)
		}
	}
	if zeros > 0 {
		built.Warnings = append(built.Warnings, fmt.Sprintf("%d zero vectors are not in the graph, because coder/hnsw has no cosine for them; remove them or use another engine", zeros))
	}
	var err error
	if built.Bytes, err = save(graph, filepath.Join(in.Dir, fileName)); err != nil {
		return indexes.Built{}, fmt.Errorf("saving the graph: %w", err)
	}
	if err := indexes.NewSaved(name, in, params, built.Bytes).Write(in.Dir); err != nil {
		return indexes.Built{}, fmt.Errorf("saving the index: %w", err)
	}
	return built, nil
}

// save writes the graph and returns the size of the file.
func save(graph *hnsw.Graph[int64], path string) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := errors.Join(graph.Export(w), w.Flush(), f.Close()); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
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
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	graph := hnsw.NewGraph[int64]()
	var failed error
	if err := guard(func() { failed = graph.Import(bufio.NewReaderSize(f, 1<<20)) }); err != nil || failed != nil {
		return nil, fmt.Errorf("loading %s: %w", path, errors.Join(err, failed))
	}
	return &index{graph: graph, rows: saved.Rows, dim: saved.Dim, metric: saved.Metric, bytes: saved.Bytes}, nil
}

// index may be searched by several goroutines at once: the library's search only reads the graph and keeps what it
// visits in memory of its own.
type index struct {
	graph     *hnsw.Graph[int64]
	rows, dim int
	metric    vector.Metric
	bytes     int64
}

func (x *index) Len() int     { return x.rows }
func (x *index) Bytes() int64 { return x.bytes }

func (x *index) Set(search param.Values, depth int) (param.Values, []string, error) {
	effective, err := param.Complete(searchSpecs(), search)
	if err != nil {
		return nil, nil, err
	}
	x.graph.EfSearch = effective.Int("ef_search")
	if x.graph.EfSearch < depth {
		return effective, []string{fmt.Sprintf("ef_search = %d is below the %d hits asked for and coder/hnsw does not raise it; use at least %d", x.graph.EfSearch, depth, depth)}, nil
	}
	return effective, nil, nil
}

func (x *index) Search(q indexes.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	dst = dst[:0]
	if err := indexes.CheckQuery(name, q, k, x.dim); err != nil {
		return dst, err
	}
	query := q.Vector
	if x.metric == vector.Cosine {
		query = make([]float32, x.dim)
		if kernels.Normalize(query, q.Vector) == 0 {
			return x.first(k, dst), nil
		}
	}
	var nodes []hnsw.Node[int64]
	if err := guard(func() { nodes = x.graph.Search(query, min(k, x.rows)) }); err != nil {
		return dst, err
	}
	for _, node := range nodes {
		score := -kernels.SquaredL2(query, node.Value)
		if x.metric == vector.Cosine {
			score = kernels.Dot(query, node.Value)
		}
		dst = append(dst, indexes.Hit{ID: node.Key, Score: score})
	}
	indexes.SortHits(dst) // the library leaves them in the order of its heap
	return dst, nil
}

// first answers a zero query under cosine: every row scores 0, and ties go to the smaller id.
func (x *index) first(k int, dst []indexes.Hit) []indexes.Hit {
	for i := range min(k, x.rows) {
		dst = append(dst, indexes.Hit{ID: int64(i)})
	}
	return dst
}

func (x *index) Close() error {
	x.graph = nil
	return nil
}

// guard turns a panic of the library, which panics where it finds its graph broken, into an error.
func guard(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s panicked: %v", module, r)
		}
	}()
	f()
	return nil
}
