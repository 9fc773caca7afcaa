// Package engines is the table of all engines. It is apart from package indexes because the engines import that.
package engines

import (
	"frontier/indexes"
	"frontier/indexes/bleve"
	"frontier/indexes/coder"
	"frontier/indexes/faiss"
	"frontier/indexes/flat"
	"frontier/indexes/hnswlib"
	"frontier/indexes/hybrid"
)

// All is every engine there is. Those that this binary lacks are in it as well, with Absent set: they check sweep files
// and describe themselves, and cannot build.
func All() []indexes.Engine {
	return []indexes.Engine{
		flat.Engine(),
		faiss.Engine(),
		hnswlib.Engine(),
		coder.Engine(),
		bleve.Engine(),
		hybrid.Engine(),
	}
}
