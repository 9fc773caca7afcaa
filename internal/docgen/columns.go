package main

import (
	"strings"

	"frontier/results"
)

const columnsIntro = `# The columns of results.parquet

One row a measured point. [results.md](results.md) explains the groups and how to trace a number to the queries that it
came from; "frontier schema results" prints this list, with --json for programs.

* A name with K stands for one column for each k of measure.k: recall_at_K is recall_at_1, recall_at_5, recall_at_10.
* Types are those that DuckDB shows. Every column may be null unless its description says "never".
* "better" is the direction of an objective: max or min. Columns without one are parameters or descriptions.
* "exact" columns have the same value whenever the same sweep runs with the same seed on the same data, with engines whose
  builds repeat (see [components.md](components.md)). The others depend on the machine and the moment.
`

func columnsPage() string {
	var b strings.Builder
	b.WriteString(generated + columnsIntro)
	group := ""
	var t *table
	flush := func() {
		if t != nil {
			b.WriteString(t.String())
		}
	}
	for _, c := range results.Columns() {
		if c.Group != group {
			flush()
			group = c.Group
			b.WriteString("\n## " + group + "\n\n")
			t = newTable("column", "type", "unit", "better", "exact", "what")
		}
		better := ""
		if c.Better != results.None {
			better = c.Better.String()
		}
		exact := ""
		if c.Exact {
			exact = "yes"
		}
		t.row(code(c.Name), sqlType(c.Type), plain(c.Unit), better, exact, plain(c.Doc))
	}
	flush()
	return b.String()
}

// sqlType is the type that DuckDB gives a column of the file.
func sqlType(t results.Type) string {
	switch t {
	case results.String:
		return "VARCHAR"
	case results.Int:
		return "BIGINT"
	case results.Float:
		return "DOUBLE"
	case results.Bool:
		return "BOOLEAN"
	case results.Time:
		return "TIMESTAMP WITH TIME ZONE"
	case results.Strings:
		return "VARCHAR[]"
	case results.Bytes:
		return "BLOB"
	case results.FloatMap:
		return "MAP(VARCHAR, DOUBLE)"
	}
	return t.String()
}
