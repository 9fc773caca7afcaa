package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"frontier/results/ab"
	"frontier/results/compare"
	"frontier/results/gate"

	"github.com/spf13/cobra"
)

// gateFlags are the flags of gate.
type gateFlags struct {
	policy, format, ab, output string
	also                       []string
	record                     bool
}

func newGate() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate BASE NEW --policy POLICY, or gate --ab AB.json --policy POLICY",
		Short: "Pass or fail a run against another, for CI",
		Long: "Holds NEW against BASE by a policy and ends with exit code 0 if it passed, 3 if it failed. BASE and NEW are what\n" +
			"results are: a folder, a Parquet file, a glob; or a baseline that --record wrote. --ab takes what frontier ab measured,\n" +
			"beside BASE and NEW or alone. Decisions are made on intervals against the practical margins of the policy.",
		Example: "  frontier gate baseline.json out/quickstart --policy gate.yaml --write markdown=gate.md\n" +
			"  frontier gate --record out/quickstart --policy gate.yaml -o baseline.json",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case f.record && len(args) != 1:
				return usage(errors.New("give one results folder to record, as in `frontier gate --record out/quickstart --policy gate.yaml -o baseline.json`"))
			case !f.record && len(args) != 2 && (f.ab == "" || len(args) > 0):
				return usage(errors.New("give BASE and NEW, as in `frontier gate baseline.json out/quickstart --policy gate.yaml`"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.policy == "" {
				return usage(errors.New("say with --policy what is allowed; `frontier schema gate` prints the form of the file"))
			}
			if f.record {
				return f.recordBaseline(cmd, args[0])
			}
			return f.judge(cmd, args)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.policy, "policy", "", "the policy: a YAML file with the rules")
	flags.StringVar(&f.format, "format", "text", "how the result is printed: "+strings.Join(gate.Formats(), ", "))
	flags.StringArrayVar(&f.also, "write", nil, "format=FILE: also write the result to a file, such as junit=gate.xml; may be repeated")
	flags.StringVar(&f.ab, "ab", "", "what frontier ab --format json wrote: it decides on times, rates and memory, and alone on all that it has")
	flags.BoolVar(&f.record, "record", false, "write what the policy needs of a run to a small baseline file, in place of judging")
	flags.StringVarP(&f.output, "output", "o", "", "with --record: the file to write, ending in .json or .json.gz")
	return cmd
}

func (f *gateFlags) judge(cmd *cobra.Command, paths []string) error {
	files, err := f.files()
	if err != nil {
		return usage(err)
	}
	policy, err := gate.Read(f.policy)
	if err != nil {
		return usage(err)
	}
	matching, err := f.match(cmd, policy, paths)
	if err != nil {
		return usage(err)
	}
	result, err := gate.Judge(policy, matching)
	if err != nil {
		return usage(err)
	}
	for _, file := range files {
		if err := writeTo(file.path, func(w io.Writer) error { return result.Write(w, file.format, false) }); err != nil {
			return err
		}
	}
	if err := result.Write(cmd.OutOrStdout(), f.format, onTerminal(os.Stdout)); err != nil {
		return err
	}
	if result.Verdict == gate.Fail {
		return exitError{exitGate, nil}
	}
	return nil
}

// match reads what is to be judged.
func (f *gateFlags) match(cmd *cobra.Command, policy *gate.Policy, paths []string) (*compare.Matching, error) {
	var measured *ab.Result
	var err error
	if f.ab != "" {
		if measured, err = compare.ReadAB(f.ab); err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return compare.MatchAB(f.ab, measured), nil
		}
	}
	var sides [2]*compare.Side
	for i, path := range paths {
		if sides[i], err = compare.Read(cmd.Context(), path, policy.MetricNames()); err != nil {
			return nil, err
		}
	}
	matching, err := compare.Match(sides[0], sides[1], policy.Match)
	if err == nil && measured != nil {
		tell(cmd, matching.AttachAB(measured))
	}
	return matching, err
}

type formatFile struct{ format, path string }

// files checks --format and --write before anything is read.
func (f *gateFlags) files() ([]formatFile, error) {
	if f.output != "" {
		return nil, errors.New("-o goes with --record; write the result to a file with --write format=FILE")
	}
	if err := gate.CheckFormat(f.format); err != nil {
		return nil, err
	}
	var files []formatFile
	for _, text := range f.also {
		format, path, ok := strings.Cut(text, "=")
		if !ok || path == "" {
			return nil, fmt.Errorf("--write %s: write format=FILE, such as junit=gate.xml", text)
		}
		if err := gate.CheckFormat(format); err != nil {
			return nil, fmt.Errorf("--write: %w", err)
		}
		files = append(files, formatFile{format, path})
	}
	return files, nil
}

func (f *gateFlags) recordBaseline(cmd *cobra.Command, path string) error {
	if f.output == "" || !compare.IsBaseline(f.output) {
		return usage(errors.New("say with -o where to write the baseline, a file that ends in .json or .json.gz"))
	}
	policy, err := gate.Read(f.policy)
	if err != nil {
		return usage(err)
	}
	side, err := compare.Read(cmd.Context(), path, policy.MetricNames())
	if err != nil {
		return usage(err)
	}
	warnings, err := gate.Record(f.output, policy, side)
	if err != nil {
		return err
	}
	tell(cmd, warnings)
	info, err := os.Stat(f.output)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d points, %d questions, %d bytes\n", f.output, len(side.Points), len(side.Cases), info.Size())
	return nil
}

// onTerminal says whether colours are wanted.
func onTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
