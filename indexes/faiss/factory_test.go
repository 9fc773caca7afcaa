package faiss

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"frontier/internal/param"
)

func TestDescribe(t *testing.T) {
	for spec, want := range map[string]struct {
		kind    string
		columns map[string]int64
	}{
		"Flat":                            {"flat", nil},
		"HNSW":                            {"hnsw", map[string]int64{"m": 32}},
		"HNSW16":                          {"hnsw", map[string]int64{"m": 16}},
		"HNSW16,Flat":                     {"hnsw", map[string]int64{"m": 16}},
		"HNSW16_SQ8":                      {"hnsw_sq", map[string]int64{"m": 16, "sq_bits": 8}},
		"HNSW32,PQ12":                     {"hnsw_pq", map[string]int64{"m": 32, "pq_m": 12}},
		"NSG24,Flat":                      {"nsg", map[string]int64{"m": 24}},
		"IVF1024,Flat":                    {"ivf_flat", map[string]int64{"nlist": 1024}},
		"IVF1024,FlatDedup":               {"ivf_flat", map[string]int64{"nlist": 1024}},
		"IVF1024,SQfp16":                  {"ivf_sq", map[string]int64{"nlist": 1024, "sq_bits": 16}},
		"IVF1024,PQ16":                    {"ivf_pq", map[string]int64{"nlist": 1024, "pq_m": 16}},
		"IVF1024,PQ16x4fs":                {"ivf_pq_fs", map[string]int64{"nlist": 1024, "pq_m": 16}},
		"IVF65536_HNSW32,PQ16np":          {"ivf_pq", map[string]int64{"nlist": 65536, "pq_m": 16}},
		"IVF256(HNSW16,SQ8),PQ8":          {"ivf_pq", map[string]int64{"nlist": 256, "pq_m": 8}},
		"IVF64,PQ8+8":                     {"ivf_pqr", map[string]int64{"nlist": 64, "pq_m": 8}},
		"IMI2x4,PQ8":                      {"ivf_imi", map[string]int64{"nlist": 256}},
		"OPQ16_64,IVF1024,PQ16":           {"ivf_pq", map[string]int64{"nlist": 1024, "pq_m": 16}},
		"PCAR64,IVF16,SQ4":                {"ivf_sq", map[string]int64{"nlist": 16, "sq_bits": 4}},
		"PCAWR64,L2norm,Flat":             {"flat", nil},
		"IVF16,PQ16,RFlat":                {"ivf_pq", map[string]int64{"nlist": 16, "pq_m": 16}},
		"IVF16,PQ16x4fs,Refine(SQ8)":      {"ivf_pq_fs", map[string]int64{"nlist": 16, "pq_m": 16}},
		"OPQ8,IVF16,PQ8,Refine(PQ16)":     {"ivf_pq", map[string]int64{"nlist": 16, "pq_m": 8}},
		"PQ16":                            {"pq", map[string]int64{"pq_m": 16}},
		"PQ32x4fs_64":                     {"pq_fs", map[string]int64{"pq_m": 32}},
		"SQ8":                             {"sq", map[string]int64{"sq_bits": 8}},
		"LSHrt":                           {"lsh", nil},
		"RQ3x8":                           {"additive", nil},
		"IDMap,Flat":                      {"flat", nil},
		"Flat,IDMap2":                     {"flat", nil},
		"MinMaxFP16,SQ8":                  {"sq", map[string]int64{"sq_bits": 8}},
		" IVF8,Flat ":                     {"ivf_flat", map[string]int64{"nlist": 8}},
		"IVF8,Flatt":                      {"other", map[string]int64{"nlist": 8}},
		"something from a later version!": {"other", nil},
	} {
		kind, text, columns := describe(param.Values{"factory": spec})
		if kind != want.kind || !maps.Equal(columns, want.columns) || text != strings.TrimSpace(spec) {
			t.Errorf("%q: kind %q, columns %v, spec %q; expected %q, %v", spec, kind, columns, text, want.kind, want.columns)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for _, c := range []struct {
		factory string
		search  param.Values
		n, dim  int
		param   string
		says    string
	}{
		{"", nil, -1, -1, "factory", "empty"},
		{"IVF{nlist},Flat", nil, -1, -1, "factory", "placeholder"},
		{"Flat", nil, -1, 0, "factory", "0 dimensions"},
		{"PQ7", nil, -1, 128, "factory", "use 4 or 8"},
		{"IVF16,PQ48", nil, -1, 128, "factory", "use 32 or 64"},
		{"OPQ7,PQ7", nil, -1, 128, "factory", "OPQ7 does not divide"},
		{"OPQ16_60,IVF8,PQ16", nil, -1, 128, "factory", "60 dimensions"},
		{"PCA100,PQ16", nil, -1, 128, "factory", "100 dimensions"},
		{"PCA200,Flat", nil, -1, 128, "factory", "more dimensions than the 128"},
		{"HNSW16,PQ7", nil, -1, 128, "factory", "PQ7"},
		{"PQ8x30", nil, -1, 128, "factory", "30 bits"},
		{"IVF0,Flat", nil, -1, -1, "factory", "not a number"},
		{"IVF99999999999,Flat", nil, -1, -1, "factory", "not a number"},
		{"IMI2x60,Flat", nil, -1, -1, "factory", "more than any machine"},
		{"IVF1024,Flat", nil, 1000, 16, "factory", "1024 lists for 1000 vectors"},
		{"PQ4", nil, 200, 16, "factory", "256 centroids"},
		{"OPQ4,IVF2,PQ4x4", nil, 200, 16, "factory", "256 centroids"},
		{"PQ4x4", nil, 15, 16, "factory", "16 centroids"},
		{"HNSW32", param.Values{"nprobe": int64(4)}, -1, -1, "nprobe", "IVF"},
		{"IVF8,Flat", param.Values{"nprobe": int64(9)}, -1, -1, "nprobe", "has 8"},
		{"IVF8,Flat", param.Values{"ef_search": int64(9)}, -1, -1, "ef_search", "HNSW"},
		{"Flat", param.Values{"k_factor": 2.0}, -1, -1, "k_factor", "refined"},
		{"PQ8,RFlat", param.Values{"k_factor": 0.5}, -1, -1, "k_factor", "at least 1"},
		{"IVF8,Flat", param.Values{"quantizer_ef_search": int64(9)}, -1, -1, "quantizer_ef_search", "quantizer"},
	} {
		err := check(param.Values{"factory": c.factory}, c.search, c.n, c.dim)
		var wrong *param.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%q %v: error is %v", c.factory, c.search, err)
			continue
		}
		if wrong.Param != c.param || !strings.Contains(wrong.Msg, c.says) {
			t.Errorf("%q %v: %v; expected %q to say %q", c.factory, c.search, err, c.param, c.says)
		}
	}
}

func TestCheckAccepts(t *testing.T) {
	for _, c := range []struct {
		factory string
		search  param.Values
		n, dim  int
	}{
		{"PQ7", nil, -1, -1}, // the dimension may fit
		{"OPQ16_64,IVF8,PQ16", nil, 1000, 100},
		{"PCA96,IVF8,PQ16", nil, 1000, 100},
		{"RR64,PQ16", nil, 1000, 100},
		{"Pad128,PQ16", nil, 1000, 100},
		{"IVF1000,Flat", nil, 1000, 100},
		{"IVF8,Flat", param.Values{"nprobe": int64(8)}, 1000, 100},
		{"IVF8_HNSW16,Flat", param.Values{"quantizer_ef_search": int64(8), "nprobe": int64(2)}, 1000, 100},
		{"IVF8,PQ10,RFlat", param.Values{"k_factor": 4.0}, 1000, 100},
		{"HNSW16", param.Values{"ef_search": int64(8), "nprobe": int64(0)}, 1000, 100},
		{"IMI2x2,Flat", nil, 10, 100},
	} {
		if err := check(param.Values{"factory": c.factory}, c.search, c.n, c.dim); err != nil {
			t.Errorf("%q: %v", c.factory, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"OPQ16_64,IVF1024_HNSW32,PQ16x4fs,Refine(SQ8)", "IVF2(,),Flat", "PQ0", "HNSW_", "IMI2x24,PQ1", "RR,ITQ,Flat", ")("} {
		f.Add(seed, 128)
	}
	f.Fuzz(func(t *testing.T, spec string, dim int) {
		if dim > 1<<16 {
			dim = -1
		}
		got, err := parse(spec, dim)
		if err == nil && got.kind == "" {
			t.Errorf("%q has no kind", spec)
		}
		if got.pqM < 0 || got.nlist < 0 || got.trainingRows() < 0 {
			t.Errorf("%q: %+v", spec, got)
		}
	})
}
