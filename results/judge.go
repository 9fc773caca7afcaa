package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Which rows of a group are wanted.
type Which int

// The choices.
const (
	OnFrontier Which = iota // those on the measured frontier
	MayBeOnIt               // these and the ones that may be on the true one
	OnItOrOff               // all
)

// How much is said of points that cannot be told apart.
const (
	maxAlikeGroups = 5
	maxAlikeNames  = 4
)

// Judgement is a group's frontier with what is known about each of its rows.
type Judgement struct {
	Rows  []Row    // copies, with the columns of PlaceColumns, in their order
	Notes []string // the rule of the places, what else may be on the frontier, and which rows cannot be told apart
}

// PlaceColumns are the columns that Judge adds.
func PlaceColumns() []Column {
	return []Column{
		{Name: "place", Group: "frontier", Type: String, Doc: "certain or possible: how sure it is that the point is on the frontier; off if it certainly is not; null if it could not be compared."},
		{Name: "rivals", Group: "frontier", Type: Strings, Doc: "The points that may beat this one, for all that was measured; null if there are none."},
		{Name: "knee", Group: "frontier", Type: Bool, Doc: "The frontier of two objectives bends most here."},
	}
}

// Judge finds the rows of the group that are wanted, and says how sure their places are.
func (g Group) Judge(objs []Objective, c Certainty, which Which) (*Judgement, error) {
	on, _, err := Frontier(g.Rows, objs)
	if err != nil {
		return nil, err
	}
	p, err := Places(g.Rows, objs, c)
	if err != nil {
		return nil, err
	}
	knee := -1
	if len(objs) == 2 {
		if i, err := Knee(g.Rows, objs); err == nil {
			knee = i
		} else if !errors.Is(err, ErrNoKnee) {
			return nil, err
		}
	}
	j := &Judgement{Notes: []string{p.Rule()}}
	var front, more []int
	for i, r := range g.Rows {
		if on[i] {
			front = append(front, i)
		} else if p.Places[i] == Possible {
			more = append(more, i)
		}
		if on[i] || which == OnItOrOff || (which == MayBeOnIt && p.Places[i] == Possible) {
			j.Rows = append(j.Rows, g.judged(r, i, p, i == knee))
		}
	}
	if len(more) > 0 {
		j.Notes = append(j.Notes, fmt.Sprintf("%s may be on the frontier for all that was measured (--possible prints them)", count(len(more), "more point")))
	}
	j.Notes = append(j.Notes, g.alikeNotes(p, front, more)...)
	return j, nil
}

func (g Group) judged(r Row, i int, p *Placing, knee bool) Row {
	if !p.Compared(i) {
		return r
	}
	out := with(r, Row{"place": p.Places[i].String(), "knee": knee})
	if p.Places[i] == Possible {
		var ids []string
		for _, k := range p.Rivals(i) {
			ids = append(ids, g.Rows[k].Text("point_id"))
		}
		out["rivals"] = ids
	}
	return out
}

// with is a copy of a row with further columns.
func with(r Row, further Row) Row {
	out := maps.Clone(r)
	maps.Copy(out, further)
	return out
}

// alikeNotes name the points of the frontier between which, and those that may be on it, nothing decides.
func (g Group) alikeNotes(p *Placing, front, more []int) []string {
	var notes []string
	for n, group := range p.AlikeGroups(front, more, maxAlikeGroups+1) {
		if n == maxAlikeGroups {
			notes = append(notes, "and there are more points of the frontier that cannot be told apart")
			break
		}
		names := make([]string, 0, maxAlikeNames+1)
		for k, i := range group {
			if k == maxAlikeNames {
				names = append(names, fmt.Sprintf("%d more", len(group)-k))
				break
			}
			names = append(names, Describe(g.Rows[i])+" ("+g.Rows[i].Text("point_id")+")")
		}
		notes = append(notes, "not told apart in any objective from the first: "+strings.Join(names, "; "))
	}
	return notes
}

// KneeRow is the group's knee, as Knee defines it, with the columns of PlaceColumns.
func (g Group) KneeRow(objs []Objective, c Certainty) (Row, error) {
	i, err := Knee(g.Rows, objs)
	if err != nil {
		return nil, err
	}
	p, err := Places(g.Rows, objs, c)
	if err != nil {
		return nil, err
	}
	return g.judged(g.Rows[i], i, p, true), nil
}

