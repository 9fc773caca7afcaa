package embedders

import (
	"path/filepath"

	"frontier/internal/param"
)

const lsaFile = "lsa.model"

// Save writes the vocabulary and the basis: uint32 terms, uint32 dim, the terms as strings, float32 idf by term, and the
// basis, terms x dim float32, row-major.
func (l *lsa) Save(dir string) error {
	w, err := createModel(filepath.Join(dir, lsaFile), "lsa", l.params)
	if err != nil {
		return err
	}
	w.uint32(uint32(len(l.terms)))
	w.uint32(uint32(l.dim))
	for _, t := range l.terms {
		w.string(t)
	}
	w.floats(l.idf)
	w.floats(l.basis)
	return w.close()
}

func loadLSA(dir string, p param.Values) (Embedder, error) {
	r, err := openModel(filepath.Join(dir, lsaFile), "lsa", p.Canonical())
	if err != nil {
		return nil, err
	}
	l := newLSA(p)
	n := r.uint32()
	if dim := r.uint32(); dim != uint32(l.dim) {
		r.fail("the basis has %d dimensions, the parameters say %d", dim, l.dim)
	}
	var terms []string
	for range n {
		t := r.string()
		if r.err == nil && len(terms) > 0 && t <= terms[len(terms)-1] {
			r.fail("the terms do not ascend at %q", t)
		}
		if r.err != nil {
			return nil, r.err
		}
		terms = append(terms, t)
	}
	l.setTerms(terms)
	l.idf = r.floats(uint64(n))
	l.basis = r.floats(uint64(n) * uint64(l.dim))
	if err := r.close(); err != nil {
		return nil, err
	}
	return l, nil
}
