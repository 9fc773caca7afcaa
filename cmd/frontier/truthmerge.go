package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"frontier/bench/truth"
	"frontier/results/truthfile"

	"github.com/spf13/cobra"
)

func newTruthMerge() *cobra.Command {
	var out, distances string
	cmd := &cobra.Command{
		Use:   "merge SHARD... -o OUT",
		Short: "Make one result of the shards that several machines have searched",
		Long: "Merges the files that `frontier truth --shard i/n` wrote. The result is that of one search through the whole base. All\n" +
			"n shards are needed, each once, of the same base, queries, metric and k.",
		Example: "  frontier truth merge gt-1.shard gt-2.shard -o gt.parquet",
		Args:    atLeastOne("the shards, as in `frontier truth merge gt-1.shard gt-2.shard -o gt.parquet`"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usage(fmt.Errorf("-o is needed, as in `%s`", cmd.Example[2:]))
			}
			m, err := truth.Merge(args)
			if err != nil {
				if errors.Is(err, os.ErrNotExist) {
					return usage(err)
				}
				return err
			}
			f := truthFlags{out: out, distances: distances}
			if err := f.checkOutputs(m.Queries(), m.Header.To); err != nil {
				return usage(err)
			}
			tellTruth(cmd, &m.Header)
			err = writeTruth(cmd.Context(), m, &m.Header, out, distances)
			if errors.Is(err, context.Canceled) {
				return interruptedTruth(err)
			}
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "file of the neighbours: "+strings.Join(truthfile.Extensions(), " "))
	cmd.Flags().StringVar(&distances, "distances", "", "also write the distances to this file: "+strings.Join(truthfile.DistanceExtensions(), " "))
	return cmd
}
