package embedders

import "frontier/internal/param"

// maxDim bounds the work and memory of a fit; larger bases of term statistics bring nothing.
const maxDim = 4096

// Kinds is every embedder that there is. The slice is the caller's own.
func Kinds() []Kind {
	return []Kind{
		{
			Name: "hash",
			Doc:  "Signed feature hashing of words weighted by (1 + log tf) idf. Lexical; the idf is learnt from the texts.",
			Params: append([]param.Spec{
				{
					Name: "dim", Type: param.Int, Default: int64(256), Min: 8, Max: 1 << 16, Column: "dim",
					Doc: "Components of a vector; the error of an inner product falls with its square root.",
				},
			}, analysisParams()...),
			Fit:     fitHash,
			Load:    loadHash,
			Version: 1,
		},
		{
			Name: "lsa",
			Doc: "Latent semantic analysis: words weighted by (1 + log tf) idf, projected on the leading singular vectors of a sample of the texts " +
				"(randomised SVD).",
			Params: append([]param.Spec{
				{
					Name: "dim", Type: param.Int, Default: int64(128), Min: 1, Max: maxDim, Column: "dim",
					Doc: "Singular vectors kept; at most the rank of the fitted texts.",
				},
				{
					Name: "max_features", Type: param.Int, Default: int64(30000), Min: 1, Max: 1 << 24,
					Doc: "Most terms kept, those that the most texts have.",
				},
				{
					Name: "min_df", Type: param.Int, Default: int64(2), Min: 1, Max: 1 << 30,
					Doc: "Texts that must have a term for it to be kept; 1 where fewer than 100 texts are fitted.",
				},
				{
					Name: "fit_sample", Type: param.Int, Default: int64(50000), Min: 1, Max: 1 << 24,
					Doc: "Most texts that are fitted, drawn uniformly; this bounds memory.",
				},
			}, analysisParams()...),
			Fit:     fitLSA,
			Load:    loadLSA,
			Version: 1,
		},
	}
}

func analysisParams() []param.Spec {
	return []param.Spec{
		{
			Name: "stem", Type: param.Bool, Default: true,
			Doc: "Stem words of English letters (Snowball), so that wings is found by wing.",
		},
		{
			Name: "char_ngrams", Type: param.Int, Default: int64(0), Min: 0, Max: 16,
			Doc: "Add the n-grams of so many characters inside words, which tolerate typing errors; 0 adds none.",
		},
	}
}

// Find is the kind called name, or nil.
func Find(kinds []Kind, name string) *Kind {
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i]
		}
	}
	return nil
}
