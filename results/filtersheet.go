package results

import (
	"fmt"
	"slices"
	"strconv"
)

// filterSheet says what each filter of the rows keeps and takes away, one line a predicate and way of using it, with the
// worst of its points where they differ. It is nil where nothing is filtered.
func filterSheet(rows []Row) *sheet {
	type use struct{ filter, mode, boost string }
	var order []use
	of := map[use][]Row{}
	for _, r := range rows {
		if r["filter"] == nil && r["filter_eligible_queries"] == nil {
			continue
		}
		u := use{r.Text("filter"), r.Text("filter_mode"), plain(r["filter_boost"])}
		if of[u] == nil {
			order = append(order, u)
		}
		of[u] = append(of[u], r)
	}
	if len(order) == 0 {
		return nil
	}
	s := &sheet{}
	for _, head := range []string{"predicate", "used as", "points", "questions", "keeps", "false exclusion", "precision", "recall", "gain at least", "advice", "leaks"} {
		s.Head = append(s.Head, head)
		s.Right = append(s.Right, !slices.Contains([]string{"predicate", "used as", "advice"}, head))
		s.Wrap = append(s.Wrap, false)
	}
	for _, u := range order {
		name, how := u.filter, u.mode
		if name == "" {
			name, how = "none", "what callers may see"
		}
		if u.boost != "" {
			how += " by " + u.boost
		}
		some := of[u]
		s.Rows = append(s.Rows, []string{
			name, how, strconv.Itoa(len(some)), worstText(some, "filter_eligible_queries", Higher), worstText(some, "filter_selectivity", Higher),
			worstText(some, "filter_false_exclusion_rate", Lower), worstText(some, "filter_predicate_precision", Higher), worstText(some, "filter_predicate_recall", Higher),
			worstText(some, "filter_gain_at_least", Higher), adviceText(some), worstText(some, "filter_leaks", Lower),
		})
	}
	return s
}

// worstText is the worst value of a column, "-" if no row has one.
func worstText(rows []Row, column string, better Direction) string {
	var values []float64
	for _, r := range rows {
		if v, ok := r.Number(column); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return "-"
	}
	worst := slices.Min(values)
	if better == Lower {
		worst = slices.Max(values)
	}
	col, _ := Lookup(column)
	return scalingOf(col, values).format(worst)
}

// adviceText counts the points at which a predicate proved worth to be a hard filter.
func adviceText(rows []Row) string {
	hard, soft := 0, 0
	for _, r := range rows {
		switch r.Text("filter_decision") {
		case "hard":
			hard++
		case "soft":
			soft++
		}
	}
	switch {
	case hard+soft == 0:
		return "-"
	case soft == 0:
		return "hard"
	case hard == 0:
		return "soft"
	}
	return fmt.Sprintf("hard at %d of %d points", hard, hard+soft)
}
