// Package faiss is every index that a FAISS factory string can name, behind a C++ shim of ours. It needs cgo and the
// build tag faiss; without them the engine is described and checked, and cannot be built.
package faiss

import (
	"fmt"
	"strings"

	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/vector"
)

const name = "faiss"

var metrics = []vector.Metric{vector.L2, vector.IP, vector.Cosine}

// Engine describes FAISS, whether this binary has it or not.
func Engine() indexes.Engine {
	return indexes.Engine{
		Name:    name,
		Doc:     `Any index of FAISS by its factory string, such as "Flat", "HNSW32", "IVF1024,Flat", "OPQ16,IVF1024,PQ16" or "IVF256,PQ16,RFlat".`,
		Metrics: metrics,
		Params: []param.Spec{
			{Name: "factory", Type: param.String, Column: "index_spec", Doc: "FAISS factory string; nlist is best between 4 and 16 times the square root of the number of vectors, training wants 39 vectors a list, and PQ16np trains far faster than PQ16 for the same answers."},
		},
		Search: searchSpecs(),
		Defects: []string{
			`PQ codes are by default also trained to be polysemous, which takes from seconds to minutes and serves no search made here; write "PQ16np" for "PQ16" to leave that out.`,
			"With ef_search below the number of hits asked for, FAISS keeps the low ef_search and answers worse; it is warned about and stored as it is.",
			"Building with several threads can give other clusters and graphs each time, so equal seeds give equal answers only with 1 build thread.",
			"OPQ starts from a seed of its own that cannot be set.",
			"Training cannot be interrupted; a cancelled build stops after it.",
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

func searchSpecs() []param.Spec {
	return []param.Spec{
		{Name: "nprobe", Type: param.Int, Default: int64(0), Max: 1e8, Column: "nprobe", Doc: "Inverted lists that are read, of an IVF index; 0 means FAISS's default of 1."},
		{Name: "ef_search", Type: param.Int, Default: int64(0), Max: 1e6, Column: "ef_search", Doc: "Candidates kept while searching an HNSW index; 0 means FAISS's default of 16."},
		{Name: "k_factor", Type: param.Float, Default: float64(0), Max: 1e6, Doc: "Candidates ranked again by a refined index, as a multiple of the hits asked for; 0 means FAISS's default of 1."},
		{Name: "quantizer_ef_search", Type: param.Int, Default: int64(0), Max: 1e6, Doc: "Candidates kept while an IVF index with an HNSW quantizer looks for its lists; 0 means FAISS's default of 16."},
	}
}

func describe(build param.Values) (kind, spec string, columns map[string]int64) {
	spec = strings.TrimSpace(build.Str("factory"))
	f, err := parse(spec, -1)
	if err != nil {
		return "other", spec, nil
	}
	columns = map[string]int64{}
	for column, value := range map[string]int64{"nlist": f.nlist, "m": f.m, "pq_m": f.pqM, "sq_bits": f.sqBits} {
		if value > 0 {
			columns[column] = value
		}
	}
	return f.kind, spec, columns
}

func check(build, search param.Values, n, dim int) error {
	specs := []param.Spec{{Name: "factory"}}
	if err := indexes.CheckDim(specs, dim); err != nil {
		return err
	}
	spec := strings.TrimSpace(build.Str("factory"))
	f, err := parse(spec, dim)
	if err != nil {
		return &param.Error{Param: "factory", Msg: err.Error()}
	}
	if err := accepts(spec, f, dim); err != nil {
		return &param.Error{Param: "factory", Msg: err.Error()}
	}
	if err := f.checkRows(spec, n); err != nil {
		return err
	}
	return f.checkSearch(spec, search)
}

func (f *factory) checkRows(spec string, n int) error {
	if n < 0 {
		return nil
	}
	rows := int64(n)
	switch {
	case f.nlist > rows && f.kind != "ivf_imi":
		return &param.Error{Param: "factory", Msg: fmt.Sprintf("%q has %d lists for %d vectors; use at most one list for every 39 vectors", spec, f.nlist, n)}
	case f.trainingRows() > rows:
		return &param.Error{Param: "factory", Msg: fmt.Sprintf("%q learns %d centroids and there are %d vectors; use fewer bits or another index", spec, f.trainingRows(), n)}
	}
	return nil
}

// checkSearch refuses search parameters that this index does not have: their column would claim an effect.
func (f *factory) checkSearch(spec string, search param.Values) error {
	for _, s := range []struct {
		name, needs string
		applies     bool
	}{
		{"nprobe", "an IVF index", f.ivf()},
		{"ef_search", "an HNSW index", f.hnsw()},
		{"k_factor", `a refined index, such as one that ends in ",RFlat"`, f.refine},
		{"quantizer_ef_search", "an IVF index with an HNSW quantizer, such as IVF65536_HNSW32", f.quantizerHNSW},
	} {
		if given(search, s.name) && !s.applies && f.kind != "other" {
			return &param.Error{Param: s.name, Msg: fmt.Sprintf("needs %s, which %q is not", s.needs, spec)}
		}
	}
	if nprobe, ok := search["nprobe"].(int64); ok && f.ivf() && nprobe > f.nlist {
		return &param.Error{Param: "nprobe", Msg: fmt.Sprintf("reads %d lists, and %q has %d", nprobe, spec, f.nlist)}
	}
	if k, ok := search["k_factor"].(float64); ok && k != 0 && k < 1 {
		return &param.Error{Param: "k_factor", Msg: "must be at least 1, or 0 for the default"}
	}
	return nil
}

func given(search param.Values, name string) bool {
	switch v := search[name].(type) {
	case int64:
		return v != 0
	case float64:
		return v != 0
	}
	return false
}
