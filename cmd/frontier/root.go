package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"frontier/internal/param"

	"github.com/spf13/cobra"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "frontier",
		Short: "Sweep retrieval configurations and keep the ones worth deploying",
		Long: "frontier runs a grid of chunkers, embedders, indexes and search parameters, measures recall against exact\n" +
			"search, retrieval quality, latency, memory and cost, and keeps the Pareto frontier.",
		Example:       "  frontier sweep examples/quickstart.yaml --out out/quickstart\n  frontier pareto out/quickstart",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			err := fmt.Errorf("there is no command %q", args[0])
			if near := param.Nearest(args[0], names); near != "" {
				return usage(hint(err, "did you mean `frontier "+near+"`?"))
			}
			return usage(hint(err, "see `frontier --help`"))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(hint(err, "see `"+cmd.CommandPath()+" --help`"))
	})
	root.AddCommand(
		newSweep(), newPlan(), newValidate(), newPareto(), newReport(), newShow(), newAB(), newConfirm(), newGate(), newCompare(), newScore(), newTruth(), newEval(), newGolden(),
		newChunk(), newCache(), newDoctor(),
		newEngines(), newChunkers(), newEmbedders(), newSchema(), newVersion(),
	)
	return root
}

// hint adds what to do to an error.
func hint(err error, what string) error { return hinted{err, what} }

type hinted struct {
	error
	hint string
}

func (h hinted) Error() string { return h.error.Error() + "; " + h.hint }
func (h hinted) Unwrap() error { return h.error }

// exactly is cobra.ExactArgs as an error of usage.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(n)(cmd, args); err != nil {
			example, _, _ := strings.Cut(cmd.Example, "\n")
			return usage(hint(err, "give "+what+", as in `"+example[2:]+"`"))
		}
		return nil
	}
}

// atLeastOne is cobra.MinimumNArgs(1) as an error of usage.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage(hint(cobra.MinimumNArgs(1)(cmd, args), "give "+what))
		}
		return nil
	}
}

// defaultCache is where prepared artifacts live if no flag says otherwise.
func defaultCache() string {
	if dir := os.Getenv("FRONTIER_CACHE"); dir != "" {
		return dir
	}
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return filepath.Join(base, "frontier")
}
