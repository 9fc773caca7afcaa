package results

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// QueryRow is what one query got at one point. WriteQueries stores it as one Parquet row with a real column for each
// metric, so that any number in results.parquet can be computed again from these rows.
type QueryRow struct {
	RunID, PointID, CellID string
	QueryID                string
	Scenario, Difficulty   string // as the golden set gives them; "" is stored as null
	Split                  string // dev, release, ...; "" is stored as null
	Tags                   []string
	// LossStages say of each relevant unit of evidence, in the order of the golden set, what became of it: found, or the
	// stage that lost it. Of documents where they are what k counts. Nil, stored as null, where nothing is relevant.
	LossStages []string
	Answerable bool // it has at least one relevant judgement; false for vectors and without judgements
	// Fields are further fields of the golden set that say what kind of query it is, each a column of its own,
	// field_locale for locale; those of other queries are null.
	Fields map[string]string
	Error  string // why it failed, "" if it did not; a failed query scores zero
	// LatencySeconds is the time that the answer took which is scored here; NaN, stored as null, if it was never asked.
	LatencySeconds float64
	// IDs are the answers as the engine ranked them, best first: "doc" for whole documents, "doc#start-end" in code
	// points for chunks, row numbers for vectors. Empty if nothing was found.
	IDs []string
	// Scores belong to IDs: the engine's own, larger is better.
	Scores []float32
	// Documents are the distinct documents in the order in which they rank where measure.unit is document, a document
	// ranking where its best chunk does. It is what the metrics were computed over. Nil, stored as null, where IDs are.
	Documents []string
	// Depth is how many answers the engine was asked for in the end.
	Depth int
	// Metrics are this query's values by column name: recall_at_10, ndcg_at_10, mrr, ann_recall_at_10, ... A metric
	// without a denominator, such as recall without relevant judgements, is absent.
	Metrics map[string]float64
}

// PerQuery reports whether name is a metric that a QueryRow may hold: a column of quality, spans, context, loss or ANN recall that is a mean
// over queries.
func PerQuery(name string) bool { return newCatalogue().perQuery(name) }

func (c *catalogue) perQuery(name string) bool {
	i, _, ok := c.find(name)
	if !ok {
		return false
	}
	col := c.columns[i]
	switch {
	case !slices.Contains([]string{"quality", "ann", "spans", "context", "loss", "abstention"}, col.Group):
		return false
	case slices.Contains([]string{"ann_recall_p05_at_K", "abstain_threshold", "abstention_precision"}, col.Name) || col.Type != Float:
		return false
	}
	return !strings.HasSuffix(col.Name, "_low") && !strings.HasSuffix(col.Name, "_high")
}

// fieldPrefix begins the columns of QueryRow.Fields, so that no field of a golden set can take the place of a column.
const fieldPrefix = "field_"

// queryFields are the columns of a query file that are not metrics, in order.
func queryFields() []field {
	return []field{
		{"run_id", String},
		{"point_id", String},
		{"cell_id", String},
		{"query_id", String},
		{"scenario", String},
		{"difficulty", String},
		{"split", String},
		{"tags", Strings},
		{"answerable", Bool},
		{"error", String},
		{"latency_seconds", Float},
		{"depth", Int},
		{"ids", Strings},
		{"scores", float32s},
		{"documents", Strings},
		{"loss_stages", Strings},
	}
}

