package main

import (
	"errors"

	"frontier/results"
	"frontier/results/compare"
	"frontier/results/gate"

	"github.com/spf13/cobra"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	request           compare.Request
	match             []string
	where, format, ab string
	policy, history   string
	cases             int
	card              bool
}

func newCompare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BASE NEW",
		Short: "Print how far each metric moved from one run to another, and which questions changed",
		Long: "Pairs the points of BASE and NEW, and their questions, and prints each metric's change with its interval. Findings\n" +
			"hold after Holm's correction over everything printed. BASE and NEW are what results are, or a recorded baseline.\n" +
			"--history looks at many runs in order of time instead, and finds where a metric changed.",
		Example: "  frontier compare out/before out/after --slice scenario\n" +
			"  frontier compare out/before out/after --card --policy gate.yaml > card.md\n" +
			"  frontier compare --history 'runs/*' --metric recall_at_10",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case f.history != "" && len(args) > 0:
				return usage(errors.New("--history takes its runs itself: give a glob in quotes, such as --history 'runs/*'"))
			case f.history == "" && len(args) != 2:
				return usage(errors.New("give BASE and NEW, as in `frontier compare out/before out/after`"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return usage(err)
			}
			if f.history != "" {
				return f.overTime(cmd)
			}
			return f.compare(cmd, args[0], args[1])
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.request.Metrics, "metric", nil, "columns to compare (default: quality at the largest k, latency, rate and size)")
	flags.StringArrayVar(&f.request.Slices, "slice", nil, "also only the questions with field=value, or with a field alone those of each of its values; may be repeated")
	flags.StringSliceVar(&f.match, "match", nil, "columns that make points the same (default: all parameters)")
	flags.StringVar(&f.where, "where", "", "only points for which this holds, such as \"engine == 'hnswlib'\"")
	flags.Float64Var(&f.request.Confidence, "confidence", 0.95, "of intervals and findings")
	flags.StringVar(&f.ab, "ab", "", "what frontier ab --format json wrote: it is taken for times, rates and memory")
	flags.IntVar(&f.cases, "cases", 10, "questions to list for each point; 0 lists none")
	flags.BoolVar(&f.card, "card", false, "print an experiment card in Markdown")
	flags.StringVar(&f.policy, "policy", "", "with --card: the policy of a gate, which makes the decision")
	flags.StringVar(&f.history, "history", "", "a glob of results: look for changes over these runs in place of comparing two")
	addFormat(cmd, &f.format)
	return cmd
}

// check refuses flags that do not go together.
func (f *compareFlags) check() error {
	if f.policy != "" && !f.card {
		return errors.New("--policy goes with --card; `frontier gate` judges")
	}
	if f.card && f.history != "" {
		return errors.New("a card is about two runs; leave out --history")
	}
	for _, name := range f.request.Metrics {
		if _, err := compare.LookupMetric(name); err != nil {
			return err
		}
	}
	return results.CheckColumns(f.match)
}

func (f *compareFlags) compare(cmd *cobra.Command, base, next string) error {
	c, err := f.find(cmd, base, next)
	if err != nil {
		return usage(err)
	}
	if !f.card {
		if f.format != "json" { // which has them
			for _, r := range c.Residue {
				tell(cmd, []string{string(r.Kind) + " differs: " + r.String()})
			}
			onlyBase, onlyNew := c.Only()
			for _, side := range []struct {
				name   string
				points []string
			}{{"BASE", onlyBase}, {"NEW", onlyNew}} {
				if len(side.points) > 0 {
					tell(cmd, []string{"only in " + side.name + ": " + compare.Abridged(side.points, 5)})
				}
			}
			tell(cmd, c.Warnings)
		}
		return c.Write(cmd.OutOrStdout(), f.format, f.cases)
	}
	decision := ""
	if f.policy != "" {
		if decision, err = f.decision(cmd, c); err != nil {
			return usage(err)
		}
	}
	return c.WriteCard(cmd.OutOrStdout(), decision, f.cases)
}

// find reads both sides and compares them.
func (f *compareFlags) find(cmd *cobra.Command, base, next string) (*compare.Comparison, error) {
	metrics := f.request.Metrics
	if f.policy != "" {
		metrics = nil // its rules may be about others
	}
	var sides [2]*compare.Side
	var err error
	for i, path := range []string{base, next} {
		if sides[i], err = compare.Read(cmd.Context(), path, metrics); err != nil {
			return nil, err
		}
		if f.where != "" {
			holds, err := results.Where(f.where)
			if err != nil {
				return nil, err
			}
			if err := sides[i].Where(holds); err != nil {
				return nil, err
			}
		}
	}
	matching, err := f.matched(cmd, sides[0], sides[1], f.match)
	if err != nil {
		return nil, err
	}
	return compare.Compare(matching, f.request)
}

// matched pairs the points, and takes in what ab measured.
func (f *compareFlags) matched(cmd *cobra.Command, base, next *compare.Side, columns []string) (*compare.Matching, error) {
	matching, err := compare.Match(base, next, columns)
	if err != nil || f.ab == "" {
		return matching, err
	}
	measured, err := compare.ReadAB(f.ab)
	if err != nil {
		return nil, err
	}
	tell(cmd, matching.AttachAB(measured))
	return matching, nil
}

// decision is the verdict of a gate in Markdown.
func (f *compareFlags) decision(cmd *cobra.Command, c *compare.Comparison) (string, error) {
	policy, err := gate.Read(f.policy)
	if err != nil {
		return "", err
	}
	matching, err := f.matched(cmd, c.Matching.Base, c.Matching.New, policy.Match)
	if err != nil {
		return "", err
	}
	result, err := gate.Judge(policy, matching)
	if err != nil {
		return "", err
	}
	return result.Decision(), nil
}

func (f *compareFlags) overTime(cmd *cobra.Command) error {
	rows, err := results.ReadRows(cmd.Context(), f.history)
	if err != nil {
		return usage(err)
	}
	if f.where != "" {
		holds, err := results.Where(f.where)
		if err != nil {
			return usage(err)
		}
		if rows, err = meeting(rows, holds); err != nil {
			return usage(err)
		}
	}
	series, err := compare.History(rows, compare.HistoryOptions{Metrics: f.request.Metrics, Match: f.match})
	if err != nil {
		return usage(err)
	}
	return compare.WriteHistory(cmd.OutOrStdout(), series, f.format)
}
