package file

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cutOff finds the k in a column's name, such as recall_at_10 and ann_recall_p05_at_10.
var cutOff = regexp.MustCompile(`_at_([0-9]+)(_low|_high)?$`)

// judged finds the columns that need judgements.
var judged = regexp.MustCompile(`^(recall|hit_rate|precision|mrr|ndcg|map|judged)(_at_[0-9]+)?(_low|_high)?$`)

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
	const example = "for example [recall_at_10:max, latency_p99_seconds:min]"
	if emptyList(e.val) {
		s.wrong(e, "is an empty list", example)
	}
	seen := map[string]bool{}
	for i, n := range elements(e.val) {
		name := fmt.Sprintf("objectives[%d]", i)
		text, ok := n.value.(string)
		if !ok {
			hint := example
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
		d.column(column, n.pos, name)
		d.file.Objectives = append(d.file.Objectives, Objective{Column: column, Max: direction == "max", Pos: n.pos})
	}
}

// column checks that the results will have a column.
func (d *decoder) column(column string, pos Pos, name string) {
	if d.reg.KnownColumn != nil {
		if ok, nearest := d.reg.KnownColumn(column); !ok {
			hint := "frontier schema results lists the columns"
			if nearest != "" {
				k := strconv.Itoa(d.file.Measure.K[len(d.file.Measure.K)-1])
				if m := cutOff.FindStringSubmatch(column); m != nil {
					k = m[1]
				}
				nearest = strings.Replace(nearest, "_at_K", "_at_"+k, 1)
				hint = fmt.Sprintf("did you mean %q? ", nearest) + hint
			}
			d.add(pos, name, fmt.Sprintf("%s is not a column of the results", quote(column)), hint)
			return
		}
	}
	if m := cutOff.FindStringSubmatch(column); m != nil {
		k, err := strconv.Atoi(m[1])
		if err != nil || !slices.Contains(d.file.Measure.K, k) {
			d.add(pos, name, fmt.Sprintf("%s needs k = %s, which is not in measure.k", column, m[1]), fmt.Sprintf("measure.k is %v", d.file.Measure.K))
			return
		}
	}
	if d.file.Vectors != nil && judged.MatchString(column) {
		d.add(pos, name, fmt.Sprintf("%s needs judgements, and this file measures on vectors", column), "recall against exact search is ann_recall_at_K")
		return
	}
	if strings.Contains(column, "usd") && d.file.Cost == nil {
		d.add(pos, name, column+" needs to know what to pay for", "add cost: {qps: 100, replicas: 2}")
	}
}
