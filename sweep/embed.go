package sweep

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"frontier/bench/truth"
	"frontier/embedders"
	"frontier/internal/cas"
	"frontier/internal/param"
	"frontier/internal/vector"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// embedding is one chunking in vectors, with the queries and their exact neighbours.
type embedding struct {
	chunking   *chunking // nil where the sweep is over vector files
	kind       *embedders.Kind
	params     param.Values
	key        cas.Key
	model      string  // folder of the fitted embedder
	base       string  // fbin
	queries    string  // fbin
	queriesKey cas.Key // digest of given query vectors
	metric     vector.Metric
	truthKey   cas.Key // digest of given neighbours; "" where they were searched for, which leaves no choice
	truth      *truth.Neighbors
	deeper     map[int][]int64 // longer lists of neighbours of the few queries that need them, once they were searched for
	stats      embedStats
	warnings   []string
}

// embedStats is what the embed stage stores beside the vectors.
type embedStats struct {
	N, Dim     int
	Zero       int // vectors that are zero: texts that have no word the embedder knows
	Duplicates int // vectors that repeat an earlier one
	Seconds    float64
	FitSeconds float64
}

const (
	embedVersion = 2
	truthVersion = 1
	// truthSlack is how many neighbours are kept beyond the largest k, so that ties at the k-th can be seen.
	truthSlack = 16
)

// prepareEmbedding embeds one chunking. item is where the sweep file asks for it.
func (r *runner) prepareEmbedding(ctx context.Context, c *corpus, ch *chunking, kind *embedders.Kind, params param.Values, item file.Item) (*embedding, error) {
	e := &embedding{chunking: ch, kind: kind, params: params, metric: vector.Cosine}
	name := describe(kind.Name, kind.Params, params)
	stage := cas.Stage{
		Name: "embed", Version: embedVersion<<16 | kind.Version,
		Params: fmt.Sprintf("%s%s seed=%d", kind.Name, params.Canonical(), r.file.Seed), Inputs: []cas.Key{ch.key},
	}
	texts := func() iter.Seq2[string, error] { return cell.Texts(ch.path) }
	art, err := r.do(ctx, "embed", name, stage, func(ctx context.Context, dir string) error {
		// Blamed here, for the error ends what else is under way, whose errors may come first.
		res := resolver{r.file, r.opt.Registry.Engines, ch.stats.Chunks, -1}
		return res.blame(r.storeEmbedding(ctx, kind, params, texts, dir), item)
	})
	if err != nil {
		return nil, err
	}
	e.key, e.model, e.base = stage.Key(), art.Path("model"), art.Path("vectors.fbin")
	if err := readJSON(art.Path("stats.json"), &e.stats); err != nil {
		return nil, err
	}
	if e.stats.Zero > 0 {
		e.warnings = append(e.warnings, fmt.Sprintf("%d of %d chunks have a zero vector (no word that %s knows); cosine cannot find them", e.stats.Zero, e.stats.N, kind.Name))
	}
	if e.stats.Duplicates > 0 {
		e.warnings = append(e.warnings, fmt.Sprintf("%d of %d chunks have the vector of an earlier one; recall by id depends on how engines order them, so read ann_recall_dist as well", e.stats.Duplicates, e.stats.N))
	}
	qstage := cas.Stage{Name: "embed-queries", Version: embedVersion, Inputs: []cas.Key{e.key, c.queries.digest}}
	qart, err := r.do(ctx, "embed-queries", name, qstage, func(ctx context.Context, dir string) error {
		return storeQueryVectors(kind, params, e.model, c, dir)
	})
	if err != nil {
		return nil, err
	}
	e.queries = qart.Path("queries.fbin")
	var zero int
	if err := readJSON(qart.Path("zero.json"), &zero); err != nil {
		return nil, err
	}
	if zero > 0 {
		e.warnings = append(e.warnings, fmt.Sprintf("%d of %d questions have a zero vector (no word that %s knows); they find nothing by vectors and are left out of ANN recall", zero, c.queries.count, kind.Name))
	}
	return e, r.prepareTruth(ctx, name, e, qstage.Key())
}

func (r *runner) storeEmbedding(ctx context.Context, kind *embedders.Kind, params param.Values, texts embedders.Texts, dir string) error {
	start := time.Now()
	embedder, err := kind.Fit(ctx, params, r.file.Seed, texts)
	if err != nil {
		return fmt.Errorf("fit %s: %w", kind.Name, err)
	}
	model := filepath.Join(dir, "model")
	if err := os.Mkdir(model, 0o755); err != nil {
		return err
	}
	if err := embedder.Save(model); err != nil {
		return fmt.Errorf("save %s: %w", kind.Name, err)
	}
	stats := embedStats{Dim: embedder.Dim(), FitSeconds: time.Since(start).Seconds()}
	w, err := vector.CreateFbin(filepath.Join(dir, "vectors.fbin"), embedder.Dim())
	if err != nil {
		return err
	}
	var counts repeats
	stats.N, err = embedders.EmbedAll(ctx, embedder, texts, r.opt.Jobs, func(rows []float32) error {
		stats.Zero += zeroRows(rows, stats.Dim)
		counts.add(rows, stats.Dim)
		return w.Append(rows)
	})
	if e := w.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("embed with %s: %w", kind.Name, err)
	}
	stats.Seconds = time.Since(start).Seconds()
	stats.Duplicates = counts.count()
	return writeJSON(filepath.Join(dir, "stats.json"), stats)
}

func storeQueryVectors(kind *embedders.Kind, params param.Values, model string, c *corpus, dir string) error {
	embedder, err := kind.Load(model, params)
	if err != nil {
		return fmt.Errorf("load %s: %w", kind.Name, err)
	}
	w, err := vector.CreateFbin(filepath.Join(dir, "queries.fbin"), embedder.Dim())
	if err != nil {
		return err
	}
	row := make([]float32, embedder.Dim())
	zero := 0
	for _, k := range c.golden.Cases {
		if err = embedder.Embed(k.Query, row); err != nil {
			err = fmt.Errorf("%s:%d: embed the question %s: %w", k.File, k.Line, k.ID, err)
			break
		}
		zero += zeroRows(row, len(row))
		if err = w.Append(row); err != nil {
			break
		}
	}
	if e := w.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "zero.json"), zero)
}
