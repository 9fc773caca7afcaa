// Package hybrid fuses the rankings of two indexes over the same rows, such as a lexical and a dense one.
package hybrid

import (
	"context"
	"errors"

	"frontier/indexes"
	"frontier/internal/param"
)

const name = "hybrid"

// Engine describes hybrids for help and validation. A hybrid is two loaded indexes whose lists are fused, so Build and Load
// are errors that say so.
func Engine() indexes.Engine {
	errParts := errors.New("hybrid: is made of two indexes that are already loaded; it is not built or loaded by itself")
	return indexes.Engine{
		Name: name,
		Doc:  "Fusion of any two of the other engines: {engine: hybrid, of: [bleve, hnswlib], fusion: [{rrf: 60}, {convex: 0.5}]}. Each part takes the parameters of its engine.",
		Defects: []string{
			"Both parts are searched one after the other on one thread, so its latency is the sum of theirs.",
		},
		Version:       func() string { return "1" },
		Deterministic: true,
		Check:         func(_, _ param.Values, _, _ int) error { return nil },
		Describe: func(param.Values) (string, string, map[string]int64) {
			return name, name, nil
		},
		Build: func(context.Context, indexes.Input, param.Values) (indexes.Built, error) {
			return indexes.Built{}, errParts
		},
		Load: func(context.Context, string, indexes.Input, param.Values) (indexes.Index, error) {
			return nil, errParts
		},
	}
}
