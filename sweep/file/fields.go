package file

import "fmt"

// fieldKind is what a fixed key of the sweep file holds.
type fieldKind int

const (
	fieldInt fieldKind = iota
	fieldNumber
	fieldText
	fieldDuration
	fieldSize
	fieldOther // decoded by a function of its own
)

// field describes one fixed key. The tables below are what parsing knows keys from, what "did you mean" chooses from
// and what the JSON Schema is made of.
type field struct {
	name     string
	kind     fieldKind
	min, max float64  // of numbers, inclusive; max 0 means no limit
	enum     []string // of text; none means any
	def      any      // int, float64 or string as written; nil means none
	required bool
	instead  string // not empty: the contract has it, this version has not, and this is what to use
	schema   string // of fieldOther: the definition in the JSON Schema
	doc      string
}

func rootFields() []field {
	return []field{
		{name: "version", kind: fieldInt, min: 1, required: true, doc: "Version of this format: 1."},
		{name: "name", kind: fieldText, doc: "Name of the sweep, in every row. Default: the file's name without its ending."},
		{name: "hypothesis", kind: fieldText, doc: "What the sweep is to find out, for the experiment card of compare."},
		{name: "seed", kind: fieldOther, def: 42, schema: "seed", doc: "Seed of everything random."},
		{name: "build_threads", kind: fieldInt, max: 4096, def: 0, doc: "Threads for building an index; 0 means all cores. Only 1 is reproducible with every engine."},
		{name: "dataset", kind: fieldOther, schema: "dataset", doc: "A corpus of text with questions. Either this or vectors."},
		{name: "vectors", kind: fieldOther, schema: "vectors", doc: "Files of vectors, or synthetic ones. Either this or dataset."},
		{name: "chunkers", kind: fieldOther, schema: "chunkers", doc: "Ways to cut documents. Default: none, which keeps them whole."},
		{name: "embedders", kind: fieldOther, schema: "embedders", doc: "Ways to turn chunks into vectors."},
		{name: "indexes", kind: fieldOther, schema: "indexes", doc: "Engines with the parameters to try."},
		{name: "rerankers", kind: fieldOther, schema: "rerankers", doc: "Only [{kind: none}] in this version."},
		{name: "filters", kind: fieldOther, schema: "filters", doc: "Relevance predicates to try; only for text. What a caller may see comes from the cases and is always enforced."},
		{name: "measure", kind: fieldOther, schema: "measure", doc: "What is measured, how, and for how long."},
		{name: "limits", kind: fieldOther, schema: "limits", doc: "Bounds on one cell."},
		{name: "objectives", kind: fieldOther, schema: "objectives", doc: "What the Pareto frontier is taken over, each column:max or column:min."},
		{name: "cost", kind: fieldOther, schema: "cost", doc: "What the price is computed for. Without it there are no costs."},
		{name: "strategy", kind: fieldOther, schema: "strategy", doc: "How the grid is walked."},
	}
}

func datasetFields() []field {
	return []field{
		{name: "corpus", kind: fieldText, required: true, doc: "BEIR JSON Lines, a folder of .md and .txt, or godoc:std."},
		{name: "queries", kind: fieldText, required: true, doc: "BEIR JSON Lines, or a golden set."},
		{name: "qrels", kind: fieldText, doc: "BEIR tsv or TREC judgements; not needed with a golden set."},
		{name: "title", kind: fieldText, enum: []string{"join", "omit"}, def: "join", doc: "Whether a document's title is put before each of its chunks for indexing."},
		{name: "split", kind: fieldText, doc: "Ask only the cases of this split, such as dev or release. Default: all."},
		{name: "tags", kind: fieldOther, schema: "tags", doc: "Ask only the cases that have any of these tags. Default: all."},
		{name: "sample", kind: fieldInt, min: 1, max: 1e9, doc: "Ask so many of them, drawn by the seed. Default: all."},
		{name: "by", kind: fieldText, doc: "Field of the golden set, such as scenario, whose values the sample keeps in proportion."},
	}
}

func vectorsFields() []field {
	return []field{
		{name: "base", kind: fieldText, doc: "File of the vectors to search in."},
		{name: "queries", kind: fieldText, doc: "File of the query vectors."},
		{name: "truth", kind: fieldText, doc: "File of exact neighbours, which is checked against our own."},
		{name: "metric", kind: fieldText, required: true, enum: []string{"l2", "ip", "cosine"}, doc: "How vectors are compared."},
		{name: "synthetic", kind: fieldOther, schema: "synthetic", doc: "Clustered Gaussian vectors in place of files."},
	}
}

func syntheticFields() []field {
	return []field{
		{name: "n", kind: fieldInt, min: 1, max: 1e10, required: true, doc: "Number of vectors."},
		{name: "dim", kind: fieldInt, min: 1, max: 65536, required: true, doc: "Dimension."},
		{name: "clusters", kind: fieldInt, min: 1, max: 1e9, required: true, doc: "Number of clusters; their centres are standard normal."},
		{name: "spread", kind: fieldNumber, min: 0, max: 1e6, required: true, doc: "Standard deviation within a cluster."},
		{name: "queries", kind: fieldInt, min: 1, max: 1e9, required: true, doc: "Number of query vectors."},
	}
}

