package bleve

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	blevesearcher "github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"

	"frontier/indexes"
)

// SearchFiltered is Search among the allowed rows: those that match and are not allowed are passed over while bleve walks
// its lists of words, so a hit has the score that Search gives it. Rarity and length are those of all texts.
func (x *searcher) SearchFiltered(q indexes.Query, k int, allowed *indexes.IDSet, dst []indexes.Hit) ([]indexes.Hit, error) {
	if err := indexes.CheckAllowed(name, allowed, x.rows); err != nil {
		return dst[:0], err
	}
	return x.search(&filtered{Query: match(q.Text), rows: &x.numbers, allowed: allowed, count: x.rows}, k, dst)
}

// filtered is a query that finds the allowed rows only.
type filtered struct {
	query.Query
	rows    *rowNumbers
	allowed *indexes.IDSet
	count   int
}

// Searcher wraps the searcher of the query itself.
func (f *filtered) Searcher(ctx context.Context, reader index.IndexReader, m mapping.IndexMapping, options search.SearcherOptions) (search.Searcher, error) {
	rows, err := f.rows.of(reader, f.count)
	if err != nil {
		return nil, err
	}
	inner, err := f.Query.Searcher(ctx, reader, m, options)
	if err != nil {
		return nil, err
	}
	return blevesearcher.NewFilteringSearcher(ctx, inner, func(_ *search.SearchContext, d *search.DocumentMatch) bool {
		n, ok := number(d.IndexInternalID)
		return ok && n < uint64(len(rows)) && f.allowed.Has(rows[n])
	}), nil
}

// rowNumbers are the rows of bleve's own document numbers, which the builder gives in an order of its own. They are read
// once, as a finished index does not change.
type rowNumbers struct {
	once sync.Once
	rows []int64 // -1 where no document has the number
	err  error
}

func (r *rowNumbers) of(reader index.IndexReader, count int) ([]int64, error) {
	r.once.Do(func() {
		if r.rows, r.err = readRowNumbers(reader, count); r.err != nil {
			r.err = fmt.Errorf("numbering the texts of a bleve index: %w", r.err)
		}
	})
	return r.rows, r.err
}

func readRowNumbers(reader index.IndexReader, count int) (rows []int64, err error) {
	ids, err := reader.DocIDReaderAll()
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := ids.Close(); err == nil {
			err = e
		}
	}()
	for seen := 0; ; seen++ {
		id, err := ids.Next()
		if err != nil {
			return nil, err
		}
		if id == nil {
			if seen != count {
				return nil, fmt.Errorf("there are %d, not the %d that were built; build it again", seen, count)
			}
			return rows, nil
		}
		external, err := reader.ExternalID(id)
		if err != nil {
			return nil, err
		}
		row, err := rowOf(external)
		if err != nil {
			return nil, err
		}
		n, ok := number(id)
		if !ok || n > uint64(2*count) {
			return nil, fmt.Errorf("text %d has the number %x, which this version of bleve should not give", row, id)
		}
		for uint64(len(rows)) <= n {
			rows = append(rows, -1)
		}
		rows[n] = row
	}
}

// number is a document number as bleve writes it.
func number(id index.IndexInternalID) (uint64, bool) {
	if len(id) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(id), true
}
