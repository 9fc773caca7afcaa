package sweep

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"frontier/bench/truth"
	"frontier/datasets"
	"frontier/internal/cas"
	"frontier/internal/vector"
	"frontier/results"
)

const vectorsVersion = 1

// vectorStats is what the import of a vector file stores beside the vectors.
type vectorStats struct {
	Digest string
	Dim    int
	Audit  datasets.Audit
}

// prepareVectors reads base and query vectors into the cache, checked, and finds the exact neighbours.
func (r *runner) prepareVectors(ctx context.Context) (*embedding, error) {
	v := r.file.Vectors
	metric, err := vector.ParseMetric(v.Metric)
	if err != nil {
		return nil, err
	}
	if err := r.checkEarly(); err != nil { // by the header of the file, before the work that it would spoil
		return nil, err
	}
	base, baseStats, err := r.importVectors(ctx, "base", v.Base)
	if err != nil {
		return nil, err
	}
	queries, queryStats, err := r.importVectors(ctx, "queries", v.Queries)
	if err != nil {
		return nil, err
	}
	e := &embedding{
		key: cas.Key(baseStats.Digest), base: base, queries: queries, queriesKey: cas.Key(queryStats.Digest), metric: metric,
		stats:    embedStats{N: baseStats.Audit.Rows, Dim: baseStats.Dim, Zero: baseStats.Audit.Zero},
		warnings: append(auditWarnings("base", baseStats.Audit, metric), auditWarnings("query", queryStats.Audit, metric)...),
	}
	if v.Truth != "" {
		return e, r.readTruth(ctx, e, e.queriesKey)
	}
	return e, r.prepareTruth(ctx, "vectors", e, e.queriesKey)
}

// checkEarly refuses what the sizes that the vector files state make impossible.
func (r *runner) checkEarly() error {
	base, _, err := r.openVectors("base", r.file.Vectors.Base)
	if err != nil {
		return err
	}
	defer base.Close()
	queries, _, err := r.openVectors("queries", r.file.Vectors.Queries)
	if err != nil {
		return err
	}
	defer queries.Close()
	if base.Dim() != queries.Dim() {
		return fault(r.file, r.file.Vectors.QueriesPos, "vectors.queries",
			fmt.Sprintf("queries have %d dimensions and base vectors %d; both must come from the same model", queries.Dim(), base.Dim()), "")
	}
	if err := r.checkPasses(queries.Len()); err != nil {
		return err
	}
	return checkItems(r.file, r.opt.Registry.Engines, size{base.Len(), base.Dim()})
}

func auditWarnings(what string, a datasets.Audit, metric vector.Metric) []string {
	var w []string
	if a.Zero > 0 && metric == vector.Cosine {
		w = append(w, fmt.Sprintf("%d of %d %s vectors are zero; cosine cannot rank them, so remove them", a.Zero, a.Rows, what))
	}
	if a.Duplicates > 0 {
		w = append(w, fmt.Sprintf("%d of %d %s vectors repeat an earlier one; recall by id depends on how engines order them, so read ann_recall_dist as well", a.Duplicates, a.Rows, what))
	}
	for _, column := range a.Counting {
		w = append(w, fmt.Sprintf("column %d of the %s vectors counts up by one a row: it looks like a row id that was saved as a coordinate; remove it", column, what))
	}
	return w
}

// importVectors copies one set of vectors into the cache as fbin and audits it.
func (r *runner) importVectors(ctx context.Context, role, name string) (string, vectorStats, error) {
	source, params, err := r.openVectors(role, name)
	if err != nil {
		return "", vectorStats{}, err
	}
	defer source.Close()
	art, err := r.do(ctx, "vectors", role, cas.Stage{Name: "vectors", Version: vectorsVersion, Params: params}, func(ctx context.Context, dir string) error {
		path := filepath.Join(dir, "vectors.fbin")
		w, err := vector.CreateFbin(path, source.Dim())
		if err != nil {
			return err
		}
		audit, err := datasets.Import(ctx, source, w)
		if e := w.Close(); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		digest, err := fileDigest(path)
		if err != nil {
			return err
		}
		return writeJSON(filepath.Join(dir, "stats.json"), vectorStats{Digest: digest, Dim: source.Dim(), Audit: audit})
	})
	if err != nil {
		return "", vectorStats{}, err
	}
	var stats vectorStats
	return art.Path("vectors.fbin"), stats, readJSON(art.Path("stats.json"), &stats)
}

