package results

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"frontier/bench/stats"
)

// What the table of slices shows at most, so that it fits on a screen and that few enough comparisons are made to decide any.
const (
	slicePoints = 5
	sliceRows   = 20
)

const (
	sliceConfidence = 0.95
	sliceResamples  = 2000
	sliceFlips      = 5000
)

// sliceTable is a metric of the points of the frontier by kind of question.
type sliceTable struct {
	Metric string
	Sheet  *sheet
	Points []string // what the columns are, in words
	Left   string   // what is not shown; "" if nothing
	Wrong  string   // why there is no table; "" if there is one
}

// slice is a kind of question.
type slice struct{ field, value string }

func (s slice) String() string {
	if s.field == "" {
		return "all"
	}
	return s.field + "=" + s.value
}

// slicesOf are the kinds that a question is of.
func slicesOf(q *QueryRow) []slice {
	all := []slice{{}, {"scenario", q.Scenario}, {"difficulty", q.Difficulty}, {"split", q.Split}}
	for _, tag := range q.Tags {
		all = append(all, slice{"tags", tag})
	}
	for _, name := range sortedKeys(q.Fields) {
		all = append(all, slice{name, q.Fields[name]})
	}
	return slices.DeleteFunc(all, func(s slice) bool { return s.field != "" && s.value == "" })
}

// addSlices adds the table of slices to a section, for the first objective that is a metric of questions. There is none where
// the questions are of one kind, or not at hand.
func (s *section) addSlices(g Group, objs []Objective, sources []Source) error {
	i := slices.IndexFunc(objs, func(o Objective) bool { return o.Direction == Higher && PerQuery(o.Column) })
	if i < 0 {
		return nil
	}
	on, _, err := Frontier(g.Rows, objs)
	if err != nil {
		return err
	}
	var front []Row
	for _, at := range ByObjectives(g.Rows, objs) {
		if on[at] {
			front = append(front, g.Rows[at])
		}
	}
	shown := front[:min(len(front), slicePoints)]
	queries, err := queriesOf(shown, sources, objs[i].Column)
	if err != nil {
		s.Slices = &sliceTable{Wrong: err.Error()}
		return nil
	}
	s.Slices = newSliceTable(shown, queries, objs[i].Column)
	if s.Slices != nil && len(front) > len(shown) {
		s.Slices.Left = fmt.Sprintf("The first %d of %d points of the frontier are shown.", len(shown), len(front))
	}
	return nil
}

