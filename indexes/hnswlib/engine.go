// Package hnswlib is the HNSW graph of github.com/nmslib/hnswlib, behind a shim of ours. It needs cgo and the build
// tag hnswlib; without them the engine is described and cannot be built.
package hnswlib

import (
	"fmt"

	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/vector"
)

const name = "hnswlib"

var metrics = []vector.Metric{vector.L2, vector.IP, vector.Cosine}

// Engine describes hnswlib, whether this binary has it or not.
func Engine() indexes.Engine {
	return indexes.Engine{
		Name:    name,
		Doc:     "HNSW graph of hnswlib: fast at high recall, at 4*dim + 8*M bytes a vector and a slow build.",
		Metrics: metrics,
		Params: []param.Spec{
			{Name: "M", Type: param.Int, Default: int64(16), Min: 2, Max: 2048, Column: "m", Doc: "Links a vector keeps on each upper layer, twice as many on the lowest; useful from 12 to 48."},
			{Name: "ef_construction", Type: param.Int, Default: int64(200), Min: 1, Max: 100000, Column: "ef_construction", Doc: "Candidates kept while a vector is inserted; hnswlib raises it to M. Useful from 100 to 200."},
		},
		Search: []param.Spec{
			{Name: "ef_search", Type: param.Int, Default: int64(100), Min: 1, Max: 1000000, Column: "ef_search", Doc: "Candidates kept while searching; hnswlib raises it to the number of hits asked for."},
		},
		Defects: []string{
			"Building with several threads gives another graph each time, so equal seeds give equal answers only with 1 build thread.",
			"Levels come from the C++ library's default random engine: the same seed gives another graph with libc++ than with libstdc++.",
		},
		Absent:        absent,
		Version:       version,
		Details:       details,
		Deterministic: true,
		Check:         check,
		Describe:      describe,
		Build:         build,
		Load:          load,
	}
}

func check(build, _ param.Values, _, dim int) error {
	return indexes.CheckDim(Engine().Params, dim)
}

func describe(build param.Values) (kind, spec string, columns map[string]int64) {
	return "hnsw", fmt.Sprintf("HNSW%d,efConstruction%d", build.Int("M"), build.Int("ef_construction")), nil
}
