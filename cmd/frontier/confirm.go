package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"frontier/results"
	"frontier/sweep"

	"github.com/spf13/cobra"
)

// confirmFlags are the flags of confirm.
type confirmFlags struct {
	opt    sweep.ConfirmOptions
	format string
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
	flags.StringVar(&f.opt.Point, "point", "", "the point to confirm (default: the best by the first objective)")
	flags.StringArrayVar(&f.opt.Objectives, "objective", nil, "what is best, column:max or column:min (default: those of the sweep)")
	flags.StringVar(&f.opt.Root, "root", "", "folder that relative paths of the sweep are taken from (default: that of its file)")
	flags.BoolVar(&f.opt.Again, "again", false, "also if another point was confirmed on these cases before")
	flags.StringVar(&f.opt.Run.Cache, "cache", defaultCache(), "folder of prepared artifacts, shared by all sweeps")
	flags.IntVar(&f.opt.Run.Jobs, "jobs", runtime.GOMAXPROCS(0), "how much is prepared at the same time")
	addFormat(cmd, &f.format)
	return cmd
}

func (f *confirmFlags) confirm(cmd *cobra.Command, dir string) error {
	if f.opt.Run.Jobs < 1 {
		return usage(fmt.Errorf("--jobs: at least one job is needed, not %d", f.opt.Run.Jobs))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bar := newProgress(os.Stderr)
	f.opt.Dir = dir
	run := &f.opt.Run
	run.Registry, run.Version, run.Commit, run.Command, run.Progress = registry(), version(), commit(), cellCommand(self), bar.event
	c, err := sweep.Confirm(cmd.Context(), f.opt)
	bar.close()
	if errors.Is(err, context.Canceled) {
		return exitError{exitInterrupted, errors.New("interrupted; run the same command to go on")}
	}
	if err != nil {
		return err
	}
	table := filepath.Join(c.Summary.Out, "results.parquet")
	if c.Summary.Failed > 0 {
		return exitError{exitIncomplete, fmt.Errorf("the point failed on split release; see status and error in %s", table)}
	}
	rows := append([]results.Row{c.Chosen}, c.Measured...)
	columns := append([]string{"split", "queries_answerable"}, frontierColumns(rows, c.Objectives)...)
	if err := results.WriteTable(cmd.OutOrStdout(), rows, columns, f.format); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "\nOf the two, release is what to expect: dev is what the point was chosen by.\nTable: %s\n", table)
	return nil
}