// ChoiceColumns are the columns that Best adds.
func ChoiceColumns() []Column {
	return []Column{{Name: "choice", Group: "frontier", Type: String, Doc: "best, or not told apart: the 95% interval of the first objective reaches into that of the best."}}
}

// Best is the group's best row under an expression, as BestUnder defines it, and the rows that the measurement does not
// tell from it, in order.
func (g Group) Best(objs []Objective, expression string) (best Row, alike []Row, err error) {
	choice, err := BestUnder(g.Rows, objs, expression)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range choice.Overlapping {
		alike = append(alike, with(g.Rows[i], Row{"choice": "not told apart"}))
	}
	return with(g.Rows[choice.Index], Row{"choice": "best"}), alike, nil
}

// LevelColumns are the columns that Reaches adds.
func LevelColumns(levels Levels, costs ...Objective) []Column {
	column, _ := Lookup(levels.Column)
	columns := []Column{
		{Name: "level", Group: "frontier", Type: Float, Unit: column.Unit, Doc: "The value that is to be reached."},
		{Name: "reached", Group: "frontier", Type: Bool, Doc: "A measured point of the index reaches it."},
		{Name: "highest", Group: "frontier", Type: Float, Unit: column.Unit, Doc: "The highest value at which the index was measured."},
		{Name: "below_point_id", Group: "frontier", Type: String, Doc: "The measured neighbour under the level; null if there is none."},
	}
	for _, cost := range append(costs, Objective{"qps", Higher}) {
		name := "interpolated_" + cost.Column
		if slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name }) {
			continue
		}
		col, _ := Lookup(cost.Column)
		columns = append(columns, Column{Name: name, Group: "frontier", Type: Float, Unit: col.Unit, Better: cost.Direction, Doc: "The value at the level itself, between the two measured neighbours; null without them."})
	}
	return columns
}

// Reaches is AtLevels for the group, by level and then by cost, as rows with the columns of LevelColumns. The row of an
// index that does not reach a level holds what it is, and nothing that was measured.
func (g Group) Reaches(levels Levels, cost Objective) ([]Row, error) {
	reaches, err := AtLevels(g.Rows, levels, cost)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(reaches, func(a, b Reach) int {
		if a.Level != b.Level {
			return cmp.Compare(a.Level, b.Level)
		}
		return cmp.Compare(g.costAt(a, cost), g.costAt(b, cost))
	})
	var out []Row
	for _, r := range reaches {
		highest, _ := g.Rows[r.Highest].Number(levels.Column)
		derived := Row{"level": r.Level, "reached": r.Point >= 0, "highest": highest}
		if r.Point < 0 {
			out = append(out, with(described(g.Rows[r.Highest]), derived))
			continue
		}
		if r.Below >= 0 {
			derived["below_point_id"] = g.Rows[r.Below]["point_id"]
		}
		for name, v := range r.Interpolated {
			derived["interpolated_"+name] = v
		}
		out = append(out, with(g.Rows[r.Point], derived))
	}
	return out, nil
}

// costAt orders reaches: those that do not reach their level come last.
func (g Group) costAt(r Reach, cost Objective) float64 {
	if r.Point < 0 {
		return math.Inf(1)
	}
	v, _ := cost.cost(g.Rows[r.Point])
	return v
}

// described is what a row says of its data and of how the index was built, without the search parameters and without
// anything that was measured.
func described(r Row) Row {
	out := Row{}
	c := newCatalogue()
	for name := range r {
		i, _, ok := c.find(name)
		v := r.Setting(name)
		if !ok || v == nil {
			continue
		}
		switch name {
		case "ef_search", "nprobe", "params", "depth_effective", "point_id":
			continue
		}
		switch c.columns[i].Group {
		case "identity", "data", "chunking", "embedding", "index":
			out[name] = v
		}
		switch name {
		case "filter", "filter_mode", "filter_boost", "index_bytes", "build_threads", "load_mode", "concurrency", "in_flight", "arrivals", "target_qps", "slo", "machine_digest", "cpu", "cores", "instruction_set":
			out[name] = v
		}
	}
	return out
}
