package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Levels are values of a column at which engines are compared, ascending: ann_recall_at_10 at 0.9, 0.95 and 0.99.
type Levels struct {
	Column string
	Values []float64
}

// ParseLevels reads "ann_recall_at_10=0.90,0.95,0.99". The column is one of which more is better; a fraction's levels lie
// in (0, 1].
func ParseLevels(text string) (Levels, error) {
	name, list, ok := strings.Cut(text, "=")
	l := Levels{Column: strings.TrimSpace(name)}
	if !ok {
		return l, fmt.Errorf("%q: write the column and its levels, such as ann_recall_at_10=0.90,0.95", text)
	}
	col, ok := Lookup(l.Column)
	if !ok {
		return l, fmt.Errorf("%q: %w", text, newCatalogue().unknown(l.Column))
	}
	if col.Better != Higher {
		return l, fmt.Errorf("%q: levels are reached from below, and more is not better of %s; give a recall or another quality", text, l.Column)
	}
	for part := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return l, fmt.Errorf("%q: %q is no number", text, part)
		}
		if col.Unit == "fraction" && (v <= 0 || v > 1) {
			return l, fmt.Errorf("%q: %s lies between 0 and 1, and %v does not", text, l.Column, v)
		}
		l.Values = append(l.Values, v)
	}
	slices.Sort(l.Values)
	l.Values = slices.Compact(l.Values)
	return l, nil
}

// Reach is what one built index needs to reach a level.
type Reach struct {
	Level float64
	// Point is the cheapest measured point at or above the level; -1 if the index was measured at none.
	Point int
	// Below is the measured neighbour under the level, the best that costs less than Point; -1 if there is none, because
	// all that was measured reaches the level or none of it does.
	Below int
	// Highest is the point with the largest value that was measured.
	Highest int
	// Interpolated are the cost, and the rate of queries, at the level itself, between Below and Point: linear in the
	// level, of the logarithm for times, sizes, rates and prices. Without two neighbours there is nothing to interpolate
	// between: an index is never credited with what was not measured on both sides.
	Interpolated map[string]float64
}

// AtLevels finds for each built index (a cell of one run, under one load) the cheapest search parameters that reach each
// level, so that engines can be compared at equal recall. cost says what is cheap, ties settled by the higher value of the
// column, and is another column than that of the levels. The indexes stand in the order of their first rows, and within
// each the levels. Rows that are not ok, or null in one of the two columns, do not take part.
func AtLevels(rows []Row, levels Levels, cost Objective) ([]Reach, error) {
	objs := []Objective{{levels.Column, Higher}, cost}
	if err := checkObjectives(objs); err != nil {
		return nil, err
	}
	var out []Reach
	for _, group := range sameBuild(rows) {
		some := make([]Row, len(group))
		for k, i := range group {
			some[k] = rows[i]
		}
		on, _, err := Frontier(some, objs)
		if err != nil {
			return nil, err
		}
		var steps []int // the frontier of the index, from the least recall to the most
		for _, k := range ByObjectives(some, objs) {
			if on[k] {
				steps = append(steps, group[k])
			}
		}
		if len(steps) == 0 {
			continue
		}
		slices.Reverse(steps)
		for _, level := range levels.Values {
			out = append(out, reach(rows, steps, level, objs))
		}
	}
	return out, nil
}

func reach(rows []Row, steps []int, level float64, objs []Objective) Reach {
	r := Reach{Level: level, Point: -1, Below: -1, Highest: steps[len(steps)-1]}
	for k, i := range steps {
		if v, _ := rows[i].Number(objs[0].Column); v >= level {
			r.Point = i
			if k > 0 {
				r.Below = steps[k-1]
			}
			break
		}
	}
	if r.Point < 0 {
		return r
	}
	r.Interpolated = map[string]float64{}
	for _, column := range []string{objs[1].Column, "qps"} {
		if v, ok := between(rows, r.Below, r.Point, objs[0].Column, column, level); ok {
			r.Interpolated[column] = v
		}
	}
	return r
}

// between interpolates a column at a level that lies between two rows, or on the second.
func between(rows []Row, below, above int, levels, column string, level float64) (float64, bool) {
	at, _ := rows[above].Number(levels)
	b, ok := rows[above].Number(column)
	if !ok || at == level {
		return b, ok
	}
	if below < 0 {
		return 0, false
	}
	from, _ := rows[below].Number(levels)
	a, ok := rows[below].Number(column)
	if !ok {
		return 0, false
	}
	share := (level - from) / (at - from)
	if col, _ := Lookup(column); logarithmic(col) && a > 0 && b > 0 {
		return math.Exp(math.Log(a) + share*(math.Log(b)-math.Log(a))), true
	}
	return a + share*(b-a), true
}

// sameBuild divides rows into those that differ in nothing but search parameters.
func sameBuild(rows []Row) [][]int {
	var out [][]int
	at := map[string]int{}
	for i, r := range rows {
		key := buildKey(r)
		g, known := at[key]
		if !known {
			g = len(out)
			at[key] = g
			out = append(out, nil)
		}
		out[g] = append(out[g], i)
	}
	return out
}

// buildKey is equal for the points of one index under one load. Rows without a cell, such as those of other systems, are
// told apart by what describes their data, index and build.
func buildKey(r Row) string {
	columns := []string{"dataset_digest", "machine_digest", "run_id", "load_mode", "concurrency", "in_flight", "arrivals", "target_qps", "slo", "filter", "filter_mode", "filter_boost"}
	if r["cell_id"] != nil {
		columns = append(columns, "cell_id")
	} else {
		columns = append(columns, "dataset", "chunker", "chunk_size", "chunk_overlap", "chunk_unit", "embedder", "embedder_model", "embed_params",
			"dim", "metric", "engine", "index_kind", "index_spec", "m", "ef_construction", "nlist", "pq_m", "sq_bits", "build_threads")
	}
	var b strings.Builder
	for _, c := range columns {
		fmt.Fprintf(&b, "%q ", plain(r.Setting(c)))
	}
	return b.String()
}
