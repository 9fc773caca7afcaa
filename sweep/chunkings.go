package sweep

import (
	"frontier/chunkers"
	"frontier/sweep/file"
)

// Chunking is one way of cutting that a sweep file asks for.
type Chunking struct {
	Name    string // the kind, with the parameters that are not at their defaults
	Chunker chunkers.Chunker
}

// Chunkings are all ways of cutting that f asks for, in file order. A parameter that depends on the data is an error.
func Chunkings(f *file.File, kinds []chunkers.Kind) ([]Chunking, error) {
	var all []Chunking
	res := resolver{f, nil, -1, -1}
	for _, item := range f.Chunkers {
		kind := chunkers.Find(kinds, item.Kind)
		for params, err := range res.items(kind.Params, item) {
			if err != nil {
				return nil, err
			}
			chunker, err := kind.New(params)
			if err != nil {
				return nil, err
			}
			all = append(all, Chunking{describe(kind.Name, kind.Params, params), chunker})
		}
	}
	return all, nil
}
