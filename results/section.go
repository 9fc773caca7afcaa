package results

import (
	"fmt"
	"html/template"
	"slices"
)

// section is what the report says of one data set.
type section struct {
	Label      string // the data set with its digest
	Anchor     string
	Headlines  []string
	Notices    []string // warnings of most points, said once
	Absent     []string // objectives that no point has, and why
	FrontierOf string
	Picture    template.HTML // "" if there is nothing to plot
	Overlap    string
	Places     []string // what the places mean, and how many points they leave undecided
	Alike      []string // which points nothing tells apart
	Frontier   *sheet
	Points     *sheet
	Slices     *sliceTable // nil if the questions are of one kind
	Filters    *sheet      // nil if nothing is filtered
	Shown      int
	Total      int
	Traces     []trace
}

// newSection lists at most limit points.
func newSection(g Group, objs []Objective, limit int) (*section, error) {
	s := &section{Label: g.Label(), Total: len(g.Rows)}
	on, _, err := Frontier(g.Rows, objs)
	if err != nil {
		return nil, err
	}
	if s.Picture, err = svg(g.Rows, objs); err != nil {
		return nil, err
	}
	common := CommonWarnings(g.Rows)
	for _, w := range common {
		s.Notices = append(s.Notices, w.String())
	}
	rows := withoutWarnings(g.Rows, common)
	p, err := Places(rows, objs, Certainty{})
	if err != nil {
		return nil, err
	}
	place := func(i int) string {
		if !p.Compared(i) {
			return "-"
		}
		return p.Places[i].String()
	}
	var front, listed []Row
	var frontAt []int
	var frontPlaces, listedPlaces []string
	for _, i := range ByObjectives(rows, objs) {
		if on[i] {
			front, frontAt, frontPlaces = append(front, rows[i]), append(frontAt, i), append(frontPlaces, place(i))
		}
		if len(listed) < limit {
			listed, listedPlaces = append(listed, rows[i]), append(listedPlaces, place(i))
		}
	}
	s.Shown = len(listed)
	s.FrontierOf = fmt.Sprintf("%d of %d points are", len(front), len(rows))
	if len(front) == 1 {
		s.FrontierOf = fmt.Sprintf("1 of %s is", count(len(rows), "point"))
	}
	columns := objectivesFirst(DefaultColumns(rows, objs), objs)
	// The table of the frontier should fit on a screen: the other one has what is left out here.
	short := without(columnsWithValues(front, columns), without([]string{"status", "error", "build_seconds", "latency_p50_seconds"}, columnsOfObjectives(objs)...)...)
	if s.Frontier, err = newNarrowSheet(front, short, columnsOfObjectives(objs)); err != nil {
		return nil, err
	}
	s.markFrontier(front, objs[0])
	s.Frontier.prepend("place", frontPlaces)
	s.Places, s.Alike = placesText(g, p, frontAt)
	if s.Points, err = newSheet(listed, append([]string{"point_id"}, columns...)); err != nil {
		return nil, err
	}
	s.Points.prepend("place", listedPlaces)
	s.Filters = filterSheet(g.Rows)
	s.Absent = Absent(rows, columnsOfObjectives(objs))
	s.Headlines = headlines(rows, front, objs)
	s.Traces = traces(front, objs[0])
	return s, nil
}

// placesText says what the places mean, and which points they leave undecided.
func placesText(g Group, p *Placing, front []int) (places, alike []string) {
	if len(front) == 0 {
		return nil, nil
	}
	places = []string{p.Rule() + "."}
	var more []int
	for i, place := range p.Places {
		if place == Possible && !slices.Contains(front, i) {
			more = append(more, i)
		}
	}
	if len(more) > 0 {
		places = append(places, count(len(more), "more point")+" off the measured frontier may be on the true one: the table of all points has their places.")
	}
	for _, n := range g.alikeNotes(p, front, more) {
		alike = append(alike, n+".")
	}
	return places, alike
}

func columnsOfObjectives(objs []Objective) []string {
	names := make([]string, len(objs))
	for i, o := range objs {
		names[i] = o.Column
	}
	return names
}

// columnsWithValues leaves out columns that are null in all rows, as nprobe is where no row is an IVF index.
func columnsWithValues(rows []Row, columns []string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(c string) bool {
		return !slices.ContainsFunc(rows, func(r Row) bool { return r[c] != nil })
	})
}

// markFrontier puts a first column that says which rows the measurement cannot tell from the best one.
func (s *section) markFrontier(front []Row, first Objective) {
	if len(front) == 0 {
		return
	}
	same, intervals := 0, 0
	_, _, bestHas := front[0].Interval(first.Column)
	marks := make([]string, len(front))
	for i, r := range front {
		_, _, has := r.Interval(first.Column)
		if has {
			intervals++
		}
		marks[i] = "behind"
		switch {
		case i == 0:
			marks[i] = "best"
		case front[0][first.Column] == r[first.Column]:
			marks[i] = "equal"
			same++
		case overlap(front[0], r, first.Column):
			marks[i] = "not told apart"
			same++
		case !has || !bestHas:
			marks[i] = "lower, no interval"
			if first.Direction == Lower {
				marks[i] = "higher, no interval"
			}
		}
	}
	s.Frontier.prepend("by "+heading(first.Column), marks)
	switch {
	case len(front) == 1: // there is nothing to tell apart
	case intervals < len(front):
		s.Overlap = fmt.Sprintf("The rows are in order of %s, but not all have an interval for it: small differences may be chance.", heading(first.Column))
	case same > 0:
		s.Overlap = fmt.Sprintf("The rows are in order of %s, but %d of them equal the best or have a 95%% interval that reaches into its: the measurement does not tell them apart, so choose among them by the other objectives, or measure more.", heading(first.Column), same)
	default:
		s.Overlap = fmt.Sprintf("The 95%% interval of the best %s overlaps with no other's.", heading(first.Column))
	}
}

// objectivesFirst moves the objectives to the left edge, where they are seen without scrolling.
func objectivesFirst(columns []string, objs []Objective) []string {
	out := columnsOfObjectives(objs)
	at := slices.Index(columns, "engine") + 1
	return slices.Concat(columns[:at], out, without(columns[at:], out...))
}

func without(columns []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(c string) bool { return slices.Contains(names, c) })
}
