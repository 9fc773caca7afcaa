package sweep

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"frontier/chunkers"
	"frontier/datasets"
	"frontier/internal/cas"
	"frontier/internal/param"
	"frontier/results/arrowfile"
)

// chunking is one way of cutting the corpus, cut.
type chunking struct {
	kind   *chunkers.Kind
	params param.Values
	key    cas.Key
	path   string // Arrow file of chunks
	stats  chunkStats
	tokens []int // of each chunk; nil unless a context is scored
}

// chunkStats is what the chunk stage stores beside the chunks.
type chunkStats struct {
	Chunks         int
	CharactersMean float64
	CharactersP95  float64
	Tokens         int     // of the chunks, without titles
	IndexedTokens  int     // of what is embedded and indexed, with titles where they are joined
	Expansion      float64 // tokens in chunks over tokens in the source
	EmptyDocuments int
}

const chunkVersion = 1

// titleJoin is the value of dataset.title that puts the title before each chunk.
const titleJoin = "join"

func (r *runner) prepareChunking(ctx context.Context, c *corpus, kind *chunkers.Kind, params param.Values) (*chunking, error) {
	title := r.file.Dataset.Title
	stage := chunkStage(kind, params, title, c.digest)
	art, err := r.do(ctx, "chunk", describe(kind.Name, kind.Params, params), stage, func(ctx context.Context, dir string) error {
		return storeChunks(ctx, c, kind, params, title == titleJoin, dir)
	})
	if err != nil {
		return nil, err
	}
	ch := &chunking{kind: kind, params: params, key: stage.Key(), path: art.Path("chunks.arrow")}
	if err := readJSON(art.Path("stats.json"), &ch.stats); err != nil {
		return nil, err
	}
	if r.file.Measure.ContextTokens > 0 {
		return ch, r.prepareTokens(ctx, ch, describe(kind.Name, kind.Params, params))
	}
	return ch, nil
}

func chunkStage(kind *chunkers.Kind, params param.Values, title string, corpus cas.Key) cas.Stage {
	return cas.Stage{
		Name: "chunk", Version: chunkVersion, Params: kind.Name + params.Canonical() + title, Inputs: []cas.Key{corpus},
	}
}

func storeChunks(ctx context.Context, c *corpus, kind *chunkers.Kind, params param.Values, join bool, dir string) error {
	chunker, err := kind.New(params)
	if err != nil {
		return err
	}
	stored, err := datasets.OpenCorpus(c.path)
	if err != nil {
		return err
	}
	w, err := arrowfile.CreateChunks(filepath.Join(dir, "chunks.arrow"))
	if err != nil {
		return err
	}
	stats, err := chunkAll(ctx, stored, chunker, join, w)
	if e := w.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if stats.Chunks == 0 {
		return &datasets.Error{File: c.name, Msg: "the corpus gives no chunks: every document's text is empty", Hint: "is the text under another key than \"text\"?"}
	}
	if c.stats.Tokens > 0 {
		stats.Expansion = float64(stats.Tokens) / float64(c.stats.Tokens)
	}
	return writeJSON(filepath.Join(dir, "stats.json"), stats)
}

func chunkAll(ctx context.Context, source datasets.Corpus, chunker chunkers.Chunker, join bool, w *arrowfile.ChunkWriter) (chunkStats, error) {
	var stats chunkStats
	var lengths []int
	var chunks []chunkers.Chunk
	doc := -1
	for d, err := range source.Documents(ctx) {
		if err != nil {
			return stats, err
		}
		doc++
		prefix, prefixTokens := "", 0
		if join && d.Title != "" {
			prefix = d.Title + "\n"
			if prefixTokens, err = chunkers.CountTokens(prefix); err != nil {
				return stats, err
			}
		}
		if chunks, err = chunker.Chunk(d.Text, chunks[:0]); err != nil {
			return stats, fmt.Errorf("document %s: %w", d.ID, err)
		}
		if len(chunks) == 0 {
			stats.EmptyDocuments++
		}
		for _, ch := range chunks {
			tokens, err := chunkers.CountTokens(ch.Text)
			if err != nil {
				return stats, fmt.Errorf("document %s: count tokens: %w", d.ID, err)
			}
			stats.Tokens += tokens
			stats.IndexedTokens += tokens + prefixTokens
			lengths = append(lengths, ch.End-ch.Start)
			err = w.Append(arrowfile.Chunk{Doc: int32(doc), Start: int32(ch.Start), End: int32(ch.End), Prefix: prefix, Text: ch.Text})
			if err != nil {
				return stats, err
			}
		}
	}
	stats.Chunks = len(lengths)
	if len(lengths) > 0 {
		sum := 0
		for _, n := range lengths {
			sum += n
		}
		slices.Sort(lengths)
		stats.CharactersMean = float64(sum) / float64(len(lengths))
		stats.CharactersP95 = float64(lengths[(len(lengths)*95+99)/100-1])
	}
	return stats, nil
}
