package sweep

import (
	"fmt"
	"slices"

	"frontier/chunkers"
	"frontier/datasets"
	"frontier/embedders"
	"frontier/indexes"
	"frontier/internal/cas"
	"frontier/internal/param"
	"frontier/sweep/file"
)

// size is the extent of one input of indexes; dim is -1 for lexical engines.
type size struct{ n, dim int }

// knownSizes are the sizes of the inputs that can be told without preparing anything.
func knownSizes(f *file.File, reg file.Registry, cacheDir string) ([]size, error) {
	if v := f.Vectors; v != nil {
		if v.Synthetic != nil {
			return []size{{v.Synthetic.N, v.Synthetic.Dim}}, nil
		}
		base, err := datasets.OpenVectors(f.Rel(v.Base))
		if err != nil {
			return nil, err
		}
		defer base.Close()
		return []size{{base.Len(), base.Dim()}}, nil
	}
	cache, err := cas.OpenExisting(cacheDir)
	if err != nil {
		return nil, nil //nolint:nilerr // a plan without a cache is a plan without these numbers
	}
	defer cache.Close()
	_, stage, err := openCorpus(f)
	if err != nil {
		return nil, err
	}
	art, ok := cache.Lookup(stage.Key())
	if !ok {
		return nil, nil
	}
	var stats corpusStats
	if err := readJSON(art.Path("stats.json"), &stats); err != nil {
		return nil, err
	}
	return textSizes(f, reg, cache, cas.Key(stats.Digest))
}

func textSizes(f *file.File, reg file.Registry, cache *cas.Cache, corpus cas.Key) ([]size, error) {
	var sizes []size
	res := resolver{f, reg.Engines, -1, -1}
	for _, item := range f.Chunkers {
		kind := chunkers.Find(reg.Chunkers, item.Kind)
		for params, err := range res.items(kind.Params, item) {
			if err != nil {
				return nil, err
			}
			art, ok := cache.Lookup(chunkStage(kind, params, f.Dataset.Title, corpus).Key())
			if !ok {
				continue
			}
			var stats chunkStats
			if err := readJSON(art.Path("stats.json"), &stats); err != nil {
				return nil, err
			}
			sizes = append(sizes, size{stats.Chunks, -1})
			dims, err := embedderDims(f, reg, stats.Chunks)
			if err != nil {
				return nil, err
			}
			for _, dim := range dims {
				sizes = append(sizes, size{stats.Chunks, dim})
			}
		}
	}
	return sizes, nil
}

// embedderDims are the dimensions that the embedders of f give.
func embedderDims(f *file.File, reg file.Registry, n int) ([]int, error) {
	var dims []int
	res := resolver{f, reg.Engines, n, -1}
	for _, item := range f.Embedders {
		kind := embedders.Find(reg.Embedders, item.Kind)
		for params, err := range res.items(kind.Params, item) {
			if err != nil {
				return nil, err
			}
			if _, ok := params["dim"].(int64); ok {
				dims = append(dims, params.Int("dim"))
			}
		}
	}
	return dims, nil
}

// expressions are the expressions of the index items with their values on the known sizes.
func expressions(f *file.File, engines []indexes.Engine, sizes []size) ([]PlanExpression, error) {
	var all []PlanExpression
	var items []*file.Index
	for i := range f.Indexes {
		items = append(items, &f.Indexes[i])
		for j := range f.Indexes[i].Parts {
			items = append(items, &f.Indexes[i].Parts[j])
		}
	}
	for _, item := range items {
		engine := indexes.Find(engines, item.Engine)
		if engine == nil {
			continue
		}
		for _, s := range sizes {
			if engine.Lexical != (s.dim < 0) {
				continue
			}
			for _, axis := range slices.Concat(item.Build, item.Template, item.Search) {
				found, err := axisExpressions(engine, axis, s)
				if err != nil {
					return nil, err
				}
				for _, e := range found {
					if !slices.Contains(all, e) {
						all = append(all, e)
					}
				}
			}
		}
	}
	return all, nil
}

func axisExpressions(engine *indexes.Engine, axis file.Axis, s size) ([]PlanExpression, error) {
	spec := param.Find(engine.Params, axis.Name)
	if spec == nil {
		spec = param.Find(engine.Search, axis.Name)
	}
	if spec == nil {
		spec = file.TemplateSpec(axis.Name)
	}
	var all []PlanExpression
	for _, v := range axis.Values {
		if v.Expr == "" {
			continue
		}
		value, err := v.Resolve(spec, s.n, s.dim)
		if err != nil {
			return nil, err
		}
		all = append(all, PlanExpression{Pos: v.Pos, Name: axis.Name, Text: v.Expr, N: s.n, Dim: s.dim, Value: fmt.Sprint(value)})
	}
	return all, nil
}
