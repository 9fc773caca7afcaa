package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"frontier/results"
	"frontier/sweep"

	"github.com/spf13/cobra"
)

// The splits of a golden set: what is tuned on, and what a choice is confirmed on.
const (
	devSplit     = "dev"
	releaseSplit = "release"
)

// confirmFlags are the flags of confirm.
type confirmFlags struct {
	point, root, cache, format string
	objectives                 []string
	jobs                       int
	again                      bool
}

func newConfirm() *cobra.Command {
	var f confirmFlags
	cmd := &cobra.Command{
		Use:   "confirm RESULTS",
		Short: "Measure the best point of a sweep on split dev once more, on split release",
		Long: "The best of many points looks better on the questions that it was chosen by than it is. This measures the best point\n" +
			"of a run with dataset: {split: dev}, and no other, on the cases marked release, into RESULTS/release, and prints both.\n" +
			"The release cases are worth what they are worth once: another point on them needs --again.",
		Example: "  frontier sweep sweep.yaml --set dataset.split=dev -o out/dev && frontier confirm out/dev",
		Args:    exactly(1, "one results folder"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.confirm(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.point, "point", "", "the point to confirm (default: the best by the first objective)")
	flags.StringArrayVar(&f.objectives, "objective", nil, "what is best, column:max or column:min (default: those of the sweep)")
	flags.StringVar(&f.root, "root", "", "folder that relative paths of the sweep are taken from (default: that of its file)")
	flags.BoolVar(&f.again, "again", false, "also if another point was confirmed on these cases before")
	flags.StringVar(&f.cache, "cache", defaultCache(), "folder of prepared artifacts, shared by all sweeps")
	flags.IntVar(&f.jobs, "jobs", runtime.GOMAXPROCS(0), "how much is prepared at the same time")
	addFormat(cmd, &f.format)
	return cmd
}

func (f *confirmFlags) confirm(cmd *cobra.Command, dir string) error {
	if f.jobs < 1 {
		return usage(fmt.Errorf("--jobs: at least one job is needed, not %d", f.jobs))
	}
	m, err := results.ReadManifest(dir)
	if err != nil {
		return usage(fmt.Errorf("%s is not the results folder of a sweep: %w", dir, err))
	}
	rows, err := results.ReadRows(cmd.Context(), filepath.Join(dir, "results.parquet"))
	if err != nil {
		return err
	}
	texts := f.objectives
	if len(texts) == 0 {
		texts = m.Objectives
	}
	objectives, err := results.ParseObjectives(texts)
	if err != nil {
		return usage(err)
	}
	best, err := f.choose(rows, objectives)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", dir, err))
	}
	sweepFile, err := sweep.ReadSweepOf(m, registry(), f.root)
	if err != nil {
		return fmt.Errorf("read the sweep in the manifest of %s: %w", dir, err)
	}
	sweepFile.DropAbsent(registry())
	sweepFile.Dataset.Split = releaseSplit
	out := filepath.Join(dir, releaseSplit)
	if err := f.onlyOnce(cmd, out, best); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bar := newProgress(os.Stderr)
	summary, err := sweep.Run(cmd.Context(), sweepFile, sweep.Options{
		Out: out, Cache: f.cache, Jobs: f.jobs, Registry: registry(), Version: version(), Commit: commit(), Command: cellCommand(self), Progress: bar.event, Like: best,
	})
	bar.close()
	if err != nil {
		return err
	}
	if summary.Failed > 0 {
		return exitError{exitIncomplete, fmt.Errorf("the point failed on %s; see status and error in %s", releaseSplit, filepath.Join(out, "results.parquet"))}
	}
	return f.print(cmd, out, best, objectives)
}

// choose is the row to confirm.
func (f *confirmFlags) choose(rows []results.Row, objectives []results.Objective) (results.Row, error) {
	for _, row := range rows {
		if row.Text("split") != devSplit {
			return nil, errors.New("it was not measured on split dev; run the sweep with --set dataset.split=dev first")
		}
	}
	if f.point != "" {
		for _, row := range rows {
			if row.Text("point_id") == f.point {
				return row, nil
			}
		}
		return nil, fmt.Errorf("it has no point %q", f.point)
	}
	order := results.ByObjectives(rows, objectives)
	if len(order) == 0 || rows[order[0]].Text("status") != "ok" {
		return nil, errors.New("it has no point that was measured")
	}
	return rows[order[0]], nil
}

// onlyOnce refuses to measure a second choice on the cases that are there to judge the first.
func (f *confirmFlags) onlyOnce(cmd *cobra.Command, out string, best results.Row) error {
	before, err := results.ReadRows(cmd.Context(), filepath.Join(out, "parts"))
	if err != nil || f.again {
		return nil //nolint:nilerr // there is nothing yet
	}
	for _, row := range before {
		if row.Text("params") != best.Text("params") || row.Text("engine") != best.Text("engine") {
			return usage(hint(fmt.Errorf("%s holds another point that was confirmed on split release (%s): who tries one after the other tunes on them", out, results.Describe(row)),
				"--again does it all the same"))
		}
	}
	return nil
}

// print shows the chosen point on both splits.
func (f *confirmFlags) print(cmd *cobra.Command, out string, best results.Row, objectives []results.Objective) error {
	after, err := results.ReadRows(cmd.Context(), filepath.Join(out, "results.parquet"))
	if err != nil {
		return err
	}
	rows := append([]results.Row{best}, after...)
	columns := append([]string{"split", "queries_answerable"}, frontierColumns(rows, objectives)...)
	if err := results.WriteTable(cmd.OutOrStdout(), rows, columns, f.format); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "\nOf the two, %s is what to expect: %s is what the point was chosen by.\nTable: %s\n", releaseSplit, devSplit, filepath.Join(out, "results.parquet"))
	return nil
}
