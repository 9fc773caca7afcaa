//go:build faiss && cgo

package faiss

import "frontier/indexes"

// SearchFiltered gives FAISS the allowed rows as a bitmap. Flat, SQ, HNSW and IVF indexes with Flat, SQ or PQ codes can
// filter, also behind a transform such as OPQ or PCA; the others give indexes.ErrNoFilter. Filtering does not widen the
// search: an IVF index reads nprobe lists, and a graph keeps ef_search candidates, whoever is allowed in them.
func (x *index) SearchFiltered(q indexes.Query, k int, allowed *indexes.IDSet, dst []indexes.Hit) ([]indexes.Hit, error) {
	if err := indexes.CheckAllowed(name, allowed, x.length); err != nil {
		return dst[:0], err
	}
	if !x.filters() {
		return dst[:0], indexes.ErrNoFilter
	}
	return x.search(q, k, allowed, dst)
}
