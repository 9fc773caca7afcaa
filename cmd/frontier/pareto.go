package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontier/results"

	"github.com/spf13/cobra"
)

// pareto is what is asked of the rows, beside which rows and what is better.
type pareto struct {
	question
	columns     []string
	format      string
	under       string
	at          string
	reference   string
	all         bool
	possible    bool
	knee        bool
	hypervolume bool
	certainty   results.Certainty
	scanFrom    int // from how many rows on the frontier is found by a scan
}

func newPareto() *cobra.Command {
	var p pareto
	cmd := &cobra.Command{
		Use:   "pareto RESULTS...",
		Short: "Print the points that no other point beats in everything, or the one to take",
		Long: "Print the frontier: the points that no other point beats in everything, and how sure it is that each belongs there.\n" +
			"With --best-under, the best point within a limit; with --at, what each index needs to reach a recall; with --knee,\n" +
			"where more of one objective begins to cost more of the other; with --hypervolume, one number for the whole frontier.",
		Example: "  frontier pareto out/quickstart --objective recall_at_10:max --objective latency_p99_seconds:min\n" +
			"  frontier pareto out/quickstart --best-under \"latency_p99_seconds <= 20ms\"\n" +
			"  frontier pareto out/vectors --at ann_recall_at_10=0.90,0.95,0.99",
		Args: atLeastOne("a results folder, a Parquet file or a glob"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, args) },
	}
	p.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&p.under, "best-under", "", "print the best point in the first objective among those for which this holds, such as \"latency_p99_seconds <= 20ms\"; with --all also those that cannot be told from it")
	f.StringVar(&p.at, "at", "", "print the cheapest search parameters with which each index reaches each level, such as ann_recall_at_10=0.90,0.95; --objective says what is cheap (default: the sweep's latency, else latency_p50_seconds)")
	f.BoolVar(&p.knee, "knee", false, "print the point at which a frontier of two objectives bends most")
	f.BoolVar(&p.hypervolume, "hypervolume", false, "print the share of the box between ideal and reference that the frontier dominates")
	f.StringVar(&p.reference, "reference", "", "the worse end of that box, such as recall_at_10=0,latency_p99_seconds=100ms (default: a little worse than all that was measured)")
	f.BoolVar(&p.all, "all", false, "print all rows, not only those on the frontier")
	f.BoolVar(&p.possible, "possible", false, "print also the points that may be on the frontier for all that was measured")
	f.Float64Var(&p.certainty.Level, "confidence", 0.95, "how sure all places are at once")
	f.BoolVar(&p.certainty.FixedQuestions, "fixed-questions", false, "judge places for these very questions: quality has no interval then")
	f.StringSliceVar(&p.columns, "columns", nil, "columns to print (default: those that tell the rows apart, and the objectives)")
	f.IntVar(&p.scanFrom, "scan-from", results.ManyRows, "from how many rows on the columns are scanned, without making rows of them")
	_ = f.MarkHidden("scan-from") // for the tests; an error would say that there is no such flag
	addFormat(cmd, &p.format)
	return cmd
}

// check refuses flags that contradict each other.
func (p *pareto) check() error {
	var modes []string
	for _, m := range []struct {
		name string
		on   bool
	}{{"--best-under", p.under != ""}, {"--at", p.at != ""}, {"--knee", p.knee}, {"--hypervolume", p.hypervolume}, {"--possible", p.possible}, {"--all", p.all && p.under == ""}} {
		if m.on {
			modes = append(modes, m.name)
		}
	}
	switch {
	case len(modes) > 1:
		return fmt.Errorf("%s ask for different things; give one of them", strings.Join(modes, " and "))
	case p.reference != "" && !p.hypervolume:
		return errors.New("--reference is of use with --hypervolume only")
	case p.certainty.Level <= 0 || p.certainty.Level >= 1:
		return fmt.Errorf("--confidence is %v; it lies between 0 and 1, such as 0.95", p.certainty.Level)
	}
	return nil
}

func (p *pareto) run(cmd *cobra.Command, args []string) error {
	if err := p.check(); err != nil {
		return usage(err)
	}
	var err error
	switch {
	case p.under != "":
		err = p.best(cmd, args)
	case p.at != "":
		err = p.levels(cmd, args)
	case p.hypervolume:
		err = p.volume(cmd, args)
	default:
		err = p.frontier(cmd, args)
	}
	return err
}