// queriesOf reads the questions of some points with one of their metrics. The parts of a sweep begin with the id of their cell, so that the others
// need not be read.
func queriesOf(rows []Row, sources []Source, metric string) ([]QueryRow, error) {
	var paths []string
	for _, s := range sources {
		if s.Queries == "" {
			continue
		}
		for _, r := range rows {
			for _, name := range []string{r.Text("cell_id") + "-*.parquet", r.Text("run_id") + ".parquet"} {
				found, err := filepath.Glob(filepath.Join(globQuoted(s.Queries), name))
				if err != nil {
					return nil, err
				}
				for _, path := range found {
					if !slices.Contains(paths, path) {
						paths = append(paths, path)
					}
				}
			}
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	return ReadQueryMetrics(context.Background(), []string{metric}, paths...)
}

// globQuoted is a path as a pattern that matches it alone.
func globQuoted(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// newSliceTable compares points by a metric that is better when higher; nil if the questions are of one kind.
func newSliceTable(rows []Row, queries []QueryRow, metric string) *sliceTable {
	values := make([]map[string]float64, len(rows)) // of each point by question
	kinds := map[slice][]string{}
	seen := map[string]bool{}
	for i, r := range rows {
		values[i] = map[string]float64{}
		for q := range queries {
			one := &queries[q]
			v, ok := one.Metrics[metric]
			if !ok || one.PointID != r.Text("point_id") || one.RunID != r.Text("run_id") {
				continue
			}
			values[i][one.QueryID] = v
			if !seen[one.QueryID] {
				seen[one.QueryID] = true
				for _, s := range slicesOf(one) {
					kinds[s] = append(kinds[s], one.QueryID)
				}
			}
		}
	}
	shown := chosenSlices(kinds)
	if len(shown) < 2 {
		return nil
	}
	t := &sliceTable{Metric: heading(metric), Sheet: &sheet{Head: []string{"questions", "n"}, Right: []bool{false, true}, Wrap: []bool{true, false}}}
	for i, r := range rows {
		name := fmt.Sprintf("P%d", i+1)
		t.Points = append(t.Points, name+": "+Describe(r))
		t.Sheet.Head = append(t.Sheet.Head, name)
		t.Sheet.Right, t.Sheet.Wrap = append(t.Sheet.Right, true), append(t.Sheet.Wrap, false)
	}
	told := compareSlices(shown, kinds, values)
	for i, s := range shown {
		line := []string{s.String(), fmt.Sprint(len(kinds[s]))}
		for p := range rows {
			in := valuesIn(values[p], kinds[s])
			low, high, stored := rows[p].Interval(metric)
			if s.field != "" || !stored { // that of all questions is in the row, and there is one of it
				low, high = stats.MetricInterval(in, sliceConfidence, sliceResamples, 1)
			}
			line = append(line, sliceCell(in, low, high, told[i][p]))
		}
		t.Sheet.Rows = append(t.Sheet.Rows, line)
	}
	return t
}

// chosenSlices are all questions, then the kinds by field and value; if there are too many, the largest.
func chosenSlices(kinds map[slice][]string) []slice {
	var all []slice
	for s, of := range kinds {
		if s.field != "" && len(of) == len(kinds[slice{}]) {
			continue // says nothing new
		}
		all = append(all, s)
	}
	byName := func(a, b slice) int { return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.value, b.value)) }
	slices.SortFunc(all, func(a, b slice) int { return cmp.Or(cmp.Compare(len(kinds[b]), len(kinds[a])), byName(a, b)) })
	all = all[:min(len(all), sliceRows)]
	slices.SortFunc(all, byName)
	return all
}

// What is known of a point within a slice.
const (
	best = iota
	same // cannot be told from the best
	worse
	unknown // no questions in common
)

// compareSlices holds each point against the best of its slice, question by question. All comparisons are corrected for one
// another by Holm's method.
func compareSlices(shown []slice, kinds map[slice][]string, values []map[string]float64) [][]int {
	type pair struct{ slice, point int }
	told := make([][]int, len(shown))
	var pairs []pair
	var ps []float64
	for i, s := range shown {
		told[i] = make([]int, len(values))
		first, most := 0, math.Inf(-1)
		for p := range values {
			if m := mean(valuesIn(values[p], kinds[s])); m > most {
				first, most = p, m
			}
		}
		for p := range values {
			if p == first {
				continue
			}
			var differences []float64
			for _, q := range kinds[s] {
				x, okX := values[first][q]
				y, okY := values[p][q]
				if okX && okY {
					differences = append(differences, x-y)
				}
			}
			pairs, ps = append(pairs, pair{i, p}), append(ps, stats.SignFlip(differences, sliceFlips, 1))
		}
	}
	for i, p := range stats.Holm(ps) {
		switch at := &told[pairs[i].slice][pairs[i].point]; {
		case math.IsNaN(p):
			*at = unknown
		case p <= 1-sliceConfidence:
			*at = worse
		default:
			*at = same
		}
	}
	return told
}

func valuesIn(values map[string]float64, questions []string) []float64 {
	var out []float64
	for _, q := range questions {
		if v, ok := values[q]; ok {
			out = append(out, v)
		}
	}
	return out
}

// mean is NaN without values.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func sliceCell(values []float64, low, high float64, told int) string {
	if len(values) == 0 {
		return "-"
	}
	text := fmt.Sprintf("%.3f", mean(values))
	if !math.IsNaN(low) {
		text += fmt.Sprintf(" [%.3f–%.3f]", low, high)
	}
	switch told {
	case best:
		text += " best"
	case same:
		text += " ≈"
	}
	return text
}
