package main

import (
	"frontier/results"

	"github.com/spf13/cobra"
)

// formats are the values of --format.
const formats = "table, json, csv or markdown"

func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "table", "how rows are printed: "+formats)
}

// frontierColumns are the columns that tell the rows apart and the objectives. A column that no row has is left out.
func frontierColumns(rows []results.Row, objectives []results.Objective) []string {
	candidates := []string{
		"chunker", "chunk_size", "chunk_overlap", "embedder", "dim", "engine", "index_spec", "m", "ef_search", "nlist", "nprobe", "fusion",
	}
	var columns []string
	for _, c := range candidates {
		if tells(rows, c) {
			columns = append(columns, c)
		}
	}
	for _, o := range objectives {
		columns = append(columns, o.Column) // a table shows its interval beside it
	}
	return columns
}

func tells(rows []results.Row, column string) bool {
	for _, row := range rows {
		if row[column] != nil {
			return true
		}
	}
	return false
}
