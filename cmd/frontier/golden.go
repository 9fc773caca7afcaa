package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"frontier/bench/spans"
	"frontier/chunkers"
	"frontier/datasets"
	"frontier/datasets/goldencheck"
	"frontier/sweep"
	"frontier/sweep/file"

	"github.com/spf13/cobra"
)

func newGolden() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "golden",
		Short:   "Work on golden sets: questions whose answers are known",
		Example: "  frontier golden check examples/quickstart/golden.jsonl",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(hint(fmt.Errorf("there is no command %q", "golden "+args[0]), "see `frontier golden --help`"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGoldenCheck())
	return cmd
}

// goldenFlags are the flags of golden check.
type goldenFlags struct {
	qrels, corpus, sweep, evidence, format string
	relevanceMin                           int
}

func newGoldenCheck() *cobra.Command {
	var f goldenFlags
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Say what a golden set can show, and what is wrong with it",
		Long: "Reports, for a golden set or a file of queries with its judgements, how many cases each slice has and how wide the\n" +
			"intervals over it are, and finds faults: cases that cannot be read, evidence that the corpus does not have, the same\n" +
			"question with different gold, splits that share a document. Near-duplicates and the like are warnings. With --sweep\n" +
			"it also cuts the documents that hold evidence as the sweep will, and tells which evidence no chunk can hold.\n\n" +
			"The exit code is 0 if the set is usable, 1 if there are faults, 2 if it cannot be read at all.",
		Example: "  frontier golden check examples/quickstart/golden.jsonl --corpus godoc:std",
		Args:    exactly(1, "one golden set"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.check(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.qrels, "qrels", "", "judgements, where FILE holds questions only (default: those of --sweep, if FILE is its queries)")
	flags.StringVar(&f.corpus, "corpus", "", "look for the evidence in this corpus (default: that of --sweep)")
	flags.StringVar(&f.sweep, "sweep", "", "cut as this sweep file says, and judge by its rules")
	flags.StringVar(&f.evidence, "evidence", "", "when a chunk holds evidence: overlap or contain (default: as in --sweep)")
	flags.IntVar(&f.relevanceMin, "relevance-min", 1, "smallest grade that counts as relevant (default with --sweep: as there)")
	flags.StringVar(&f.format, "format", "table", strings.Join(goldencheck.Formats(), ", "))
	return cmd
}

func (f *goldenFlags) check(cmd *cobra.Command, path string) error {
	if !slices.Contains(goldencheck.Formats(), f.format) {
		return usage(fmt.Errorf("--format: unknown format %q; the formats are %s", f.format, strings.Join(goldencheck.Formats(), ", ")))
	}
	if f.relevanceMin < 1 {
		return usage(fmt.Errorf("--relevance-min is %d, but 0 means judged and not relevant; use 1 or more", f.relevanceMin))
	}
	options, err := f.options(cmd, path)
	if err != nil {
		return err
	}
	report, err := goldencheck.Check(cmd.Context(), path, f.qrels, options)
	if err != nil {
		return err
	}
	if err := report.Write(cmd.OutOrStdout(), f.format); err != nil {
		return err
	}
	if !report.Usable {
		return exitError{exitFailed, nil}
	}
	return nil
}

// options are what to check against; what --sweep says holds where no flag says otherwise.
func (f *goldenFlags) options(cmd *cobra.Command, path string) (goldencheck.Options, error) {
	o := goldencheck.Options{RelevanceMin: f.relevanceMin}
	corpus, rule := f.corpus, f.evidence
	if f.sweep != "" {
		s, err := file.Read(f.sweep, registry(), nil)
		if err != nil {
			if !isBadInput(err) {
				return o, usage(err)
			}
			return o, err
		}
		if s.Dataset == nil {
			return o, usage(fmt.Errorf("--sweep: %s sweeps over vectors, and has no chunkers", f.sweep))
		}
		if !cmd.Flags().Changed("relevance-min") {
			o.RelevanceMin = s.Measure.RelevanceMin
		}
		if rule == "" {
			rule = s.Measure.Evidence
		}
		if corpus == "" {
			corpus = s.Dataset.Corpus
			if !strings.HasPrefix(corpus, "godoc:") {
				corpus = s.Rel(corpus)
			}
		}
		if f.qrels == "" && s.Dataset.Qrels != "" && sameFile(path, s.Rel(s.Dataset.Queries)) {
			f.qrels = s.Rel(s.Dataset.Qrels)
		}
		chunkings, err := sweep.Chunkings(s, chunkers.Kinds())
		if err != nil {
			return o, err
		}
		for _, c := range chunkings {
			o.Chunkings = append(o.Chunkings, goldencheck.Chunking(c))
		}
	}
	if rule != "" {
		var err error
		if o.Rule, err = spans.ParseRule(rule); err != nil {
			return o, usage(fmt.Errorf("--evidence: %w", err))
		}
	}
	if corpus != "" {
		var err error
		if o.Corpus, err = datasets.OpenCorpus(corpus); err != nil {
			return o, err
		}
	}
	return o, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
