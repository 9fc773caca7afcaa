// Package results holds the rows that a sweep writes: their columns, Parquet in and out, the Pareto frontier and the
// report. It knows nothing of engines.
package results

// Type is the type of a column.
type Type int

// The types. In a Row they are string, int64, float64, bool, time.Time, []string, []byte and map[string]float64.
const (
	String Type = iota
	Int
	Float
	Bool
	Time
	Strings
	Bytes
	FloatMap
)

// Direction says which way a metric is better.
type Direction int

// The directions; a parameter or an identity has none.
const (
	None Direction = iota
	Higher
	Lower
)

// Column describes one column of results.parquet. A name that ends in _at_K, or has _at_K_low, stands for one column
// for each measured k.
type Column struct {
	Name   string
	Group  string // identity, data, chunking, ...
	Type   Type
	Unit   string // "", seconds, bytes, usd, ...
	Better Direction
	Exact  bool // the same sweep with the same seed gives the same value
	Doc    string
}

// Row is one measured point: column name to value. An absent column is null; a parameter that does not apply is
// absent, never zero.
type Row map[string]any
