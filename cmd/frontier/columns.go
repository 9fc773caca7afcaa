package main

import (
	"slices"

	"frontier/results"

	"github.com/spf13/cobra"
)

// formats are the values of --format.
const formats = "table, json, csv or markdown"

// tableFormat is a value of --format that is checked while flags are read, before any work.
type tableFormat struct{ text *string }

func (f tableFormat) String() string {
	if f.text == nil {
		return ""
	}
	return *f.text
}

func (f tableFormat) Type() string { return "string" }

func (f tableFormat) Set(text string) error {
	if err := results.CheckFormat(text); err != nil {
		return err
	}
	*f.text = text
	return nil
}

func addFormat(cmd *cobra.Command, format *string) {
	*format = "table"
	cmd.Flags().Var(tableFormat{format}, "format", "how rows are printed: "+formats)
}

// frontierColumns are the columns that tell the rows apart and the objectives; the index in the engine's own words,
// which is long, comes last. A column that no row has is left out, and so is the load where it is the same for all.
func frontierColumns(rows []results.Row, objectives []results.Objective) []string {
	var columns []string
	for _, c := range tellingColumns() {
		if tells(rows, c) && (!slices.Contains(loadColumns(), c) || differs(rows, c)) {
			columns = append(columns, c)
		}
	}
	for _, o := range objectives {
		if !slices.Contains(columns, o.Column) {
			columns = append(columns, o.Column) // a table shows its interval beside it
		}
	}
	if tells(rows, "index_spec") {
		columns = append(columns, "index_spec")
	}
	return columns
}

// tellingColumns are what may tell rows apart, as people see it.
func tellingColumns() []string {
	return append([]string{
		"chunker", "chunk_size", "chunk_overlap", "embedder", "dim", "engine", "m", "ef_search", "nlist", "nprobe", "fusion", "fusion_param",
		"filter", "filter_mode", "filter_boost",
	}, loadColumns()...)
}

// loadColumns say how queries were sent.
func loadColumns() []string { return []string{"load_mode", "concurrency", "target_qps", "slo"} }

// groupColumns tell several data sets apart; one needs none.
func groupColumns(groups []results.Group) []string {
	if len(groups) < 2 {
		return nil
	}
	names := map[string]bool{}
	for _, g := range groups {
		names[g.Dataset] = true
	}
	if len(names) < len(groups) {
		return []string{"dataset", "dataset_digest"}
	}
	return []string{"dataset"}
}

func tells(rows []results.Row, column string) bool {
	return slices.ContainsFunc(rows, func(r results.Row) bool { return r[column] != nil })
}

// differs says whether two rows have different values; null is one.
func differs(rows []results.Row, column string) bool {
	return slices.ContainsFunc(rows, func(r results.Row) bool { return r[column] != rows[0][column] })
}
