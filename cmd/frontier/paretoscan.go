package main

import (
	"fmt"
	"slices"
	"strings"

	"frontier/results"

	"github.com/spf13/cobra"
)

// many says whether the frontier is asked of so many rows that they are better scanned than read. What is wrong with the
// paths is told by whoever reads them.
func (p *pareto) many(args []string) bool {
	if p.all || p.possible || p.knee || slices.Contains(p.columns, "rivals") {
		return false
	}
	n, err := results.CountRows(args...)
	return err == nil && n >= p.scanFrom
}

// scan prints the frontier of many rows. It says what frontier says, but for the points off the frontier.
func (p *pareto) scan(cmd *cobra.Command, args []string) error {
	derived := results.PlaceColumns()
	if err := results.CheckColumns(p.columns, derived...); err != nil {
		return usage(err)
	}
	if _, err := results.Where(p.where); err != nil && p.where != "" {
		return usage(err)
	}
	if _, err := results.ParseObjectives(p.objectives); err != nil && len(p.objectives) > 0 {
		return usage(err)
	}
	sources, err := results.Sources(args...)
	if err != nil {
		return usage(err)
	}
	objectives, err := p.chosenObjectives(cmd, sources)
	if err != nil {
		return usage(err)
	}
	q := results.ScanQuestion{
		Objectives: objectives, Where: p.where, Named: stored(p.columns, derived), Certainty: p.certainty,
		Places: len(p.columns) == 0 || slices.Contains(p.columns, "place") || slices.Contains(p.columns, "knee"),
	}
	q.Columns = slices.Clone(q.Named)
	if len(p.columns) == 0 {
		q.Columns = append(tellingColumns(), "index_spec", "dataset", "dataset_digest")
	}
	for _, o := range objectives { // also to put the best first
		if !slices.Contains(q.Columns, o.Column) {
			q.Columns = append(q.Columns, o.Column)
		}
	}
	if p.format != "json" && p.format != "csv" { // tables show intervals beside the values
		for _, name := range slices.Clone(q.Columns) {
			low, high := results.IntervalColumns(name)
			q.Columns = append(q.Columns, low, high)
		}
	}
	s, err := results.ScanFrontier(cmd.Context(), q, args...)
	if err != nil {
		return usage(err)
	}
	tell(cmd, s.Absent)
	if s.Kept == 0 {
		tell(cmd, []string{fmt.Sprintf("none of the %d rows meets the condition; loosen it", s.Read)})
	}
	tellMixed(cmd, s.Groups)
	for _, w := range s.Common {
		tell(cmd, []string{w.String()})
	}
	if len(s.NoFrontier) > 0 {
		return usage(fmt.Errorf("there is no frontier: %s", strings.Join(s.NoFrontier, "; ")))
	}
	note(cmd, s.Notes)
	var rows []results.Row
	for _, g := range s.Groups {
		rows = append(rows, bestFirst(g.Rows, objectives)...)
	}
	a := &answer{objectives: objectives, groups: s.Groups}
	return p.print(cmd, a, rows, slices.Concat([]string{"place"}, kneeColumn(rows), frontierColumns(rows, objectives)), derived)
}
