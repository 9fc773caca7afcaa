//go:build !hnswlib || !cgo

package hnswlib

import (
	"context"
	"errors"

	"frontier/indexes"
	"frontier/internal/param"
)

const absent = "built without hnswlib: install libhnswlib-dev (Debian, Ubuntu) or hnswlib (Homebrew) and a C++ compiler (make install-deps does), then run make build, or build with CGO_ENABLED=1 and -tags hnswlib"

var errAbsent = errors.New(name + ": " + absent)

func version() string { return "" }

func details() map[string]string { return nil }

func build(context.Context, indexes.Input, param.Values) (indexes.Built, error) {
	return indexes.Built{}, errAbsent
}

func load(context.Context, string, indexes.Input, param.Values) (indexes.Index, error) {
	return nil, errAbsent
}
