package cell

import (
	"context"

	"frontier/indexes"
	"frontier/internal/param"
)

// slowBuild builds until it is released.
func slowBuild(release <-chan struct{}) func(context.Context, indexes.Input, param.Values) (indexes.Built, error) {
	return func(context.Context, indexes.Input, param.Values) (indexes.Built, error) {
		<-release
		return indexes.Built{}, nil
	}
}

// counting is an index that finds rows 0, 1, 2, ... for every query.
type counting int

func (c counting) Search(_ indexes.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	dst = dst[:0]
	for i := range min(k, int(c)) {
		dst = append(dst, indexes.Hit{ID: int64(i), Score: float32(-i)})
	}
	return dst, nil
}

func (counting) Set(v param.Values, _ int) (param.Values, []string, error) { return v, nil, nil }
func (c counting) Len() int                                                { return int(c) }
func (counting) Bytes() int64                                              { return 0 }
func (counting) Close() error                                              { return nil }
