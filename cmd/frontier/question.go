package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontier/results"

	"github.com/spf13/cobra"
)

// question is what pareto and report are asked: which rows, and what is better.
type question struct {
	objectives []string
	where      string
	fallback   []results.Objective // if neither flags nor manifests have objectives; nil makes that an error
}

func (q *question) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&q.objectives, "objective", nil, "column:max or column:min (default: those of the sweep)")
	cmd.Flags().StringVar(&q.where, "where", "", "only rows for which this holds, such as \"engine == 'faiss' && recall_at_10 > 0.8\"")
}

// answer is what was found.
type answer struct {
	objectives []results.Objective
	sources    []results.Source
	read       []results.Row // all
	rows       []results.Row // those that meet the conditions
	groups     []results.Group
}

// ask reads the results at paths and keeps the rows that meet the question's condition. Of what was measured they have what
// the question names, and the further columns. What is wrong with the question is an error before anything large is read.
func (q *question) ask(cmd *cobra.Command, paths []string, measured ...string) (*answer, error) {
	if _, err := results.ParseObjectives(q.objectives); err != nil && len(q.objectives) > 0 {
		return nil, err
	}
	holds := func(results.Row) (bool, error) { return true, nil }
	var named []string // columns that the condition names
	var err error
	if q.where != "" {
		if holds, err = results.Where(q.where); err != nil {
			return nil, err
		}
		if named, err = results.ColumnsOf(q.where); err != nil {
			return nil, err
		}
	}
	a := &answer{}
	if a.sources, err = results.Sources(paths...); err != nil {
		return nil, err
	}
	var unclear error // told only of results that are there
	a.objectives, unclear = q.chosenObjectives(cmd, a.sources)
	for _, o := range a.objectives {
		measured = append(measured, o.Column)
	}
	if a.read, err = results.ReadRowsWith(cmd.Context(), append(measured, named...), paths...); err != nil {
		return nil, err
	}
	if unclear != nil {
		return nil, unclear
	}
	slices.Sort(named)
	tell(cmd, results.Absent(a.read, named))
	if a.rows, err = meeting(a.read, holds); err != nil {
		return nil, err
	}
	if len(a.rows) == 0 {
		tell(cmd, []string{fmt.Sprintf("none of the %d rows meets the condition; loosen it", len(a.read))})
	}
	a.groups = results.Groups(a.rows)
	return a, nil
}

// chosenObjectives are those of the flags, or of the first manifest that has any.
func (q *question) chosenObjectives(cmd *cobra.Command, sources []results.Source) ([]results.Objective, error) {
	if len(q.objectives) > 0 {
		return results.ParseObjectives(q.objectives)
	}
	sources = slices.DeleteFunc(slices.Clone(sources), func(s results.Source) bool { return len(s.Manifest.Objectives) == 0 })
	if len(sources) == 0 && q.fallback != nil {
		return q.fallback, nil
	}
	if len(sources) == 0 {
		return nil, errors.New("say what is better with --objective, such as --objective recall_at_10:max --objective latency_p99_seconds:min")
	}
	first := sources[0]
	for _, s := range sources[1:] {
		if !slices.Equal(s.Manifest.Objectives, first.Manifest.Objectives) {
			tell(cmd, []string{fmt.Sprintf("the objectives are those of %s (%s); %s has others (%s): choose with --objective",
				first.Path, strings.Join(first.Manifest.Objectives, ", "), s.Path, strings.Join(s.Manifest.Objectives, ", "))})
		}
	}
	objs, err := results.ParseObjectives(first.Manifest.Objectives)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", first.Path, err)
	}
	return objs, nil
}

// meeting are the rows that meet a condition.
func meeting(rows []results.Row, holds func(results.Row) (bool, error)) ([]results.Row, error) {
	var kept []results.Row
	for _, row := range rows {
		ok, err := holds(row)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

// checkObjectives is an error if an objective is null in all rows, for then no row is on any frontier. Where it is so in
// one data set of several, that is told.
func (a *answer) checkObjectives(cmd *cobra.Command) error {
	columns := make([]string, len(a.objectives))
	for i, o := range a.objectives {
		columns[i] = o.Column
	}
	if absent := results.Absent(a.rows, columns); len(absent) > 0 {
		return fmt.Errorf("there is no frontier: %s", strings.Join(absent, "; "))
	}
	if len(a.groups) > 1 {
		for _, g := range a.groups {
			for _, text := range results.Absent(g.Rows, columns) {
				tell(cmd, []string{g.Label() + ": " + text})
			}
		}
	}
	return nil
}

// tellMixed prints what must not be compared.
func tellMixed(cmd *cobra.Command, groups []results.Group) {
	for _, w := range results.MixWarnings(groups) {
		tell(cmd, []string{w.Text + "\n  " + strings.Join(w.Choices, "\n  ")})
	}
}

// label says which data set notes are about, where there are several.
func (a *answer) label(g results.Group, notes []string) []string {
	if len(a.groups) < 2 {
		return notes
	}
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = g.Label() + ": " + n
	}
	return out
}

// note prints what helps to read the output, beside it.
func note(cmd *cobra.Command, texts []string) {
	for _, text := range texts {
		fmt.Fprintln(cmd.ErrOrStderr(), "frontier: "+text)
	}
}

// tell prints warnings for people beside the output.
func tell(cmd *cobra.Command, texts []string) {
	for _, text := range texts {
		fmt.Fprintln(cmd.ErrOrStderr(), "frontier: warning: "+text)
	}
}
