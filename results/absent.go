package results

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Absent says of each of the columns that is null in all rows that it is, and why if the rows tell: the k that were
// measured, questions without an answer, data without judgements, no prices. It says nothing where there are no rows.
func Absent(rows []Row, columns []string) []string {
	if len(rows) == 0 {
		return nil
	}
	var out []string
	for _, name := range columns {
		if slices.ContainsFunc(rows, func(r Row) bool { return r[name] != nil }) {
			continue
		}
		text := "no row has a value for " + name
		if why := whyAbsent(rows, name); why != "" {
			text += ": " + why
		}
		out = append(out, text)
	}
	return out
}

func whyAbsent(rows []Row, name string) string {
	measured := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Text("status") != "ok" })
	if len(measured) == 0 {
		return "no point was measured; the columns status and error say what became of them"
	}
	c := newCatalogue()
	i, k, ok := c.find(name)
	if !ok {
		return ""
	}
	if c.columns[i].Group == "quality" {
		judged := false
		for _, r := range measured {
			n, ok := r.Number("queries_answerable")
			if ok && n > 0 {
				judged = true
				break
			}
		}
		switch {
		case judged:
		case slices.ContainsFunc(measured, func(r Row) bool { return r["queries_answerable"] != nil }):
			return "no question is answerable, so that quality has nothing to divide by; the golden set needs questions with gold evidence"
		default:
			return "there are no judgements; recall against exact search is ann_recall_at_K"
		}
	}
	if ks := Cutoffs(measured); k > 0 && len(ks) > 0 && !slices.Contains(ks, k) {
		texts := make([]string, len(ks))
		for i, k := range ks {
			texts[i] = strconv.Itoa(k)
		}
		return fmt.Sprintf("k = %d was not measured, but k = %s; the sweep file's measure.k says which", k, strings.Join(texts, ", "))
	}
	switch c.columns[i].Group {
	case "ann":
		return "these rows have no exact search to be compared with, as lexical engines and hybrids have none"
	case "cost":
		return "the sweep file asks for no costs"
	case "latency":
		return "there were too few samples; measure longer"
	}
	return ""
}

// Cutoffs are the k for which any row has a value, ascending.
func Cutoffs(rows []Row) []int {
	names := map[string]bool{}
	for _, r := range rows {
		for name, v := range r {
			if v != nil {
				names[name] = true
			}
		}
	}
	return cutoffsOf(names)
}

// cutoffsOf are the k of columns, ascending.
func cutoffsOf(names map[string]bool) []int {
	seen := map[int]bool{}
	for name := range names {
		if _, k := splitCutoff(name); k > 0 {
			seen[k] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
