package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newValidate() *cobra.Command {
	var sets []string
	cmd := &cobra.Command{
		Use:     "validate FILE",
		Short:   "Check a sweep file",
		Example: "  frontier validate examples/quickstart.yaml",
		Args:    exactly(1, "one sweep file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := readFile(args[0], sets); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: good; what depends on the data is checked once the data is read\n", args[0])
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&sets, "set", nil, "override a value of the file: a.b=v")
	return cmd
}
