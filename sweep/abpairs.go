package sweep

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"frontier/internal/param"
	"frontier/results"
)

// abPoint is a point of one side.
type abPoint struct {
	cell  *cellPlan
	index int
	row   results.Row // what is known of it before it is measured
}

// abPair is a point of each side that are to be compared.
type abPair struct {
	base, next abPoint
	key        map[string]any
	changed    map[string][2]any
}

// identityColumns are what points can be told apart by, in the order of the table of columns.
func identityColumns() []string {
	var names []string
	for _, c := range results.Columns() {
		switch c.Group {
		case "data", "chunking", "embedding", "index", "load":
			// A rate of arrivals is asked for, but for an slo, which is not compared in pairs.
			if c.Exact && !notIdentity[c.Name] || c.Name == "target_qps" {
				names = append(names, c.Name)
			}
		case "filter": // all but these are outcomes
			if slices.Contains([]string{"filter", "filter_mode", "filter_boost"}, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// notIdentity are exact columns of the same groups that are outcomes, or say what others say.
var notIdentity = map[string]bool{
	"chunk_chars_mean": true, "chunk_chars_p95": true, "chunk_expansion": true, "chunk_coherence": true, "chunk_boundary_cuts": true,
	"embed_tokens": true, "chunks": true, "vectors": true, "documents": true, "queries": true, "params": true, "dataset_digest": true, "depth_effective": true,
}

// points lists the points of one side.
func (p *abPrepared) points() []abPoint {
	var all []abPoint
	for _, c := range p.cells {
		for i, point := range c.points {
			all = append(all, abPoint{c, i, p.runner.parameterRow(c, point, time.Time{})})
		}
	}
	return all
}

// pairPoints finds for each point of base the one of next that it is to be compared with: the one with the same values
// in the columns of match. Without match these are the columns in which one file has no value that the other lacks; the
// others are what was changed on purpose. A point with several partners is an error.
func pairPoints(base, next *abPrepared, match []string) (columns []string, pairs []abPair, unmatched []string, err error) {
	before, after := base.points(), next.points()
	identity := identityColumns()
	for _, name := range match {
		if !slices.Contains(identity, name) {
			hint := "one of " + strings.Join(identity, ", ")
			if near := param.Nearest(name, identity); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			return nil, nil, nil, wrongOption("--match: points are not told apart by %q (%s)", name, hint)
		}
	}
	if columns = match; columns == nil {
		for _, name := range identity {
			if agree(before, after, name) {
				columns = append(columns, name)
			}
		}
	}
	if err := ambiguous(before, columns, identity, base.side.File.Path); err != nil {
		return nil, nil, nil, err
	}
	if err := ambiguous(after, columns, identity, next.side.File.Path); err != nil {
		return nil, nil, nil, err
	}
	partner := map[string]abPoint{}
	for _, p := range after {
		partner[keyOf(p.row, columns)] = p
	}
	for _, p := range before {
		key := keyOf(p.row, columns)
		other, ok := partner[key]
		if !ok {
			unmatched = append(unmatched, "base "+nameOf(p.row))
			continue
		}
		delete(partner, key)
		pair := abPair{base: p, next: other, key: map[string]any{}, changed: map[string][2]any{}}
		for _, name := range columns {
			if v, ok := p.row[name]; ok && varies(before, name) {
				pair.key[name] = v
			}
		}
		for _, name := range identity {
			if a, b := p.row[name], other.row[name]; a != b {
				pair.changed[name] = [2]any{a, b}
			}
		}
		pairs = append(pairs, pair)
	}
	for _, p := range after {
		if _, left := partner[keyOf(p.row, columns)]; left {
			unmatched = append(unmatched, "new "+nameOf(p.row))
		}
	}
	if len(pairs) == 0 {
		return nil, nil, nil, wrongOption("no point of %s has a partner in %s; name the columns that are to agree with --match", base.side.File.Path, next.side.File.Path)
	}
	return columns, pairs, unmatched, nil
}

// ambiguous is an error if two points of one side have the same key. It names a column that would tell them apart.
func ambiguous(points []abPoint, columns, identity []string, path string) error {
	seen := map[string]abPoint{}
	for _, p := range points {
		key := keyOf(p.row, columns)
		other, ok := seen[key]
		if !ok {
			seen[key] = p
			continue
		}
		for _, name := range identity {
			if a, b := p.row[name], other.row[name]; a != b {
				return wrongOption("%s has several points that agree in %s, such as %s %v and %v: change one thing at a time, or name the columns to pair by with --match", path, strings.Join(columns, ", "), name, b, a)
			}
		}
		return wrongOption("%s has several points that agree in all columns", path)
	}
	return nil
}

// agree says whether a column has no value on one side that the other lacks, or none on the other.
func agree(before, after []abPoint, name string) bool {
	set := func(points []abPoint) map[any]bool {
		out := map[any]bool{}
		for _, p := range points {
			out[p.row[name]] = true
		}
		return out
	}
	within := func(a, b map[any]bool) bool {
		for v := range a {
			if !b[v] {
				return false
			}
		}
		return true
	}
	a, b := set(before), set(after)
	return within(a, b) || within(b, a)
}

func varies(points []abPoint, name string) bool {
	for _, p := range points {
		if p.row[name] != points[0].row[name] {
			return true
		}
	}
	return false
}

func keyOf(row results.Row, columns []string) string {
	values := make([]any, len(columns))
	for i, name := range columns {
		values[i] = row[name]
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return fmt.Sprint(values) // no value of an identity column is without JSON
	}
	return string(raw)
}

// nameOf names a point for people.
func nameOf(row results.Row) string {
	var parts []string
	for _, name := range []string{"chunker", "chunk_size", "chunk_overlap", "embedder", "engine", "index_spec", "ef_search", "nprobe", "fusion_param", "filter", "filter_mode", "concurrency", "target_qps"} {
		if v, ok := row[name]; ok {
			parts = append(parts, fmt.Sprintf("%s=%v", name, v))
		}
	}
	return strings.Join(parts, " ")
}
