// Package bleve is lexical search by BM25 with github.com/blevesearch/bleve/v2.
package bleve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"

	"frontier/indexes"
	"frontier/internal/param"
)

const (
	name     = "bleve"
	module   = "github.com/blevesearch/bleve/v2"
	field    = "text"
	dirName  = "bleve"
	idDigits = 19 // of the largest int64, so that ids sort as numbers
)

// Engine describes bleve.
func Engine() indexes.Engine {
	return indexes.Engine{
		Name:    name,
		Doc:     "Lexical search by BM25 with bleve: any word of the question may match. Needs no embedder, and finds names and numbers that embeddings miss.",
		Lexical: true,
		Params: []param.Spec{
			{Name: "k1", Type: param.Float, Default: 1.2, Min: 0.01, Max: 100, Column: "bm25_k1", Doc: "How much a word that occurs again adds; usually from 1.2 to 2."},
			{Name: "b", Type: param.Float, Default: 0.75, Min: 0, Max: 1, Column: "bm25_b", Doc: "How much long texts are held back: 0 not at all, 1 in full."},
			{Name: "analyzer", Type: param.String, Default: en.AnalyzerName, Enum: analyzers(), Column: "analyzer", Doc: analyzerDoc},
		},
		Defects: []string{
			"The frequency of a word enters BM25 by its square root, and the rarity of a word counts twice in questions of several words.",
			"In place of the mean length of texts, bleve divides the number of different words by the number of texts and rounds up, so b acts more strongly in large collections.",
			"k1 and b belong to the process, so one process measures one setting at a time.",
			"Every search allocates.",
		},
		Version:       func() string { return indexes.ModuleVersion(module) },
		Deterministic: true,
		Check:         func(_, _ param.Values, _, _ int) error { return nil },
		Describe:      describe,
		Build:         build,
		Load:          load,
	}
}

func describe(build param.Values) (kind, spec string, columns map[string]int64) {
	return "bm25", fmt.Sprintf("BM25,k1=%v,b=%v,%s", build.Float("k1"), build.Float("b"), build.Str("analyzer")), nil
}

// newMapping indexes one field and keeps nothing that ranking does not need.
func newMapping(analyzer string) mapping.IndexMapping {
	text := bleve.NewTextFieldMapping()
	text.Analyzer = analyzer
	text.Store, text.IncludeInAll, text.IncludeTermVectors, text.DocValues = false, false, false, false
	document := bleve.NewDocumentStaticMapping()
	document.AddFieldMappingsAt(field, text)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = document
	m.DefaultAnalyzer = analyzer
	m.ScoringModel = index.BM25Scoring
	return m
}

// build uses the offline builder: it leaves one finished segment, so that nothing is merged while measuring.
func build(ctx context.Context, in indexes.Input, params param.Values) (indexes.Built, error) {
	if in.Texts == nil {
		return indexes.Built{}, fmt.Errorf("%s: there are no texts to index", name)
	}
	dir := filepath.Join(in.Dir, dirName)
	builder, err := bleve.NewBuilder(dir, newMapping(params.Str("analyzer")), map[string]any{"buildPathPrefix": in.Dir})
	if err != nil {
		return indexes.Built{}, fmt.Errorf("starting a bleve index in %s: %w", dir, err)
	}
	rows, err := indexAll(ctx, builder, in)
	if err != nil {
		return indexes.Built{}, err // the caller throws the folder away; closing would merge for nothing
	}
	if err := builder.Close(); err != nil {
		return indexes.Built{}, fmt.Errorf("finishing the bleve index of %d texts: %w", rows, err)
	}
	bytes, err := sizeOf(dir)
	if err != nil {
		return indexes.Built{}, err
	}
	saved := indexes.Saved{Engine: name, Rows: rows, Params: params.Canonical(), Bytes: bytes}
	if err := saved.Write(in.Dir); err != nil {
		return indexes.Built{}, fmt.Errorf("saving the index: %w", err)
	}
	return indexes.Built{TrainSeconds: math.NaN(), Bytes: bytes}, nil
}

