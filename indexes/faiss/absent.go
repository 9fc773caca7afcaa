//go:build !faiss || !cgo

package faiss

import (
	"context"
	"errors"

	"frontier/indexes"
	"frontier/internal/param"
)

const absent = "built without FAISS: install libfaiss-dev and libopenblas-openmp-dev (Debian, Ubuntu) or faiss and libomp (Homebrew) and a C++ compiler (make install-deps does), then run make build, or build with CGO_ENABLED=1 and -tags faiss"

var errAbsent = errors.New(name + ": " + absent)

func version() string { return "" }

func details() map[string]string { return nil }

// accepts has no FAISS to ask.
func accepts(string, factory, int) error { return nil }

func build(context.Context, indexes.Input, param.Values) (indexes.Built, error) {
	return indexes.Built{}, errAbsent
}

func load(context.Context, string, indexes.Input, param.Values) (indexes.Index, error) {
	return nil, errAbsent
}
