package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"frontier/bench/stats"
	"frontier/internal/param"
	"frontier/results/ab"
	"frontier/sweep"

	"github.com/spf13/cobra"
)

// abFlags are the flags of ab.
type abFlags struct {
	opt         sweep.ABOptions
	binaries    []string
	sets        []string
	format, out string
	failOn      string
}

// The values of --fail-on.
var failOn = []string{"worse", "inconclusive", "never"}

func newAB() *cobra.Command {
	var f abFlags
	cmd := &cobra.Command{
		Use:   "ab BASE.yaml NEW.yaml, or ab --bin OLD --bin NEW FILE.yaml",
		Short: "Compare two sweep files, or two builds of frontier, in interleaved pairs on this machine",
		Long: "Loads the indexes of both variants at the same time and sends blocks of the same queries to one and the other in\n" +
			"pairs, in random order. For each metric of each point it decides: better, same, worse, or inconclusive. Points are\n" +
			"paired by the columns in which one file has no value that the other lacks; the rest is what was changed.\n\n" +
			"Exit code 3 if anything got worse (see --fail-on), 4 if points could not be compared.",
		Example: "  frontier ab base.yaml new.yaml\n  frontier ab --bin ./frontier-main --bin bin/frontier examples/vectors.yaml --format json -o ab.json",
		Args: func(cmd *cobra.Command, args []string) error {
			want, what := 2, "two sweep files, BASE and NEW"
			if len(f.binaries) > 0 {
				want, what = 1, "one sweep file, which both binaries measure"
			}
			return exactly(want, what)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.binaries, "bin", nil, "an executable of frontier; give it twice, base first. They build, load and search; chunks and vectors are made by this one")
	flags.IntVar(&f.opt.Pairs, "pairs", 0, "pairs of blocks for each point (default: 30, or twice what the decisions need if that is more)")
	flags.DurationVar(&f.opt.Block, "block", 100*time.Millisecond, "what a block of queries is to take")
	flags.Float64Var(&f.opt.Confidence, "confidence", 0.99, "of all decisions together: at most the rest of runs of equals call anything better or worse")
	flags.Float64Var(&f.opt.Margin, "margin", 0.03, "smallest relative change of a latency, a rate or a size that matters")
	flags.Float64Var(&f.opt.QualityMargin, "quality-margin", 0.01, "smallest change of a recall or an nDCG that matters")
	flags.StringSliceVar(&f.opt.Match, "match", nil, "columns by which points are paired (default: those in which one file has no value that the other lacks)")
	flags.StringVar(&f.opt.Cache, "cache", defaultCache(), "folder of prepared artifacts, shared by all sweeps")
	flags.IntVar(&f.opt.Jobs, "jobs", runtime.GOMAXPROCS(0), "how much is prepared at the same time")
	flags.StringArrayVar(&f.sets, "set", nil, "override a value of both files: a.b=v")
	flags.StringVarP(&f.out, "out", "o", "", "also write the result as JSON to this file")
	flags.StringVar(&f.failOn, "fail-on", "worse", "what makes the exit code 3: worse, inconclusive (which includes worse) or never")
	addFormat(cmd, &f.format)
	return cmd
}

func (f *abFlags) run(cmd *cobra.Command, args []string) error {
	if !slices.Contains(failOn, f.failOn) {
		text := fmt.Sprintf("--fail-on: %q is not one of worse, inconclusive and never", f.failOn)
		if near := param.Nearest(f.failOn, failOn); near != "" {
			return usage(hint(errors.New(text), fmt.Sprintf("did you mean %q?", near)))
		}
		return usage(errors.New(text))
	}
	if f.opt.Jobs < 1 {
		return usage(fmt.Errorf("--jobs: at least one job is needed, not %d", f.opt.Jobs))
	}
	if err := f.checkOut(); err != nil {
		return usage(err)
	}
	base, next, err := f.sides(args)
	if err != nil {
		return err
	}
	f.opt.Base, f.opt.New, f.opt.Registry = base, next, registry()
	bar := newProgress(os.Stderr)
	f.opt.Progress = bar.event
	result, err := sweep.AB(cmd.Context(), f.opt)
	bar.close()
	if errors.Is(err, context.Canceled) {
		return exitError{exitInterrupted, errors.New("interrupted; nothing is kept of a comparison that is half done, except what was prepared")}
	}
	if err != nil {
		return err
	}
	err = result.Write(cmd.OutOrStdout(), f.format)
	if f.out != "" {
		err = errors.Join(err, writeResult(f.out, result))
	}
	if err != nil {
		return err
	}
	return f.verdict(result)
}

// checkOut refuses, before anything is measured, a file that could not be written afterwards.
func (f *abFlags) checkOut() error {
	if f.out == "" {
		return nil
	}
	if info, err := os.Stat(f.out); err == nil && info.IsDir() {
		return fmt.Errorf("--out: %s is a folder; name a file", f.out)
	}
	if info, err := os.Stat(filepath.Dir(f.out)); err != nil || !info.IsDir() {
		return fmt.Errorf("--out: there is no folder %s; make it first", filepath.Dir(f.out))
	}
	return nil
}

// sides reads the two variants.
func (f *abFlags) sides(args []string) (base, next sweep.ABSide, err error) {
	self, err := os.Executable()
	if err != nil {
		return base, next, err
	}
	command := cellCommand(self)
	if len(f.binaries) > 0 {
		if len(f.binaries) != 2 {
			return base, next, usage(fmt.Errorf("--bin: two executables are compared, base and new, not %d", len(f.binaries)))
		}
		for i, side := range []*sweep.ABSide{&base, &next} {
			if side.File, err = readFile(args[0], f.sets); err != nil {
				return base, next, err
			}
			if err := binarySide(side, f.binaries[i]); err != nil {
				return base, next, usage(fmt.Errorf("--bin: %w", err))
			}
		}
		return base, next, nil
	}
	for i, side := range []*sweep.ABSide{&base, &next} {
		if side.File, err = readFile(args[i], f.sets); err != nil {
			return base, next, err
		}
		side.Command = command
	}
	return base, next, nil
}

// binarySide makes path the executable of a side.
func binarySide(side *sweep.ABSide, path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is no executable", path)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	side.Binary, side.Digest = path, hex.EncodeToString(sum.Sum(nil))[:16]
	side.Command = func() *exec.Cmd { return exec.Command(path) }
	return nil
}

func writeResult(path string, result *ab.Result) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return result.WriteJSON(out)
}

// verdict is the exit code that the decisions come to.
func (f *abFlags) verdict(result *ab.Result) error {
	n := result.Count()
	bad := n[stats.Worse]
	what := "got worse"
	if f.failOn == "inconclusive" {
		bad, what = bad+n[stats.Inconclusive], "got worse or are inconclusive"
	}
	switch {
	case f.failOn != "never" && bad > 0:
		if bad == 1 {
			return exitError{exitGate, errors.New("1 metric " + what)}
		}
		return exitError{exitGate, fmt.Errorf("%d metrics %s", bad, what)}
	case result.Failed() > 0:
		return exitError{exitIncomplete, fmt.Errorf("%d of %d points could not be compared", result.Failed(), len(result.Points))}
	}
	return nil
}
