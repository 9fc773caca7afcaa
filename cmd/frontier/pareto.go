package main

import (
	"frontier/results"

	"github.com/spf13/cobra"
)

func newPareto() *cobra.Command {
	var q question
	var columns []string
	var under, format string
	var all bool
	cmd := &cobra.Command{
		Use:     "pareto RESULTS...",
		Short:   "Print the points that no other point beats in everything",
		Example: "  frontier pareto out/quickstart --objective recall_at_10:max --objective latency_p99_seconds:min",
		Args:    atLeastOne("a results folder, a Parquet file or a glob"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := results.CheckColumns(columns); err != nil {
				return usage(err)
			}
			a, err := q.ask(cmd, args, under)
			if err != nil {
				return usage(err)
			}
			tell(cmd, results.Absent(a.read, columns))
			tellMixed(cmd, a.groups)
			best := a.rows
			if !all {
				if err := a.checkObjectives(cmd); err != nil {
					return usage(err)
				}
				best = nil
				for _, g := range a.groups {
					front, err := g.Frontier(a.objectives)
					if err != nil {
						return usage(err)
					}
					best = append(best, front...)
				}
			}
			for _, w := range results.CommonWarnings(a.rows) {
				tell(cmd, []string{w.String()})
			}
			if len(columns) == 0 {
				columns = append(groupColumns(a.groups), frontierColumns(best, a.objectives)...)
			}
			return results.WriteTable(cmd.OutOrStdout(), best, columns, format)
		},
	}
	q.addFlags(cmd)
	cmd.Flags().StringVar(&under, "best-under", "", "only rows that keep a limit, such as \"latency_p99_seconds <= 0.02\"")
	cmd.Flags().StringSliceVar(&columns, "columns", nil, "columns to print (default: those that tell the rows apart, and the objectives)")
	cmd.Flags().BoolVar(&all, "all", false, "print all rows, not only those on the frontier")
	addFormat(cmd, &format)
	return cmd
}