// ask reads the rows, of what was measured with what the question names and the further columns, and tells what is to be
// known of all of them. Columns that are neither stored nor derived are an error before anything is read.
func (p *pareto) ask(cmd *cobra.Command, args []string, derived []results.Column, measured ...string) (*answer, error) {
	if err := results.CheckColumns(p.columns, derived...); err != nil {
		return nil, usage(err)
	}
	a, err := p.question.ask(cmd, args, append(measured, p.columns...)...)
	if err != nil {
		return nil, usage(err)
	}
	tell(cmd, results.Absent(a.read, stored(p.columns, derived)))
	tellMixed(cmd, a.groups)
	for _, w := range results.CommonWarnings(a.rows) {
		tell(cmd, []string{w.String()})
	}
	return a, nil
}

// stored leaves out the columns that are derived.
func stored(columns []string, derived []results.Column) []string {
	return slices.DeleteFunc(slices.Clone(columns), func(name string) bool {
		return slices.ContainsFunc(derived, func(c results.Column) bool { return c.Name == name })
	})
}

// print writes the rows with the columns that were asked for, or else the given ones.
func (p *pareto) print(cmd *cobra.Command, a *answer, rows []results.Row, columns []string, derived []results.Column) error {
	if len(p.columns) > 0 {
		columns = p.columns
	} else {
		columns = append(groupColumns(a.groups), columns...)
	}
	return results.WriteTable(cmd.OutOrStdout(), rows, columns, p.format, derived...)
}

// frontier prints the frontier or its knee, the frontier and what may be on it, or all rows.
func (p *pareto) frontier(cmd *cobra.Command, args []string) error {
	derived := results.PlaceColumns()
	if p.many(args) {
		return p.scan(cmd, args)
	}
	a, err := p.ask(cmd, args, derived)
	if err != nil {
		return err
	}
	places := len(p.columns) == 0 || len(stored(p.columns, derived)) < len(p.columns)
	if p.all && !places {
		return p.print(cmd, a, a.rows, nil, derived)
	}
	if err := a.checkObjectives(cmd); err != nil {
		return usage(err)
	}
	which := results.OnFrontier
	switch {
	case p.possible:
		which = results.MayBeOnIt
	case p.all:
		which = results.OnItOrOff
	}
	var rows []results.Row
	var notes []string
	for _, g := range a.groups {
		if p.knee {
			row, err := g.KneeRow(a.objectives, p.certainty)
			if errors.Is(err, results.ErrNoKnee) {
				tell(cmd, a.label(g, []string{err.Error()}))
				continue
			}
			if err != nil {
				return usage(err)
			}
			rows = append(rows, row)
			continue
		}
		j, err := g.Judge(a.objectives, p.certainty, which)
		if err != nil {
			return usage(err)
		}
		if !p.all {
			j.Rows = bestFirst(j.Rows, a.objectives)
		}
		rows, notes = append(rows, j.Rows...), append(notes, a.label(g, j.Notes)...)
	}
	if places {
		note(cmd, notes)
	}
	return p.print(cmd, a, rows, slices.Concat([]string{"place"}, kneeColumn(rows), frontierColumns(rows, a.objectives)), derived)
}

// bestFirst are the rows in order of the objectives, the first of them before all, as in the report.
func bestFirst(rows []results.Row, objectives []results.Objective) []results.Row {
	ordered := make([]results.Row, 0, len(rows))
	for _, i := range results.ByObjectives(rows, objectives) {
		ordered = append(ordered, rows[i])
	}
	return ordered
}

// kneeColumn is the column of the knee if any row is one.
func kneeColumn(rows []results.Row) []string {
	if slices.ContainsFunc(rows, func(r results.Row) bool { return r["knee"] == true }) {
		return []string{"knee"}
	}
	return nil
}

