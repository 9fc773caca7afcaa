package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestRowGroupsAreSkipped asks DuckDB for the statistics of a file of many rows: the question of one engine and a high
// recall needs few of its row groups.
func TestRowGroupsAreSkipped(t *testing.T) {
	const group = 1000
	path := sampleRows(t, 6*group, group)
	r := results{openDuckDB(t), ""}
	r.exec(t, fmt.Sprintf(`create table groups as
		select e.row_group_id, e.stats_min_value min_engine, e.stats_max_value max_engine, r.stats_max_value::double max_recall, e.encodings
		from parquet_metadata(%[1]s) e join parquet_metadata(%[1]s) r using (row_group_id)
		where e.path_in_schema = 'engine' and r.path_in_schema = 'recall_at_10'`, quote(path)))
	const needed = "min_engine <= 'faiss' and max_engine >= 'faiss' and max_recall > 0.9"
	total, some := r.number(t, "select count(*) from groups"), r.number(t, "select count(*) from groups where "+needed)
	if total < 5 || some < 1 || some > 2 {
		t.Errorf("%v of %v row groups are needed, want one or two of six", some, total)
	}
	r.none(t, "no dictionary", "select row_group_id, encodings from groups where encodings not like '%DICTIONARY%'")
	inside := r.number(t, fmt.Sprintf("select count(*) from read_parquet(%s) where engine = 'faiss' and recall_at_10 > 0.9", quote(path)))
	if inside == 0 {
		t.Error("no row meets the condition, which then tests nothing")
	}
	// The rows that meet it stand in these row groups and nowhere else.
	r.none(t, "a row of a row group that its statistics rule out", fmt.Sprintf(`
		select point_id from (select *, file_row_number // %d row_group_id from read_parquet(%s, file_row_number = true)) x
		where engine = 'faiss' and recall_at_10 > 0.9 and row_group_id not in (select row_group_id from groups where %s)`, group, quote(path), needed))
}

// TestPyarrowReadsEveryColumn compares the types that pyarrow sees with the documented ones.
func TestPyarrowReadsEveryColumn(t *testing.T) {
	python(t, "", "pyarrow") // or skip
	path := sampleRows(t, 500, 500)
	types := map[string]string{
		"string": "string", "int64": "int64", "float64": "double", "bool": "bool", "time.Time": "timestamp[us, tz=UTC]",
		"[]string": "list<element: string>", "[]byte": "binary", "map[string]float64": "map<string, double>",
	}
	want := map[string]string{}
	for _, c := range documentedColumns(t) {
		for _, k := range []string{"1", "10"} {
			want[strings.Replace(c.Name, "_at_K", "_at_"+k, 1)] = types[c.Type]
		}
	}
	out := python(t, fmt.Sprintf(`
import re
import pyarrow.parquet as pq
table = pq.read_table(%q)
assert table.num_rows == 500, table.num_rows
for field in table.schema:
    print(field.name + "\t" + re.sub(r" \('\w+'\)", "", str(field.type)))
    table[field.name].to_pylist()
`, path), "pyarrow")
	seen := 0
	for line := range strings.Lines(out) {
		name, typ, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if want[name] == "" || want[name] != typ {
			t.Errorf("column %s is %q in pyarrow, documented is %q", name, typ, want[name])
		}
		seen++
	}
	if seen != len(want) {
		t.Errorf("pyarrow sees %d columns, %d are documented", seen, len(want))
	}
}
