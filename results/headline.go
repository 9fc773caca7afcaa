package results

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// headlines state the ends of the frontier in words, for all rows of a data set and those on its frontier.
func headlines(rows, front []Row, objs []Objective) []string {
	if len(front) == 0 {
		return nil
	}
	var out []string
	if len(front) == 1 && len(objs) > 1 {
		var values []string
		for _, o := range objs {
			values = append(values, heading(o.Column)+" "+quantity(front[0], o))
		}
		out = append(out, fmt.Sprintf("No point is better in any objective than %s, with %s.", Describe(front[0]), strings.Join(values, ", ")))
	}
	for _, o := range objs {
		if text := undecided(rows, o); text != "" {
			out = append(out, text)
			continue
		}
		if len(front) == 1 && len(objs) > 1 {
			continue
		}
		order := ByObjectives(front, append([]Objective{o}, objs...))
		best := front[order[0]]
		var others []string
		for _, other := range objs {
			if other != o {
				others = append(others, heading(other.Column)+" "+quantity(best, other))
			}
		}
		text := fmt.Sprintf("Best %s: %s by %s", heading(o.Column), quantity(best, o), Describe(best))
		if len(others) > 0 {
			text += "; at " + strings.Join(others, ", ")
		}
		out = append(out, text+".")
	}
	return out
}

// undecided says that an objective has one value in all measured rows; "" if it has several, or one row.
func undecided(rows []Row, o Objective) string {
	var first Row
	n := 0
	for _, r := range rows {
		v, ok := r.Number(o.Column)
		if !ok || r.Text("status") != "ok" {
			continue
		}
		if n == 0 {
			first = r
		} else if old, _ := first.Number(o.Column); v != old {
			return ""
		}
		n++
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf("All %d points have the same %s, %s: this objective decides nothing.", n, heading(o.Column), quantity(first, o))
}

// quantity is a value with its interval and its unit.
func quantity(r Row, o Objective) string {
	s := &sheet{Rows: [][]string{{""}}}
	col, _ := Lookup(o.Column)
	unit := s.numbers([]Row{r}, o.Column, col, 0, true)
	return strings.TrimSpace(s.Rows[0][0] + " " + unit)
}

// Describe names a point's settings as a sweep file does: "hnswlib M=16 ef_search=64, lsa dim=256, recursive
// size=128 overlap=26 tokens".
func Describe(r Row) string {
	parts := []string{describeIndex(r)}
	if e := r.Text("embedder"); e != "" {
		parts = append(parts, strings.Join(append([]string{e}, settings(r, [][2]string{{"dim", "dim"}})...), " "))
	}
	if c := r.Text("chunker"); c == "none" {
		parts = append(parts, "documents uncut")
	} else if c != "" {
		words := append([]string{c}, settings(r, [][2]string{{"size", "chunk_size"}, {"overlap", "chunk_overlap"}})...)
		if unit := r.Text("chunk_unit"); unit != "" {
			words = append(words, unit)
		}
		parts = append(parts, strings.Join(words, " "))
	}
	if f := r.Text("filter"); f != "" {
		parts = append(parts, strings.Join(append([]string{r.Text("filter_mode"), "filter by", f}, settings(r, [][2]string{{"boost", "filter_boost"}})...), " "))
	}
	if n, ok := r.Number("concurrency"); ok && n > 1 {
		parts = append(parts, fmt.Sprintf("%g clients", n))
	}
	if slo := r.Text("slo"); slo != "" {
		parts = append(parts, "slo "+slo)
	} else if v, ok := r.Number("target_qps"); ok {
		parts = append(parts, fmt.Sprintf("%g arrivals a second", v))
	}
	return strings.Join(parts, ", ")
}

func describeIndex(r Row) string {
	words := []string{r.Text("engine")}
	factory, of := typedIndex(r)
	if len(of) > 0 {
		words = append(words, "of "+strings.Join(of, " and "))
	}
	search := [][2]string{{"ef_search", "ef_search"}, {"nprobe", "nprobe"}}
	if factory != "" { // it says M and nlist
		words = append(append(words, factory), settings(r, search)...)
	} else {
		words = append(words, settings(r, append([][2]string{{"M", "m"}, {"nlist", "nlist"}}, search...))...)
	}
	if f := r.Text("fusion"); f != "" {
		words = append(words, strings.Join(settings(r, [][2]string{{f, "fusion_param"}}), " "))
		if norm := r.Text("fusion_norm"); norm != "" {
			words = append(words, norm)
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

// settings are name=value for columns that have a value; each pair is the name that users type and the column.
func settings(r Row, pairs [][2]string) []string {
	var out []string
	for _, p := range pairs {
		if v, ok := r.Number(p[1]); ok {
			out = append(out, fmt.Sprintf("%s=%g", p[0], v))
		}
	}
	return out
}

// typedIndex finds in params what the sweep file says of the index: its factory string, and the parts of a hybrid.
func typedIndex(r Row) (factory string, of []string) {
	var params map[string]struct{ Factory any }
	if json.Unmarshal([]byte(r.Text("params")), &params) != nil {
		return "", nil // params is a help here; the columns say as much in other words
	}
	for _, name := range sortedKeys(params) {
		number, part, found := strings.Cut(strings.TrimPrefix(name, "index_"), "_")
		if found && strings.HasPrefix(name, "index_") && (number == "1" || number == "2") && !strings.HasSuffix(part, "_search") {
			if f, ok := params[name].Factory.(string); ok {
				part += " " + f
			}
			of = append(of, part)
		}
	}
	factory, _ = params["index"].Factory.(string)
	return factory, slices.Clip(of)
}
