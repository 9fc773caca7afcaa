package main

import (
	"encoding/json"
	"fmt"

	"frontier/results"
	"frontier/sweep/file"

	"github.com/spf13/cobra"
)

func newSchema() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:       "schema sweep|results",
		Short:     "Print the JSON Schema of the sweep file, or the columns of the results",
		Example:   "  frontier schema results",
		Args:      exactly(1, "sweep or results"),
		ValidArgs: []string{"sweep", "results"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "sweep":
				raw, err := file.Schema(registry())
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), string(raw))
				return nil
			case "results":
				return printColumns(cmd, asJSON)
			}
			return usage(fmt.Errorf("there is no schema of %q; use sweep or results", args[0]))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the columns as JSON")
	return cmd
}

type columnLine struct {
	Name   string `json:"name"`
	Group  string `json:"group"`
	Type   string `json:"type"`
	Unit   string `json:"unit,omitempty"`
	Better string `json:"better,omitempty"`
	Exact  bool   `json:"exact"`
	Doc    string `json:"doc"`
}

func printColumns(cmd *cobra.Command, asJSON bool) error {
	var lines []columnLine
	for _, c := range results.Columns() {
		line := columnLine{Name: c.Name, Group: c.Group, Type: c.Type.String(), Unit: c.Unit, Exact: c.Exact, Doc: c.Doc}
		if c.Better != results.None {
			line.Better = c.Better.String()
		}
		lines = append(lines, line)
	}
	w := cmd.OutOrStdout()
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(lines)
	}
	group := ""
	for _, l := range lines {
		if l.Group != group {
			group = l.Group
			fmt.Fprintf(w, "\n%s\n", group)
		}
		fmt.Fprintf(w, "  %-28s %-10s %-10s %s\n", l.Name, l.Type, l.Unit, l.Doc)
	}
	return nil
}
