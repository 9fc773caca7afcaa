package file

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"frontier/indexes"
	"frontier/results"
)

// cutOff finds the k in a column's name, such as recall_at_10 and ann_recall_p05_at_10.
var cutOff = regexp.MustCompile(`_at_([0-9]+)(_low|_high)?$`)

// textGroups are the groups of columns that are null for vectors.
func textGroups() []string {
	return []string{"chunking", "embedding", "quality", "spans", "context", "loss", "abstention", "filter"}
}

const exampleObjectives = "for example [recall_at_10:max, latency_p99_seconds:min]"

func (d *decoder) objectives(s *section) {
	ks := d.file.Measure.K
	largest := ks[len(ks)-1]
	e := s.get("objectives")
	if e == nil {
		if d.file.Vectors != nil {
			d.file.Objectives = []Objective{{Column: fmt.Sprintf("ann_recall_at_%d", largest), Max: true}, {Column: "qps", Max: true}}
		} else {
			d.file.Objectives = []Objective{{Column: fmt.Sprintf("recall_at_%d", largest), Max: true}, {Column: "latency_p99_seconds"}}
		}
		return
	}
	if emptyList(e.val) {
		s.wrong(e, "is an empty list", exampleObjectives)
	}
	seen := map[string]bool{}
	for i, n := range elements(e.val) {
		name := fmt.Sprintf("objectives[%d]", i)
		text, ok := n.value.(string)
		if !ok {
			hint := exampleObjectives
			if n.kind == mapping && len(n.entries) == 1 && n.entries[0].val.kind == scalar {
				hint = fmt.Sprintf("write %s:%s without the space", n.entries[0].key, n.entries[0].val.text())
			}
			d.add(placeOf(n, e.pos), name, "must be column:max or column:min, not "+n.describe(), hint)
			continue
		}
		column, direction, found := strings.Cut(text, ":")
		if !found || direction != "max" && direction != "min" {
			d.add(n.pos, name, fmt.Sprintf("must end in :max or :min, not %s", quote(text)), fmt.Sprintf("write %s:max or %s:min", column, column))
			continue
		}
		if seen[column] {
			d.add(n.pos, name, fmt.Sprintf("names %s a second time", column), "remove one")
			continue
		}
		seen[column] = true
		d.column(column, direction, n.pos, name)
		d.file.Objectives = append(d.file.Objectives, Objective{Column: column, Max: direction == "max", Pos: n.pos})
	}
}

// column checks that the results will have a column, and that it can be an objective in the direction that is asked for.
func (d *decoder) column(column, direction string, pos Pos, name string) {
	col, ok := results.Lookup(column)
	if !ok {
		hint := "frontier schema results lists the columns"
		if nearest := results.Nearest(column); nearest != "" && nearest != column {
			hint = fmt.Sprintf("did you mean %q? %s", nearest, hint)
		}
		d.add(pos, name, fmt.Sprintf("%s is not a column of the results", quote(column)), hint)
		return
	}
	better := map[results.Direction]string{results.Higher: "max", results.Lower: "min"}[col.Better]
	switch {
	case col.Type != results.Int && col.Type != results.Float:
		d.add(pos, name, column+" does not hold numbers", exampleObjectives)
		return
	case better != "" && better != direction:
		d.add(pos, name, fmt.Sprintf("%s is better the other way", column), fmt.Sprintf("write %s:%s", column, better))
		return
	}
	if m := cutOff.FindStringSubmatch(column); m != nil {
		k, err := strconv.Atoi(m[1])
		if err != nil || !slices.Contains(d.file.Measure.K, k) {
			d.add(pos, name, fmt.Sprintf("%s needs k = %s, which is not in measure.k", column, m[1]), fmt.Sprintf("measure.k is %v", d.file.Measure.K))
			return
		}
	}
	switch {
	case d.file.Vectors != nil && slices.Contains(textGroups(), col.Group):
		d.add(pos, name, fmt.Sprintf("%s is about text and its judgements, and this file measures on vectors", column), "recall against exact search is ann_recall_at_K")
	case d.file.Vectors == nil && col.Group == "ann" && len(d.list) == 0 && !slices.ContainsFunc(d.file.Indexes, d.approximates):
		d.add(pos, name, column+" is recall against exact search, and no index here searches vectors only", "add one, such as {engine: hnswlib}, or take recall_at_K, which is against the judgements")
	case col.Group == "context" && d.file.Measure.ContextTokens == 0:
		d.add(pos, name, column+" needs to know how much fits into the context", "add measure: {context_tokens: 2048}")
	case col.Group == "cost" && d.file.Cost == nil:
		d.add(pos, name, column+" needs to know what to pay for", "add cost: {qps: 100, replicas: 2}")
	}
}

// approximates says whether answers of an index are compared with those of exact search. Those of a hybrid have no exact
// counterpart.
func (d *decoder) approximates(ix Index) bool {
	engine := indexes.Find(d.reg.Engines, ix.Engine)
	return engine != nil && ix.Engine != hybrid && !engine.Lexical
}
