package file

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"frontier/chunkers"
	"frontier/embedders"
	"frontier/indexes"
	"frontier/internal/param"
	"frontier/internal/vector"
)

// testRegistry is a registry of stubs that has every kind of parameter.
func testRegistry() Registry {
	metrics := []vector.Metric{vector.L2, vector.IP, vector.Cosine}
	return Registry{
		Chunkers: []chunkers.Kind{
			{Name: "none", Doc: "Whole texts.", New: newStubChunker},
			{Name: "recursive", Doc: "Cuts.", New: newStubChunker, Params: []param.Spec{
				{Name: "size", Type: param.Int, Min: 1, Max: 100_000, Doc: "Units of a chunk."},
				{Name: "overlap", Type: param.Amount, Default: "0", Doc: "Units shared."},
				{Name: "unit", Type: param.String, Default: "tokens", Enum: []string{"chars", "words", "tokens"}, Doc: "The unit."},
			}},
		},
		Embedders: []embedders.Kind{
			{Name: "hash", Doc: "Hashes.", Params: []param.Spec{
				{Name: "dim", Type: param.Int, Default: int64(256), Min: 8, Max: 65536, Doc: "Dimension."},
				{Name: "stem", Type: param.Bool, Default: true, Doc: "Stems."},
			}},
		},
		Engines: []indexes.Engine{
			{Name: "flat", Doc: "Exact.", Metrics: metrics},
			{
				Name: "hnswlib", Doc: "HNSW.", Metrics: metrics,
				Params: []param.Spec{
					{Name: "M", Type: param.Int, Default: int64(16), Min: 2, Max: 1024, Doc: "Links."},
					{Name: "ef_construction", Type: param.Int, Default: int64(100), Min: 1, Doc: "Candidates."},
				},
				Search: []param.Spec{{Name: "ef_search", Type: param.Int, Default: int64(64), Min: 1, Max: 100_000, Doc: "Candidates."}},
			},
			{
				Name: "faiss", Doc: "FAISS.", Metrics: metrics, Absent: "run make deps",
				Params: []param.Spec{{Name: "factory", Type: param.String, Doc: "The factory string."}},
				Search: []param.Spec{{Name: "nprobe", Type: param.Int, Default: int64(0), Doc: "Lists to look into."}},
				Check:  checkStubFaiss,
			},
			{Name: "coder", Doc: "HNSW in Go.", Metrics: []vector.Metric{vector.L2, vector.Cosine}},
			{Name: "bleve", Doc: "BM25.", Lexical: true, Params: []param.Spec{
				{Name: "k1", Type: param.Float, Default: 1.2, Max: 10, Doc: "Saturation."},
				{Name: "b", Type: param.Float, Default: 0.75, Max: 1, Doc: "Length."},
				{Name: "analyzer", Type: param.String, Default: "en", Enum: []string{"en", "standard"}, Doc: "Words."},
			}},
		},
	}
}

func newStubChunker(p param.Values) (chunkers.Chunker, error) {
	if p["size"] == nil {
		return nil, nil
	}
	size := float64(p.Int("size"))
	overlap, percent := plainNumber(p.Str("overlap"))
	if percent {
		overlap *= size / 100
	}
	if overlap >= size {
		return nil, &param.Error{Param: "overlap", Msg: fmt.Sprintf("%s is not less than size, %v", p.Str("overlap"), size)}
	}
	return nil, nil
}

func checkStubFaiss(build, search param.Values, n, _ int) error {
	var nlist int64
	if _, err := fmt.Sscanf(build.Str("factory"), "IVF%d,", &nlist); err != nil {
		return nil
	}
	if n >= 0 && nlist > int64(n) {
		return &param.Error{Param: "factory", Msg: fmt.Sprintf("nlist %d is more than the %d vectors", nlist, n)}
	}
	if probe := int64(search.Int("nprobe")); probe > nlist {
		return &param.Error{Param: "nprobe", Msg: fmt.Sprintf("%d is more than nlist, %d", probe, nlist)}
	}
	return nil
}

// folder makes a folder with the files that the test sweeps name, and returns the path of a sweep file in it.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"corpus.jsonl", "queries.jsonl", "test.tsv", "prices.yaml", "base.fvecs", "query.fvecs", "gt.ivecs"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "sweep.yaml")
}
