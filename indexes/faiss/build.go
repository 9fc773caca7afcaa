//go:build faiss && cgo

package faiss

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"frontier/indexes"
	"frontier/internal/kernels"
	"frontier/internal/param"
	"frontier/internal/vector"
)

const (
	fileName = "faiss.index"
	// addBatch is how many rows are added between two looks at the context.
	addBatch = 1 << 16
	// perCentroid is how many training vectors FAISS wants for each centroid before it warns.
	perCentroid = 39
)

func build(ctx context.Context, in indexes.Input, params param.Values) (indexes.Built, error) {
	if err := in.CheckVectors(name, metrics); err != nil {
		return indexes.Built{}, err
	}
	n, dim := in.Vectors.Len(), in.Vectors.Dim()
	if err := check(params, param.Values{}, n, dim); err != nil {
		return indexes.Built{}, err
	}
	spec := strings.TrimSpace(params.Str("factory"))
	f, err := parse(spec, dim)
	if err != nil {
		return indexes.Built{}, err
	}
	x, err := newIndex(spec, dim, in.Metric, in.Seed)
	if err != nil {
		return indexes.Built{}, fmt.Errorf("making %q: %w", spec, err)
	}
	defer x.free()
	built := indexes.Built{TrainSeconds: math.NaN(), Warnings: f.trainingWarnings(spec, n)}
	if !x.trained() {
		start := time.Now()
		if err := x.train(rows(in, 0, n), dim, in.Threads); err != nil {
			return indexes.Built{}, fmt.Errorf("training %q on %d vectors: %w", spec, n, err)
		}
		built.TrainSeconds = time.Since(start).Seconds()
	}
	if err := addAll(ctx, x, f, in); err != nil {
		return indexes.Built{}, fmt.Errorf("building %q: %w", spec, err)
	}
	if built.Bytes, err = x.bytes(); err != nil {
		return indexes.Built{}, fmt.Errorf("measuring %q: %w", spec, err)
	}
	path := filepath.Join(in.Dir, fileName)
	if err := x.save(path); err != nil {
		return indexes.Built{}, fmt.Errorf("saving %s: %w", path, err)
	}
	if err := indexes.CheckFile(path, built.Bytes); err != nil { // FAISS overlooks errors of the last write
		return indexes.Built{}, err
	}
	if err := indexes.NewSaved(name, in, params, built.Bytes).Write(in.Dir); err != nil {
		return indexes.Built{}, fmt.Errorf("saving the index: %w", err)
	}
	return built, nil
}

// addAll adds every row. A graph gets them in one call, because FAISS inserts a batch level by level and another
// batching would give another graph than its users have.
func addAll(ctx context.Context, x handle, f factory, in indexes.Input) error {
	n, dim, batch := in.Vectors.Len(), in.Vectors.Dim(), addBatch
	if f.hnsw() || strings.HasPrefix(f.kind, "nsg") || f.kind == "other" {
		batch = n
	}
	for from := 0; from < n; from += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+batch, n)
		if err := x.add(rows(in, from, to), dim, in.Threads); err != nil {
			return fmt.Errorf("adding rows %d to %d: %w", from, to, err)
		}
	}
	return nil
}

// rows is rows [from, to), for cosine a copy of them at unit length.
func rows(in indexes.Input, from, to int) []float32 {
	values := in.Vectors.Rows(from, to)
	if in.Metric != vector.Cosine {
		return values
	}
	dim := in.Vectors.Dim()
	unit := make([]float32, len(values))
	for i := 0; i < len(values); i += dim {
		kernels.Normalize(unit[i:i+dim], values[i:i+dim])
	}
	return unit
}

func (f *factory) trainingWarnings(spec string, n int) []string {
	var warnings []string
	if f.polysemous {
		warnings = append(warnings, fmt.Sprintf(`most of the training of %q made its codes polysemous, which no search here uses; write PQ%dnp to train faster`, spec, f.pqM))
	}
	if wanted := f.trainingRows() * perCentroid; wanted > int64(n) {
		warnings = append(warnings, fmt.Sprintf("%q is trained on %d vectors, and FAISS wants %d for its %d centroids; recall suffers: use fewer", spec, n, wanted, f.trainingRows()))
	}
	return warnings
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
	spec := strings.TrimSpace(params.Str("factory"))
	f, err := parse(spec, saved.Dim)
	if err != nil {
		return nil, err
	}
	h, err := readIndex(path)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", path, err)
	}
	if h.rows() != saved.Rows || h.dim() != saved.Dim {
		err := fmt.Errorf("%s: holds %d rows of %d, not the %d of %d that were built; build it again", path, h.rows(), h.dim(), saved.Rows, saved.Dim)
		h.free()
		return nil, err
	}
	return &index{handle: h, factory: f, spec: spec, length: saved.Rows, queryDim: saved.Dim, metric: saved.Metric, size: saved.Bytes}, nil
}
