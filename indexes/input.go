package indexes

import (
	"fmt"
	"slices"

	"frontier/internal/param"
	"frontier/internal/vector"
)

// CheckVectors refuses what no vector engine can build from: no rows, a metric that the engine does not have, no
// threads. The error says which engine it was.
func (in Input) CheckVectors(engine string, metrics []vector.Metric) error {
	if in.Vectors == nil || in.Vectors.Len() == 0 {
		return fmt.Errorf("%s: there are no vectors to index", engine)
	}
	if err := checkMetric(engine, metrics, in.Metric); err != nil {
		return err
	}
	if in.Threads < 1 {
		return fmt.Errorf("%s: building needs at least 1 thread, not %d", engine, in.Threads)
	}
	return nil
}

func checkMetric(engine string, metrics []vector.Metric, m vector.Metric) error {
	if !slices.Contains(metrics, m) {
		return fmt.Errorf("%s: has no metric %q; it has %v", engine, m, metrics)
	}
	return nil
}

// CheckQuery refuses a query that an index of dim dimensions cannot answer.
func CheckQuery(engine string, q Query, k, dim int) error {
	if len(q.Vector) != dim {
		return fmt.Errorf("%s: the query has %d dimensions, the index %d", engine, len(q.Vector), dim)
	}
	return CheckDepth(engine, k)
}

// CheckDepth refuses to search for fewer than one hit.
func CheckDepth(engine string, k int) error {
	if k < 1 {
		return fmt.Errorf("%s: asked for %d hits; ask for at least 1", engine, k)
	}
	return nil
}

// CheckAllowed refuses a set that is not of the rows of the index.
func CheckAllowed(engine string, allowed *IDSet, rows int) error {
	if allowed.Rows() != rows {
		return fmt.Errorf("%s: the allowed rows are of an index of %d rows, this one has %d", engine, allowed.Rows(), rows)
	}
	return nil
}

// CheckDim refuses a dimension that is known and impossible, in the name of the first parameter of specs.
func CheckDim(specs []param.Spec, dim int) error {
	if dim != 0 {
		return nil
	}
	name := "engine"
	if len(specs) > 0 {
		name = specs[0].Name
	}
	return &param.Error{Param: name, Msg: "cannot index vectors of 0 dimensions"}
}
