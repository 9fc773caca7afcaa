// Package file reads a sweep file: YAML in, typed values with their places in the file out. It checks all that can be
// known from the file alone.
package file

import (
	"strings"
	"time"

	"frontier/chunkers"
	"frontier/embedders"
	"frontier/indexes"
)

// Pos is a place in the sweep file, from 1. The zero Pos stands for a default or a --set flag.
type Pos struct{ Line, Column int }

// Value is one scalar: a literal (int64, float64, string or bool), or an expression over n and dim whose value is
// known only when the data is.
type Value struct {
	Literal any
	Expr    string // "" for a literal
	Pos     Pos

	program *program // of Expr; nil if the value was not made by Parse, and then Resolve compiles
}

// Axis is a parameter with the values to try, lists and ranges expanded, in file order.
type Axis struct {
	Name   string
	Values []Value
	Pos    Pos
}

// Item is a chunker or an embedder with its axes. Parameters that are not in Axes take their defaults.
type Item struct {
	Kind string
	Axes []Axis
	Pos  Pos
}

// Index is one entry of indexes. Template axes fill {placeholders} in string parameters, such as nlist in the faiss
// factory "IVF{nlist},Flat".
type Index struct {
	Engine   string
	Build    []Axis
	Template []Axis
	Search   []Axis
	Parts    []Index  // of a hybrid: its two parts, each with axes of its own
	Fusion   []Fusion // of a hybrid
	Pos      Pos
}

// Fusion is one way to fuse two ranked lists.
type Fusion struct {
	Kind  string  // rrf or convex
	Param float64 // k of RRF; the weight of the first list of a convex fusion
	Norm  string  // how a convex fusion scales scores: min-max or z-score
	Pos   Pos
}

// Dataset names a corpus and what is known about it. Paths are as written; Resolve makes them relative to the file.
type Dataset struct {
	Corpus, Queries, Qrels string
	Title                  string // "join" puts a document's title before each of its chunks for indexing; "omit" does not
	CorpusPos, QueriesPos  Pos
	QrelsPos               Pos

	// Which cases are asked: those of a split, those with any of the tags, and of these a sample. By default all.
	Split                    string
	Tags                     []string
	Sample                   int    // 0 means all
	By                       string // field whose values the sample keeps in proportion; "" means none
	SplitPos, TagsPos, ByPos Pos
}

// Subset is the rule by which cases are chosen, as the sweep file has it; "" if all are asked.
func (d *Dataset) Subset() string {
	f := d.subset()
	return strings.Join(f.parts, ", ")
}

// Vectors names vector files, or describes synthetic ones.
type Vectors struct {
	Base, Queries, Truth string
	Metric               string // l2, ip or cosine
	Synthetic            *Synthetic
	BasePos, QueriesPos  Pos
	TruthPos             Pos
}

// Synthetic describes clustered Gaussian vectors from the built-in generator.
type Synthetic struct {
	N, Dim, Clusters, Queries int
	Spread                    float64 // standard deviation within a cluster; the centres are standard normal
}

// Load is one way of sending queries.
type Load struct {
	Mode     string        // Closed, Open or SLO
	Clients  int           // of a closed loop; of the others, queries that are served at a time
	Rate     float64       // arrivals a second of an open loop
	Arrivals string        // Poisson or Constant; "" for a closed loop
	P99      time.Duration // what an SLO promises
	Where    string        // and what else a point must reach, over columns of the results; "" means nothing
	WherePos Pos
	Pos      Pos
}

// Measure says what is measured, how, and for how long.
type Measure struct {
	K             []int // ascending, distinct
	Depth         int
	Unit          string // document or chunk
	Evidence      string // overlap or contain
	RelevanceMin  int
	WithheldMax   float64 // share of the answerable questions that a threshold on scores may withhold
	ContextTokens int     // budget of the context that is scored as well; 0 means none
	Leaks         string  // fail or allow; "" for vectors
	Load          []Load
	Rounds        int           // visits to each point, interleaved
	MinTime       time.Duration // measured time in each visit, at least; each query is asked at least once in the first
	Warmup        time.Duration // unmeasured time before each visit
	MaxTime       time.Duration // for one point over all its visits; 0 means no limit
	Until         []Until       // how narrow intervals are to become
	Noisy         string        // repeat or keep
	AnnBenchmarks bool          // recall by the rule of ann-benchmarks as well
}

// Limits bound a cell.
type Limits struct {
	CellTime time.Duration // 0 means none
	Memory   int64         // bytes; 0 means none
	Query    time.Duration // for one query; 0 means none
}

// Objective is a column with the direction that is better.
type Objective struct {
	Column string
	Max    bool
	Pos    Pos
}

// Cost says what the price is computed for.
type Cost struct {
	Catalog    string // path of a price catalogue; "" means the built-in example
	QPS        float64
	Replicas   int
	CatalogPos Pos
}

// File is a whole sweep file with its defaults filled in.
type File struct {
	Path         string
	Source       []byte
	Version      int
	Name         string
	Hypothesis   string // what the sweep is to find out; may be ""
	Seed         uint64
	BuildThreads int      // 0 means all cores
	Dataset      *Dataset // exactly one of Dataset and Vectors is set
	Vectors      *Vectors
	Chunkers     []Item
	Embedders    []Item
	Indexes      []Index
	Filters      []Filter // relevance predicates to try, one at a time
	Measure      Measure
	Limits       Limits
	Objectives   []Objective
	Cost         *Cost // nil if no costs are asked for
}

// Registry is what a sweep file may name.
type Registry struct {
	Chunkers  []chunkers.Kind
	Embedders []embedders.Kind
	Engines   []indexes.Engine
}
