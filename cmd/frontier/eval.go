package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"frontier/bench/ranking"
	"frontier/bench/ranking/trec"
	"frontier/datasets"

	"github.com/spf13/cobra"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	qrels, qrelsFormat, run, format    string
	metrics                            []string
	relevanceMin                       int
	perQuery, complete, runQueriesOnly bool
}

// evalDefaults are the measures of every format but trec, which has trec_eval's.
var evalDefaults = []string{
	"num_q", "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "bpref", "recip_rank",
	"P_10", "recall_10", "recall_100", "ndcg_cut_10", "ndcg", "success_10", "judged_10",
}

func newEval() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval --qrels QRELS --run RUN",
		Short: "Print the ranking metrics of a TREC run, as trec_eval defines them",
		Long: "Measures a TREC run (query Q0 document rank score tag) against judgements. Ties are broken as trec_eval does: by\n" +
			"score, then by document id, both descending; the rank column is not read. Judged queries that the run lacks score\n" +
			"zero, as with trec_eval -c, unless --run-queries-only is given.\n\nMeasures:\n  " + strings.Join(ranking.MeasureHelp(), "\n  "),
		Example: "  frontier eval --qrels qrels.txt --run run.txt --metrics map,ndcg_cut_10,recall_100",
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.NoArgs(cmd, args); err != nil {
				return usage(hint(err, "name the files with --qrels and --run"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return f.evaluate(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.qrels, "qrels", "", "judgements: a TREC file, or BEIR's tab-separated one")
	flags.StringVar(&f.qrelsFormat, "qrels-format", "auto", "how judgements are written: "+strings.Join(datasets.QrelsFormatNames(), ", "))
	flags.StringVar(&f.run, "run", "", "the run, or - for standard input")
	flags.StringSliceVarP(&f.metrics, "metrics", "m", nil, "measures to print (default: a selection; with --format trec what trec_eval prints, which is also called official)")
	flags.IntVarP(&f.relevanceMin, "relevance-min", "l", 1, "smallest grade that counts as relevant; nDCG takes the grades as they are")
	flags.BoolVarP(&f.perQuery, "per-query", "q", false, "also print each query")
	flags.BoolVarP(&f.complete, "complete", "c", true, "count judged queries that the run lacks as zero")
	flags.BoolVar(&f.runQueriesOnly, "run-queries-only", false, "leave judged queries that the run lacks out, as trec_eval does without -c")
	flags.StringVar(&f.format, "format", "table", "how measures are printed: "+strings.Join(trec.Formats(), ", "))
	return cmd
}

func (f *evalFlags) evaluate(cmd *cobra.Command) error {
	options, err := f.options(cmd)
	if err != nil {
		return usage(err)
	}
	qrels, err := f.readQrels()
	if err != nil {
		return err
	}
	run, name := cmd.InOrStdin(), "standard input"
	if f.run != "-" {
		file, err := os.Open(f.run)
		if err != nil {
			return usage(fmt.Errorf("--run: %w", err))
		}
		defer file.Close()
		run, name = file, f.run
	}
	report, err := trec.Evaluate(cmd.Context(), qrels, name, run, options)
	if err != nil {
		return err
	}
	for _, w := range report.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+w)
	}
	return report.Write(cmd.OutOrStdout(), f.format, f.perQuery)
}

// options checks all flags before anything is read.
func (f *evalFlags) options(cmd *cobra.Command) (trec.Options, error) {
	o := trec.Options{RelevanceMin: f.relevanceMin, RunQueriesOnly: f.runQueriesOnly || !f.complete, Workers: runtime.GOMAXPROCS(0)}
	switch {
	case f.qrels == "" || f.run == "":
		return o, fmt.Errorf("both --qrels and --run are needed, as in `%s`", cmd.Example[2:])
	case f.qrels == "-":
		return o, fmt.Errorf("--qrels: judgements must be a file; only --run can be -, standard input")
	case f.relevanceMin < 1:
		return o, fmt.Errorf("--relevance-min is %d, but 0 means judged and not relevant; use 1 or more", f.relevanceMin)
	case f.runQueriesOnly && f.complete && cmd.Flags().Changed("complete"):
		return o, fmt.Errorf("--complete and --run-queries-only are opposites; give one of them")
	case !slices.Contains(trec.Formats(), f.format):
		return o, fmt.Errorf("--format: unknown format %q; the formats are %s", f.format, strings.Join(trec.Formats(), ", "))
	}
	names := f.metrics
	if !cmd.Flags().Changed("metrics") {
		names = evalDefaults
		if f.format == "trec" {
			names = []string{"official"}
		}
	}
	var err error
	if o.Measures, err = ranking.ParseMeasures(names); err != nil {
		return o, fmt.Errorf("--metrics: %w", err)
	}
	if f.format == "trec" {
		ranking.SortAsTrecEval(o.Measures)
	}
	return o, nil
}

func (f *evalFlags) readQrels() (*datasets.Qrels, error) {
	format, err := datasets.ParseQrelsFormat(f.qrelsFormat)
	if err != nil {
		return nil, usage(fmt.Errorf("--qrels-format: %w", err))
	}
	file, err := os.Open(f.qrels)
	if err != nil {
		return nil, usage(fmt.Errorf("--qrels: %w", err))
	}
	defer file.Close()
	return datasets.ReadQrels(f.qrels, file, format)
}
