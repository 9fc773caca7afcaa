package results

import (
	"fmt"
	"slices"
	"strconv"
)

// Group holds the rows that may be compared with each other in quality: those of one dataset_digest, in their order.
type Group struct {
	Dataset  string // the name that the first sweep gave the data, "" if none did
	Digest   string // dataset_digest, "" for rows without one
	Rows     []Row
	Total    int       // rows of the data set; more than in Rows where these are a choice
	Machines []Machine // what measured them, in the order of their first rows
}

// Machine is what measured some rows of a group; latencies are comparable within one only.
type Machine struct {
	Digest string // machine_digest
	CPU    string
	Cores  int64 // 0 if unknown
	Rows   int
}

func (m Machine) coresText() string {
	if m.Cores == 0 {
		return ""
	}
	return strconv.FormatInt(m.Cores, 10)
}

// Groups divides rows by dataset_digest, in the order in which the digests come. Rows without a digest are a group of
// their own: nobody knows what they were measured on.
func Groups(rows []Row) []Group {
	var groups []Group
	for _, r := range rows {
		g := &groups[groupOf(&groups, r)]
		g.Rows = append(g.Rows, r)
		g.count(r)
	}
	return groups
}

// groupOf is the number of the row's group, which is made if it is the first.
func groupOf(groups *[]Group, r Row) int {
	digest := r.Text("dataset_digest")
	i := slices.IndexFunc(*groups, func(g Group) bool { return g.Digest == digest })
	if i < 0 {
		i = len(*groups)
		*groups = append(*groups, Group{Digest: digest})
	}
	if g := &(*groups)[i]; g.Dataset == "" {
		g.Dataset = r.Text("dataset")
	}
	return i
}

// count adds the row, and its machine. A row of a failed cell has none.
func (g *Group) count(r Row) {
	g.Total++
	digest := r.Text("machine_digest")
	if digest == "" {
		return
	}
	i := slices.IndexFunc(g.Machines, func(m Machine) bool { return m.Digest == digest })
	if i < 0 {
		i = len(g.Machines)
		cores, _ := r["cores"].(int64)
		g.Machines = append(g.Machines, Machine{Digest: digest, CPU: r.Text("cpu"), Cores: cores})
	}
	g.Machines[i].Rows++
}

// Label is the group's name for people, with its digest.
func (g Group) Label() string {
	name := g.Dataset
	if name == "" {
		name = "data without a name"
	}
	if g.Digest == "" {
		return name + " (no digest)"
	}
	return name + " (digest " + g.Digest + ")"
}

// Frontier are the group's rows on the frontier of the objectives, in their order.
func (g Group) Frontier(objs []Objective) ([]Row, error) {
	on, _, err := Frontier(g.Rows, objs)
	if err != nil {
		return nil, err
	}
	var front []Row
	for i, r := range g.Rows {
		if on[i] {
			front = append(front, r)
		}
	}
	return front, nil
}

// MixWarning says that rows lie side by side which must not be compared, and what there is to choose from.
type MixWarning struct {
	Text    string
	Choices []string // each with the condition for --where that chooses it
}

// MixWarnings warn of several data sets, and within one of several machines. There are none for rows of one data set and
// one machine.
func MixWarnings(groups []Group) []MixWarning {
	var out []MixWarning
	if len(groups) > 1 {
		w := MixWarning{Text: fmt.Sprintf("the rows are of %d data sets, which are never compared with each other: each has a frontier of its own", len(groups))}
		for _, g := range groups {
			w.Choices = append(w.Choices, fmt.Sprintf("%s: %s; --where '%s'", g.Label(), count(g.Total, "row"), condition("dataset_digest", g.Digest)))
		}
		out = append(out, w)
	}
	for _, g := range groups {
		if len(g.Machines) < 2 {
			continue
		}
		w := MixWarning{Text: fmt.Sprintf("the latencies, rates and build times of %s were measured on %d different machines, between which they cannot be compared (columns cpu and cores)", g.Label(), len(g.Machines))}
		for _, m := range g.Machines {
			w.Choices = append(w.Choices, fmt.Sprintf("cpu %s, cores %s: %s; --where '%s'", orUnknown(m.CPU), orUnknown(m.coresText()), count(m.Rows, "row"), condition("machine_digest", m.Digest)))
		}
		out = append(out, w)
	}
	return out
}

// condition is an expression for Where that keeps the rows with the value.
func condition(column, value string) string {
	if value == "" {
		return column + " == nil"
	}
	return fmt.Sprintf("%s == %q", column, value)
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// count is "1 row" or "2 rows".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