// best prints the best point of each data set under the limit.
func (p *pareto) best(cmd *cobra.Command, args []string) error {
	limits, err := results.ColumnsOf(p.under)
	if err == nil {
		_, err = results.Where(p.under)
	}
	if err != nil {
		return usage(err)
	}
	derived := results.ChoiceColumns()
	a, err := p.ask(cmd, args, derived, limits...)
	if err != nil {
		return err
	}
	if err := a.checkObjectives(cmd); err != nil {
		return usage(err)
	}
	var rows []results.Row
	for _, g := range a.groups {
		best, alike, err := g.Best(a.objectives, p.under)
		if errors.Is(err, results.ErrNoChoice) {
			tell(cmd, a.label(g, []string{err.Error()}))
			continue
		}
		if err != nil {
			return usage(err)
		}
		rows = append(rows, best)
		switch {
		case p.all:
			rows = append(rows, alike...)
		case len(alike) > 0:
			note(cmd, a.label(g, []string{fmt.Sprintf("%d of the points within the limit cannot be told from the best in %s; --all prints them", len(alike), a.objectives[0].Column)}))
		}
	}
	columns := frontierColumns(rows, a.objectives)
	if p.all {
		columns = append([]string{"choice"}, columns...)
	}
	return p.print(cmd, a, rows, columns, derived)
}

// levels prints what each index needs to reach each level.
func (p *pareto) levels(cmd *cobra.Command, args []string) error {
	levels, err := results.ParseLevels(p.at)
	if err != nil {
		return usage(fmt.Errorf("--at %w", err))
	}
	cost, given := results.Objective{Column: "latency_p50_seconds", Direction: results.Lower}, len(p.objectives) > 0
	p.fallback = []results.Objective{cost}
	a, err := p.ask(cmd, args, results.LevelColumns(levels, p.costs()...), levels.Column, cost.Column)
	if err != nil {
		return err
	}
	for _, o := range a.objectives {
		if col, _ := results.Lookup(o.Column); o.Column != levels.Column && (given || col.Group == "latency") {
			cost = o
			break
		}
	}
	for _, column := range []string{levels.Column, cost.Column} {
		if absent := results.Absent(a.rows, []string{column}); len(absent) > 0 {
			return usage(errors.New(absent[0]))
		}
	}
	var rows []results.Row
	for _, g := range a.groups {
		reached, err := g.Reaches(levels, cost)
		if err != nil {
			return usage(err)
		}
		rows = append(rows, reached...)
	}
	note(cmd, []string{fmt.Sprintf("the rows are measured points: for each index the cheapest in %s that reaches the level of %s. Interpolated values lie between the two measured neighbours of the level, and nothing is extrapolated", cost.Column, levels.Column)})
	columns := append([]string{"level", "reached"}, frontierColumns(rows, nil)...)
	columns = slices.DeleteFunc(columns, func(name string) bool { return name == "index_spec" })
	columns = append(columns, levels.Column, cost.Column, "interpolated_"+cost.Column)
	if cost.Column != "qps" {
		columns = append(columns, "qps")
	}
	columns = append(columns, "highest", "index_spec")
	return p.print(cmd, a, rows, columns, results.LevelColumns(levels, cost))
}

// costs are all objectives that --at may be asked to call cheap, before the manifests say which.
func (p *pareto) costs() []results.Objective {
	objs, err := results.ParseObjectives(p.objectives)
	if err == nil {
		return objs
	}
	for _, c := range results.Columns() {
		if c.Group == "latency" && c.Better != results.None {
			objs = append(objs, results.Objective{Column: c.Name, Direction: c.Better})
		}
	}
	return objs
}

// volume prints the hypervolume of each data set.
func (p *pareto) volume(cmd *cobra.Command, args []string) error {
	var reference map[string]float64
	if p.reference != "" {
		var err error
		if reference, err = results.ParseReference(p.reference); err != nil {
			return usage(err)
		}
	}
	if len(p.columns) > 0 {
		return usage(errors.New("--hypervolume prints columns of its own; leave out --columns"))
	}
	a, err := p.ask(cmd, args, nil)
	if err != nil {
		return err
	}
	if err := a.checkObjectives(cmd); err != nil {
		return usage(err)
	}
	var rows []results.Row
	for _, g := range a.groups {
		row, err := g.VolumeRow(a.objectives, reference)
		if err != nil {
			return usage(err)
		}
		rows = append(rows, row)
	}
	derived := results.VolumeColumns(a.objectives)
	var columns []string
	for _, c := range derived {
		columns = append(columns, c.Name)
	}
	return p.print(cmd, a, rows, columns, derived)
}
