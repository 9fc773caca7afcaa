package main

import (
	"encoding/json"
	"fmt"

	"frontier/results"
	"frontier/results/gate"
	"frontier/sweep/file"

	"github.com/spf13/cobra"
)

func newSchema() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:       "schema sweep|results|gate|gate-result",
		Short:     "Print the JSON Schema of a file, or the columns of the results",
		Example:   "  frontier schema results",
		Args:      exactly(1, "sweep, results, gate or gate-result"),
		ValidArgs: []string{"sweep", "results", "gate", "gate-result"},
		RunE: func(cmd *cobra.Command, args []string) error {
			schema := gate.Schema
			switch args[0] {
			case "sweep":
				schema = func() ([]byte, error) { return file.Schema(registry()) }
			case "gate":
			case "gate-result":
				schema = gate.ResultSchema
			case "results":
				return printColumns(cmd, asJSON)
			default:
				return usage(fmt.Errorf("there is no schema of %q; use sweep, results, gate or gate-result", args[0]))
			}
			raw, err := schema()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(raw)
			return err
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
