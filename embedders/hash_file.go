package embedders

import (
	"path/filepath"

	"frontier/internal/param"
)

const hashFile = "hash.model"

// Save writes the seed and the places of the idf table that are in use: uint64 seed, uint32 number, then for each
// uint32 place, and after them for each float32 idf.
func (h *hashed) Save(dir string) error {
	w, err := createModel(filepath.Join(dir, hashFile), "hash", h.params)
	if err != nil {
		return err
	}
	w.uint64(h.seed)
	var used []float32
	for _, v := range h.idf {
		if v != 0 {
			used = append(used, v)
		}
	}
	w.uint32(uint32(len(used)))
	for place, v := range h.idf {
		if v != 0 {
			w.uint32(uint32(place))
		}
	}
	w.floats(used)
	return w.close()
}

func loadHash(dir string, p param.Values) (Embedder, error) {
	r, err := openModel(filepath.Join(dir, hashFile), "hash", p.Canonical())
	if err != nil {
		return nil, err
	}
	h := newHashed(p, r.uint64())
	n := r.uint32()
	places := *r
	r.take(4 * uint64(n))
	for _, v := range r.floats(uint64(n)) {
		place := places.uint32()
		if place >= uint32(len(h.idf)) {
			places.fail("place %d is outside the table of %d", place, len(h.idf))
			return nil, places.err
		}
		h.idf[place] = v
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	return h, nil
}
