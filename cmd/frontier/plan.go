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
	var cache string
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
			p, err := sweep.MakePlan(f, registry(), cache)
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
	cmd.Flags().StringVar(&cache, "cache", defaultCache(), "folder of prepared artifacts; what it holds makes the plan more exact")
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
	if p.Embeddings > 0 {
		fmt.Fprintln(w, "embedding costs $0: every embedder of the file computes here")
	}
	if p.VectorBytes > 0 {
		fmt.Fprintf(w, "vectors  %8.1f MiB, as far as the number of chunks is known\n", float64(p.VectorBytes)/(1<<20))
	}
	for _, item := range p.Items {
		fmt.Fprintf(w, "line %-4d %-10s %8d cells %8d points\n", item.Pos.Line, item.Engine, item.Cells, item.Points)
	}
	for _, e := range p.Expressions {
		fmt.Fprintf(w, "line %-4d %s: %s = %s for n = %d, dim = %d\n", e.Pos.Line, e.Name, e.Text, e.Value, e.N, e.Dim)
	}
}
