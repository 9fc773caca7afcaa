package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"frontier/results"
	"frontier/sweep"
	"frontier/sweep/file"

	"github.com/spf13/cobra"
)

func newSweep() *cobra.Command {
	var out, cache, format string
	var sets []string
	var jobs int
	var fresh bool
	var seed uint64
	cmd := &cobra.Command{
		Use:     "sweep FILE",
		Short:   "Run a sweep, or what is left of it",
		Example: "  frontier sweep examples/quickstart.yaml --out out/quickstart --set seed=7",
		Args:    exactly(1, "one sweep file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if jobs < 1 {
				return usage(fmt.Errorf("--jobs: at least one job is needed, not %d", jobs))
			}
			if cmd.Flags().Changed("seed") {
				sets = append(sets, fmt.Sprintf("seed=%d", seed))
			}
			f, err := readFile(args[0], sets)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join("out", strings.TrimSuffix(filepath.Base(args[0]), filepath.Ext(args[0])))
			}
			return runSweep(cmd, f, sweep.Options{Out: out, Cache: cache, Jobs: jobs, Fresh: fresh}, format)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "results folder (default out/NAME of the file)")
	cmd.Flags().StringVar(&cache, "cache", defaultCache(), "folder of prepared artifacts, shared by all sweeps")
	cmd.Flags().StringArrayVar(&sets, "set", nil, "override a value of the file: a.b=v, or indexes.0.M=[8,16]")
	cmd.Flags().IntVar(&jobs, "jobs", runtime.GOMAXPROCS(0), "how much is prepared at the same time")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "measure again what the results folder holds")
	cmd.Flags().Uint64Var(&seed, "seed", 0, "override the file's seed")
	addFormat(cmd, &format)
	return cmd
}

// readFile reads a sweep file and leaves out what needs engines that this binary lacks, saying so.
func readFile(path string, sets []string) (*file.File, error) {
	reg := registry()
	f, err := file.Read(path, reg, sets)
	if err != nil {
		if !isBadInput(err) {
			return nil, usage(err)
		}
		return nil, err
	}
	for _, w := range f.DropAbsent(reg) {
		fmt.Fprintln(os.Stderr, "warning: "+w)
	}
	if len(f.Indexes) == 0 {
		return nil, usage(fmt.Errorf("%s: this binary has none of the engines that the file names; see `frontier engines`", path))
	}
	return f, nil
}

func runSweep(cmd *cobra.Command, f *file.File, opt sweep.Options, format string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	opt.Registry = registry()
	opt.Version, opt.Commit = version(), commit()
	opt.Command = cellCommand(self)
	bar := newProgress(os.Stderr)
	opt.Progress = bar.event
	summary, err := sweep.Run(cmd.Context(), f, opt)
	bar.close()
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if summary.Points > 0 {
		if err := printFrontier(cmd, f, summary, format); err != nil {
			return err
		}
	}
	if err != nil {
		return exitError{exitInterrupted, fmt.Errorf("interrupted with %d of the points measured and saved; run the same command to go on", summary.Points)}
	}
	if summary.Failed > 0 {
		return exitError{exitIncomplete, fmt.Errorf("%d of %d points failed; see status and error in %s", summary.Failed, summary.Points, filepath.Join(summary.Out, "results.parquet"))}
	}
	return nil
}

// cellCommand starts this executable as a cell.
func cellCommand(self string) func() *exec.Cmd {
	return func() *exec.Cmd { return exec.Command(pinned(self)) }
}

// pinned is a path to this executable that stays the same file when the one on disk is replaced during the sweep.
func pinned(self string) string {
	if runtime.GOOS == "linux" {
		return fmt.Sprintf("/proc/%d/exe", os.Getpid())
	}
	return self
}

func printFrontier(cmd *cobra.Command, f *file.File, s sweep.Summary, format string) error {
	rows, err := results.ReadRows(context.WithoutCancel(cmd.Context()), s.Out) // also after an interruption
	if err != nil {
		return err
	}
	var best []results.Row
	for _, row := range rows {
		if on, _ := row["on_frontier"].(bool); on {
			best = append(best, row)
		}
	}
	objectives := make([]results.Objective, len(f.Objectives))
	for i, o := range f.Objectives {
		objectives[i] = results.Objective{Column: o.Column, Direction: results.Lower}
		if o.Max {
			objectives[i].Direction = results.Higher
		}
	}
	tellFailures(rows)
	if err := results.WriteTable(cmd.OutOrStdout(), bestFirst(best, objectives), frontierColumns(best, objectives), format); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "\n%d of %d points are on the frontier (%d measured now, %d measured before; %d artifacts prepared, %d from the cache).\n",
		len(best), s.Points, s.Measured, s.Reused, s.Prepared, s.Cached)
	fmt.Fprintf(os.Stderr, "Report: %s\nTable:  %s\n", filepath.Join(s.Out, "report.html"), filepath.Join(s.Out, "results.parquet"))
	return nil
}

// maxTold bounds how many different failures are told on the terminal; all are in the results.
const maxTold = 5

func tellFailures(rows []results.Row) {
	told := map[string]bool{}
	for _, row := range rows {
		text, _ := row["error"].(string)
		if row["status"] == "ok" || told[text] {
			continue
		}
		if len(told) == maxTold {
			fmt.Fprintln(os.Stderr, "... and other failures; see the column error")
			return
		}
		told[text] = true
		fmt.Fprintf(os.Stderr, "%v %v: %s\n", row["engine"], row["status"], text)
	}
}