func measureFields() []field {
	return []field{
		{name: "k", kind: fieldOther, schema: "ks", def: "[1, 5, 10]", doc: "Cut-offs of the metrics."},
		{name: "depth", kind: fieldInt, min: 1, max: 1e6, doc: "How many answers each engine is asked for. Default: the largest k for vectors, the larger of it and 100 for text."},
		{name: "unit", kind: fieldText, enum: []string{"document", "chunk"}, def: "document", doc: "What k counts; only for text."},
		{name: "evidence", kind: fieldText, enum: []string{"overlap", "contain"}, def: "overlap", doc: "Whether a chunk holds a gold span that it overlaps, or only one that it contains; only for text."},
		{name: "relevance_min", kind: fieldInt, min: 1, max: 1e6, def: 1, doc: "Smallest grade that counts as relevant in binary metrics; only for text."},
		{name: "context_tokens", kind: fieldOther, schema: "budget", doc: "Also score what fits into a context of so many tokens (cl100k_base): one number; only for text. Default: no budget."},
		{name: "withheld_max", kind: fieldNumber, min: 0, max: 0.99, def: 0.05, doc: "Share of the answerable questions that the threshold of abstain_threshold may withhold; only for text."},
		{name: "leaks", kind: fieldText, enum: []string{"fail", "allow"}, def: "fail", doc: "What becomes of a point that gives a caller what it may not see: it fails, or the leaks are counted and no more; only for text."},
		{name: "load", kind: fieldOther, schema: "load", def: "[{closed: 1}]", doc: "Ways of sending queries: closed clients that ask back to back, open arrivals at a rate, or the highest rate that keeps an slo."},
		{name: "rounds", kind: fieldInt, min: 1, max: 1000, def: 3, doc: "Visits to each point, interleaved with the others."},
		{name: "min_time", kind: fieldDuration, def: "1s", doc: "Measured time in each visit, at least."},
		{name: "warmup", kind: fieldDuration, def: "200ms", doc: "Unmeasured time before each visit."},
		{name: "until", kind: fieldOther, schema: "until", doc: "Visit a point again until the 95% intervals of these statistics are this narrow, or max_time is used up; 5% means from the middle to either end."},
		{name: "max_time", kind: fieldDuration, doc: "Measured time of one point over all its visits, at most. Default: no limit for rounds, 10s for visits beyond them, 60s with until."},
		{name: "noisy", kind: fieldText, enum: []string{"repeat", "keep"}, def: "repeat", doc: "What becomes of a visit during which the machine was disturbed: another one in its place while max_time lasts, or nothing but a note."},
		{name: "ann_benchmarks", kind: fieldOther, schema: "flag", doc: "Also compute recall by the rule of ann-benchmarks, which adds an absolute 0.001 to the distance of the k-th neighbour."},
	}
}

func limitsFields() []field {
	return []field{
		{name: "cell_time", kind: fieldDuration, doc: "Time for one cell. Default: no limit."},
		{name: "memory", kind: fieldSize, doc: "Memory of one cell. Default: no limit."},
		{name: "query_time", kind: fieldDuration, doc: "Time for one query; one that takes longer counts as failed, and its answer is not used. Default: no limit."},
	}
}

func costFields() []field {
	return []field{
		{name: "catalog", kind: fieldText, doc: "File of machine types with prices. Default: the built-in example."},
		{name: "qps", kind: fieldNumber, min: 1e-6, max: 1e12, required: true, doc: "Queries a second to pay for."},
		{name: "replicas", kind: fieldInt, min: 1, max: 1e6, def: 1, doc: "Machines that each hold everything, at least."},
	}
}

func strategyFields() []field {
	return []field{
		{name: "kind", kind: fieldText, required: true, enum: []string{"grid"}, doc: "grid measures every point."},
	}
}

func rangeFields() []field {
	return []field{
		{name: "from", kind: fieldOther, required: true, doc: "First value."},
		{name: "to", kind: fieldOther, required: true, doc: "Last value."},
		{name: "steps", kind: fieldInt, min: 2, max: maxSteps, doc: "Number of values. A log2 range between numbers that are doublings apart needs none."},
		{name: "scale", kind: fieldText, enum: []string{"linear", "log2"}, def: "linear", doc: "Equal differences, or equal ratios."},
	}
}

func names(fields []field) []string {
	var out []string
	for _, f := range fields {
		if f.instead == "" {
			out = append(out, f.name)
		}
	}
	return out
}

func (f *field) rangeText() string {
	if f.max == 0 {
		return fmt.Sprintf("at least %s", formatFloat(f.min))
	}
	return fmt.Sprintf("%s to %s", formatFloat(f.min), formatFloat(f.max))
}
