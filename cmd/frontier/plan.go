package main

import (
	"encoding/json"
	"fmt"
	"time"

	"frontier/sweep"

	"github.com/spf13/cobra"
)

func newPlan() *cobra.Command {
	var sets []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "plan FILE",
		Short:   "Say what a sweep will do, without doing it",
		Example: "  frontier plan examples/quickstart.yaml",
		Args:    exactly(1, "one sweep file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := readFile(args[0], sets)
			if err != nil {
				return err
			}
			p, err := sweep.MakePlan(f, registry().Engines)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(p)
			}
			printPlan(cmd, p)
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&sets, "set", nil, "override a value of the file: a.b=v")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the numbers as JSON")
	return cmd
}

func printPlan(cmd *cobra.Command, p *sweep.Plan) {
	w := cmd.OutOrStdout()
	if p.Chunkings > 0 {
		fmt.Fprintf(w, "chunk    %8d ways of cutting the corpus\n", p.Chunkings)
		fmt.Fprintf(w, "embed    %8d sets of vectors\n", p.Embeddings)
	}
	fmt.Fprintf(w, "build    %8d indexes\n", p.Builds)
	fmt.Fprintf(w, "measure  %8d points in %d cells, at least %v\n", p.Points, p.Cells, p.MeasureTime.Round(time.Second))
	fmt.Fprintf(w, "stages   %8d runs; preparing everything anew for each point would take %d\n\n", p.StageRuns, p.NaiveStages)
	for _, item := range p.Items {
		fmt.Fprintf(w, "line %-4d %-10s %8d cells %8d points\n", item.Pos.Line, item.Engine, item.Cells, item.Points)
	}
}
