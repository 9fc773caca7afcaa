package main

import (
	"fmt"

	"frontier/results"

	"github.com/spf13/cobra"
)

func newPareto() *cobra.Command {
	var objectives, columns []string
	var where, under, format string
	var all bool
	cmd := &cobra.Command{
		Use:     "pareto RESULTS...",
		Short:   "Print the points that no other point beats in everything",
		Example: "  frontier pareto out/quickstart --objective recall_at_10:max --objective latency_p99_seconds:min",
		Args:    atLeastOne("a results folder, a Parquet file or a glob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, err := results.ReadRows(cmd.Context(), args...)
			if err != nil {
				return usage(err)
			}
			objs, err := chosenObjectives(args, objectives)
			if err != nil {
				return usage(err)
			}
			for _, expression := range []string{where, under} {
				if rows, err = filter(rows, expression); err != nil {
					return usage(err)
				}
			}
			best := rows
			if !all {
				if best, err = frontierRows(rows, objs); err != nil {
					return usage(err)
				}
			}
			if len(columns) == 0 {
				columns = frontierColumns(best, objs)
			}
			return results.WriteTable(cmd.OutOrStdout(), best, columns, format)
		},
	}
	cmd.Flags().StringArrayVar(&objectives, "objective", nil, "column:max or column:min (default: those of the sweep)")
	cmd.Flags().StringVar(&where, "where", "", "only rows for which this holds, such as \"engine == 'faiss' && recall_at_10 > 0.8\"")
	cmd.Flags().StringVar(&under, "best-under", "", "only rows that keep a limit, such as \"latency_p99_seconds <= 0.02\"")
	cmd.Flags().StringSliceVar(&columns, "columns", nil, "columns to print (default: those that tell the rows apart, and the objectives)")
	cmd.Flags().BoolVar(&all, "all", false, "print all rows, not only those on the frontier")
	addFormat(cmd, &format)
	return cmd
}

// chosenObjectives are those of the flags, or of the manifest of the first folder.
func chosenObjectives(paths, flags []string) ([]results.Objective, error) {
	if len(flags) > 0 {
		return results.ParseObjectives(flags)
	}
	for _, path := range paths {
		if m, err := results.ReadManifest(path); err == nil && len(m.Objectives) > 0 {
			return results.ParseObjectives(m.Objectives)
		}
	}
	return nil, fmt.Errorf("say what is better with --objective, such as --objective recall_at_10:max --objective latency_p99_seconds:min")
}

func filter(rows []results.Row, expression string) ([]results.Row, error) {
	if expression == "" {
		return rows, nil
	}
	keep, err := results.Where(expression)
	if err != nil {
		return nil, err
	}
	var kept []results.Row
	for _, row := range rows {
		ok, err := keep(row)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, row)
		}
	}
	return kept, nil
}

func frontierRows(rows []results.Row, objs []results.Objective) ([]results.Row, error) {
	on, _, err := results.Frontier(rows, objs)
	if err != nil {
		return nil, err
	}
	var best []results.Row
	for i, row := range rows {
		if on[i] {
			best = append(best, row)
		}
	}
	return best, nil
}