// openVectors opens a vector file or the generator, with a text that changes when the content may have.
func (r *runner) openVectors(role, name string) (datasets.VectorReader, string, error) {
	if s := r.file.Vectors.Synthetic; s != nil {
		synthetic := datasets.Synthetic{N: s.N, Dim: s.Dim, Clusters: s.Clusters, Queries: s.Queries, Spread: s.Spread, Seed: r.file.Seed}
		if err := synthetic.Validate(); err != nil {
			return nil, "", fault(r.file, r.file.Vectors.BasePos, "vectors.synthetic", err.Error(), "")
		}
		params := fmt.Sprintf("synthetic %s %+v", role, synthetic)
		if role == "queries" {
			return synthetic.QuerySet(), params, nil
		}
		return synthetic.Base(), params, nil
	}
	path := r.file.Rel(name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	source, err := datasets.OpenVectors(path)
	if err != nil {
		return nil, "", err
	}
	abs, err := filepath.Abs(path)
	return source, fmt.Sprintf("%s %d %d", abs, info.Size(), info.ModTime().UnixNano()), err
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return digestOf(sum), nil
}

// checkedQueries is how many rows of a given truth are compared with exact search. They are spread over the file, for
// a truth may be wrong in part.
const checkedQueries = 100

// readTruth takes the neighbours from the file that the sweep names instead of searching for them. Their distances are
// computed anew, and some rows are compared with exact search, for a truth of another metric or another base file would
// make every recall wrong.
func (r *runner) readTruth(ctx context.Context, e *embedding, queries cas.Key) error {
	v := r.file.Vectors
	path := r.file.Rel(v.Truth)
	digest, err := fileDigest(path)
	if err != nil {
		return err
	}
	e.truthKey = cas.Key(digest)
	stage := cas.Stage{Name: "given-truth", Version: truthVersion, Params: string(e.metric), Inputs: []cas.Key{e.key, queries, cas.Key(digest)}}
	art, err := r.do(ctx, "truth", v.Truth, stage, func(ctx context.Context, dir string) error {
		k, ids, err := readNeighbors(ctx, path)
		if err != nil {
			return err
		}
		n, err := r.completeTruth(ctx, e, k, ids)
		if err != nil {
			return err
		}
		return n.Save(dir)
	})
	if err != nil {
		return err
	}
	e.truth, err = truth.Load(art.Dir)
	return err
}

// readNeighbors reads the ids of a truth file of any kind.
func readNeighbors(ctx context.Context, path string) (k int, ids []int64, err error) {
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		return results.ReadNeighbors(ctx, path)
	}
	return datasets.ReadNeighbors(path)
}

func (r *runner) completeTruth(ctx context.Context, e *embedding, k int, ids []int64) (*truth.Neighbors, error) {
	wrong := func(format string, args ...any) error {
		return fault(r.file, r.file.Vectors.TruthPos, "vectors.truth", fmt.Sprintf(format, args...), "leave the key out to have the truth computed")
	}
	base, err := vector.OpenFbin(e.base)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	q, err := vector.OpenFbin(e.queries)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	if k < min(r.maxK(), base.Len()) {
		return nil, wrong("holds %d neighbours a query, but recall is measured at %d", k, r.maxK())
	}
	n, err := truth.FromIDs(base, q, e.metric, ids, k)
	if err != nil {
		return nil, wrong("%s: %v", r.file.Vectors.Truth, err)
	}
	return n, r.spotCheck(ctx, e, n, base, q, wrong)
}

func (r *runner) spotCheck(ctx context.Context, e *embedding, n *truth.Neighbors, base, q *vector.Matrix, wrong func(string, ...any) error) error {
	rows := min(checkedQueries, q.Len())
	var some []float32
	for i := range rows {
		some = append(some, q.Row(i*q.Len()/rows)...)
	}
	sample, err := vector.NewMatrix(some, q.Dim())
	if err != nil {
		return err
	}
	k := min(n.K, r.maxK())
	exact, err := truth.Exact(ctx, base, sample, e.metric, k, r.opt.Jobs)
	if err != nil {
		return err
	}
	for i := range rows {
		query := i * q.Len() / rows
		_, want := exact.Row(i)
		_, got := n.Row(query)
		for j := range exact.K {
			if diff := got[j] - want[j]; diff > 1e-5*max(1, math.Abs(want[j])) {
				return wrong("is not the truth for these vectors under %s: neighbour %d of query %d is at distance %g, while exact search finds one at %g",
					e.metric, j+1, query, got[j], want[j])
			}
		}
	}
	return nil
}
