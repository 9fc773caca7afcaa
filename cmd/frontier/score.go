package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontier/bench/spans"
	"frontier/sweep"

	"github.com/spf13/cobra"
)

func newScore() *cobra.Command {
	var o sweep.TraceOptions
	cmd := &cobra.Command{
		Use:   "score TRACES --golden FILE -o DIR",
		Short: "Score the answers of another system into a results folder",
		Long: "Reads JSON Lines, one object a case and configuration: case_id, retrieved (a list of document_id or chunk_id, with\n" +
			"start, end, rank and score where they are known), and if known config_id, index_version, latency_ms and error. Writes\n" +
			"a results folder with a row for each configuration, which report, pareto, compare and gate take like any other. A case\n" +
			"without an answer scores zero and is counted.",
		Example: "  frontier score traces.jsonl --golden golden.jsonl --corpus corpus.jsonl -o out/production",
		Args:    exactly(1, "one file of traces"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Traces = args[0]
			return score(cmd, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Golden, "golden", "", "the golden set, or the queries of --qrels")
	flags.StringVar(&o.Qrels, "qrels", "", "judgements, where --golden holds questions only")
	flags.StringVar(&o.Corpus, "corpus", "", "the corpus; needed where evidence is a section or a literal text, and for the lengths of whole documents")
	flags.StringVarP(&o.Out, "out", "o", "", "the results folder to write")
	flags.StringVar(&o.Name, "name", "", "name of the run, in every row")
	flags.IntSliceVar(&o.Measure.K, "k", []int{1, 5, 10}, "cut-offs of the metrics")
	flags.StringVar(&o.Measure.Unit, "unit", "document", "what k counts: document or chunk")
	flags.StringVar(&o.Measure.Evidence, "evidence", "overlap", "when a chunk holds evidence: overlap or contain")
	flags.IntVar(&o.Measure.RelevanceMin, "relevance-min", 1, "smallest grade that counts as relevant")
	flags.Float64Var(&o.Measure.WithheldMax, "withheld-max", 0.05, "share of the answerable questions that the threshold of abstain_threshold may withhold")
	flags.Uint64Var(&o.Seed, "seed", 42, "seed of the intervals")
	return cmd
}

func score(cmd *cobra.Command, o sweep.TraceOptions) error {
	slices.Sort(o.Measure.K)
	switch {
	case o.Golden == "":
		return usage(errors.New("say with --golden what the answers are scored against"))
	case o.Out == "":
		return usage(errors.New("name the results folder to write with -o"))
	case !slices.Contains([]string{"document", "chunk"}, o.Measure.Unit):
		return usage(fmt.Errorf("--unit is %q; use document or chunk", o.Measure.Unit))
	case o.Measure.RelevanceMin < 1:
		return usage(fmt.Errorf("--relevance-min is %d, but 0 means judged and not relevant; use 1 or more", o.Measure.RelevanceMin))
	case !(o.Measure.WithheldMax >= 0 && o.Measure.WithheldMax < 1):
		return usage(fmt.Errorf("--withheld-max is %g; it is a share from 0 to below 1", o.Measure.WithheldMax))
	case len(o.Measure.K) == 0 || o.Measure.K[0] < 1 || len(slices.Compact(slices.Clone(o.Measure.K))) != len(o.Measure.K):
		return usage(fmt.Errorf("--k is %s; give each cut-off once, 1 or more", strings.Trim(fmt.Sprint(o.Measure.K), "[]")))
	}
	if _, err := spans.ParseRule(o.Measure.Evidence); err != nil {
		return usage(fmt.Errorf("--evidence: %w", err))
	}
	o.Version = version()
	sum, err := sweep.ScoreTraces(cmd.Context(), o)
	if err != nil {
		return err
	}
	for _, w := range sum.Warnings {
		cmd.PrintErrln("warning: " + w)
	}
	if sum.Missing > 0 {
		cmd.PrintErrf("warning: %d answers are missing and score zero\n", sum.Missing)
	}
	cmd.PrintErrf("%d configurations scored.\nReport: %s/report.html\nTable:  %s/results.parquet\n", sum.Configs, o.Out, o.Out)
	return nil
}