func indexAll(ctx context.Context, builder bleve.Builder, in indexes.Input) (rows int, err error) {
	for text, err := range in.Texts() {
		if err != nil {
			return rows, fmt.Errorf("reading text %d: %w", rows, err)
		}
		if err := ctx.Err(); err != nil {
			return rows, fmt.Errorf("building with %s: %w", name, err)
		}
		if err := builder.Index(documentID(rows), map[string]any{field: text}); err != nil {
			return rows, fmt.Errorf("indexing text %d: %w", rows, err)
		}
		rows++
	}
	if rows == 0 {
		return 0, fmt.Errorf("%s: there are no texts to index", name)
	}
	return rows, nil
}

func documentID(row int) string { return fmt.Sprintf("%0*d", idDigits, row) }

func rowOf(id string) (int64, error) {
	row, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("bleve found the document %q, which is no row number: %w", id, err)
	}
	return row, nil
}

func sizeOf(dir string) (int64, error) {
	var bytes int64
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		bytes += info.Size()
		return nil
	})
	return bytes, err
}

func load(_ context.Context, dir string, in indexes.Input, params param.Values) (indexes.Index, error) {
	saved, err := indexes.ReadSaved(dir, name, in, params)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, dirName)
	bytes, err := sizeOf(path)
	if err != nil {
		return nil, err
	}
	if bytes != saved.Bytes {
		return nil, fmt.Errorf("%s: has %d bytes and should have %d; was it cut short? build it again", path, bytes, saved.Bytes)
	}
	use := setting{k1: params.Float("k1"), b: params.Float("b")}
	if err := scoring.acquire(use); err != nil {
		return nil, err
	}
	opened, err := bleve.OpenUsing(path, map[string]any{"read_only": true})
	if err != nil {
		scoring.release()
		return nil, fmt.Errorf("loading %s: %w", path, err)
	}
	x := &searcher{index: opened, rows: saved.Rows, bytes: bytes}
	if count, err := opened.DocCount(); err != nil || count != uint64(saved.Rows) {
		return nil, errors.Join(fmt.Errorf("%s: holds %d texts, not the %d that were built; build it again", path, count, saved.Rows), err, x.Close())
	}
	return x, nil
}

type searcher struct {
	index   bleve.Index
	rows    int
	bytes   int64
	numbers rowNumbers
}

func (x *searcher) Len() int     { return x.rows }
func (x *searcher) Bytes() int64 { return x.bytes }

// Set has nothing to set: k1 and b are parameters of building, though they act when searching.
func (x *searcher) Set(search param.Values, _ int) (param.Values, []string, error) {
	effective, err := param.Complete(nil, search)
	return effective, nil, err
}

// Search finds the texts that share a word with the question. One without words, or with stop words alone, finds none.
func (x *searcher) Search(q indexes.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	return x.search(match(q.Text), k, dst)
}

func match(text string) query.Query {
	q := bleve.NewMatchQuery(text)
	q.SetField(field)
	return q
}

func (x *searcher) search(q query.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	dst = dst[:0]
	if err := indexes.CheckDepth(name, k); err != nil {
		return dst, err
	}
	request := bleve.NewSearchRequestOptions(q, min(k, x.rows), 0, false)
	request.SortBy([]string{"-_score", "_id"})
	result, err := x.index.Search(request)
	if err != nil {
		return dst, fmt.Errorf("searching with %s: %w", name, err)
	}
	for _, hit := range result.Hits {
		row, err := rowOf(hit.ID)
		if err != nil {
			return dst[:0], err
		}
		dst = append(dst, indexes.Hit{ID: row, Score: float32(hit.Score)})
	}
	indexes.SortHits(dst) // float32 may have made ties of what was in order
	return dst, nil
}

func (x *searcher) Close() error {
	scoring.release()
	return x.index.Close()
}