func (r *QueryRow) value(name string) any {
	switch name {
	case "run_id":
		return r.RunID
	case "point_id":
		return r.PointID
	case "cell_id":
		return orNull(r.CellID)
	case "query_id":
		return r.QueryID
	case "scenario":
		return orNull(r.Scenario)
	case "difficulty":
		return orNull(r.Difficulty)
	case "split":
		return orNull(r.Split)
	case "tags":
		if len(r.Tags) == 0 {
			return nil
		}
		return r.Tags
	case "answerable":
		return r.Answerable
	case "error":
		return orNull(r.Error)
	case "latency_seconds":
		if math.IsNaN(r.LatencySeconds) {
			return nil
		}
		return r.LatencySeconds
	case "depth":
		return int64(r.Depth)
	case "ids":
		return r.IDs
	case "scores":
		return r.Scores
	case "documents":
		if r.Documents == nil {
			return nil
		}
		return r.Documents
	case "loss_stages":
		if r.LossStages == nil {
			return nil
		}
		return r.LossStages
	}
	if v, ok := r.Metrics[name]; ok {
		return v
	}
	if field, ok := strings.CutPrefix(name, fieldPrefix); ok {
		return orNull(r.Fields[field])
	}
	return nil
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (r *QueryRow) set(name string, v any) {
	switch name {
	case "run_id":
		r.RunID = v.(string)
	case "point_id":
		r.PointID = v.(string)
	case "cell_id":
		r.CellID = v.(string)
	case "query_id":
		r.QueryID = v.(string)
	case "scenario":
		r.Scenario = v.(string)
	case "difficulty":
		r.Difficulty = v.(string)
	case "split":
		r.Split = v.(string)
	case "tags":
		r.Tags = v.([]string)
	case "answerable":
		r.Answerable = v.(bool)
	case "error":
		r.Error = v.(string)
	case "latency_seconds":
		r.LatencySeconds = v.(float64)
	case "depth":
		r.Depth = int(v.(int64))
	case "ids":
		r.IDs = v.([]string)
	case "scores":
		r.Scores = v.([]float32)
	case "documents":
		r.Documents = v.([]string)
	case "loss_stages":
		r.LossStages = v.([]string)
	default:
		if field, ok := strings.CutPrefix(name, fieldPrefix); ok {
			if r.Fields == nil {
				r.Fields = map[string]string{}
			}
			r.Fields[field] = v.(string)
			return
		}
		if r.Metrics == nil {
			r.Metrics = map[string]float64{}
		}
		r.Metrics[name] = v.(float64)
	}
}

func (c *catalogue) checkQuery(r *QueryRow) error {
	if r.PointID == "" || r.QueryID == "" {
		return fmt.Errorf("a query row needs a point and a query id")
	}
	if len(r.IDs) != len(r.Scores) {
		return fmt.Errorf("%d ids with %d scores", len(r.IDs), len(r.Scores))
	}
	for _, f := range queryFields() {
		v := r.value(f.name)
		if v == nil || f.typ == float32s || f.typ == Int {
			continue
		}
		if err := checkType(f.typ, v); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	for i, s := range r.Scores {
		if math.IsNaN(float64(s)) {
			return fmt.Errorf("score %d is NaN", i)
		}
	}
	for _, name := range sortedKeys(r.Fields) {
		if name == "" {
			return errors.New("a field has no name")
		}
		if err := errors.Join(checkText(name), checkText(r.Fields[name])); err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
	}
	for _, name := range sortedKeys(r.Metrics) {
		if !c.perQuery(name) {
			if _, known := Lookup(name); known {
				return fmt.Errorf("%q is not a metric of a single query", name)
			}
			return c.unknown(name)
		}
		if err := checkNumber(r.Metrics[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// WriteQueries writes rows to path as Parquet, atomically: one row a point and query, a column for each metric that
// any row has.
func WriteQueries(path string, rows []QueryRow) error {
	c := newCatalogue()
	metrics, further := map[string]bool{}, map[string]bool{}
	for i := range rows {
		if err := c.checkQuery(&rows[i]); err != nil {
			return fmt.Errorf("writing %s: row %d (point %q, query %q): %w", path, i, rows[i].PointID, rows[i].QueryID, err)
		}
		for name := range rows[i].Metrics {
			metrics[name] = true
		}
		for name := range rows[i].Fields {
			further[name] = true
		}
	}
	fields := queryFields()
	for _, name := range sortedKeys(further) {
		fields = append(fields, field{fieldPrefix + name, String})
	}
	fields = append(fields, c.inOrder(metrics)...)
	return writeParquet(path, fields, len(rows), func(row, f int) any { return rows[row].value(fields[f].name) })
}

// inOrder are the columns with these names, in the order of results.parquet.
func (c *catalogue) inOrder(names map[string]bool) []field {
	return slices.DeleteFunc(c.expand(cutoffsOf(names)), func(f field) bool { return !names[f.name] })
}

// ReadQueries reads the query rows of all paths, in their order. A path is a Parquet file, a results folder (its
// queries/*.parquet), or a glob. A damaged file is an error that names it; columns of another version are left out.
func ReadQueries(ctx context.Context, paths ...string) ([]QueryRow, error) {
	return readQueries(ctx, nil, paths)
}

// ReadQueryMetrics is ReadQueries without what was answered: the rows say what kind of query each is, and have its metrics,
// of which those named, or all if none is.
func ReadQueryMetrics(ctx context.Context, metrics []string, paths ...string) ([]QueryRow, error) {
	kept := map[string]bool{}
	for _, f := range queryFields() {
		kept[f.name] = !slices.Contains([]string{"error", "latency_seconds", "depth", "ids", "scores", "documents", "loss_stages"}, f.name)
	}
	return readQueries(ctx, func(name string) bool {
		if keep, known := kept[name]; known {
			return !keep
		}
		return !strings.HasPrefix(name, fieldPrefix) && len(metrics) > 0 && !slices.Contains(metrics, name)
	}, paths)
}

func readQueries(ctx context.Context, skip func(name string) bool, paths []string) ([]QueryRow, error) {
	files, err := folder{parts: "queries"}.resolve(paths)
	if err != nil {
		return nil, err
	}
	c := newCatalogue()
	types := map[string]Type{}
	for _, f := range queryFields() {
		types[f.name] = f.typ
	}
	var rows []QueryRow
	for _, path := range files {
		base := len(rows)
		_, err := readParquet(ctx, path, tableReader{
			columnType: func(name string) (Type, bool) {
				if t, ok := types[name]; ok {
					return t, true
				}
				if strings.HasPrefix(name, fieldPrefix) {
					return String, true
				}
				return Float, c.perQuery(name)
			},
			skip:     skip,
			required: "query_id",
			grow: func(n int) {
				for range n {
					rows = append(rows, QueryRow{LatencySeconds: math.NaN()})
				}
			},
			set: func(row int, name string, v any) { rows[base+row].set(name, v) },
		})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	return rows, nil
}
