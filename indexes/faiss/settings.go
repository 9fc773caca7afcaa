//go:build faiss && cgo

package faiss

import (
	"strings"

	"frontier/internal/param"
)

// What FAISS searches with if nothing is set.
const (
	defaultNprobe  = 1
	defaultEf      = 16
	defaultKFactor = 1
)

// setting is one search parameter by our name and by FAISS's, with the value to set.
type setting struct {
	name, faissName string
	value           float64
}

// settings completes search by FAISS's own defaults for what applies to the index. Every one of them is set each time,
// so that a point never inherits a value from the point before it.
func (f *factory) settings(search param.Values) []setting {
	var all []setting
	add := func(applies bool, name, faissName string, value, fallback float64) {
		if !applies && !given(search, name) {
			return
		}
		if value == 0 {
			value = fallback
		}
		all = append(all, setting{name, faissName, value})
	}
	refineName := "k_factor_rf"
	if strings.HasSuffix(f.kind, "pqr") {
		refineName = "k_factor"
	}
	add(f.ivf(), "nprobe", "nprobe", float64(search.Int("nprobe")), defaultNprobe)
	add(f.hnsw(), "ef_search", "efSearch", float64(search.Int("ef_search")), defaultEf)
	add(f.refine, "k_factor", refineName, search.Float("k_factor"), defaultKFactor)
	add(f.quantizerHNSW, "quantizer_ef_search", "quantizer_efSearch", float64(search.Int("quantizer_ef_search")), defaultEf)
	return all
}
