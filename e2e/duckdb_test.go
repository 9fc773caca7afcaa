package e2e

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2" // the driver "duckdb"
)

// results is a results folder opened in DuckDB: the views results, queries and parts.
type results struct {
	*sql.DB
	dir string
}

func open(t *testing.T, dir string) results {
	t.Helper()
	r := results{openDuckDB(t), dir}
	r.exec(t, fmt.Sprintf("create view results as from read_parquet(%s)", quote(filepath.Join(dir, "results.parquet"))))
	r.exec(t, fmt.Sprintf("create view queries as from read_parquet(%s, union_by_name = true)", quote(filepath.Join(dir, "queries", "*.parquet"))))
	r.exec(t, fmt.Sprintf("create view parts as from read_parquet(%s, union_by_name = true)", quote(filepath.Join(dir, "parts", "*.parquet"))))
	return r
}

// openDuckDB is a database in memory.
func openDuckDB(tb testing.TB) *sql.DB {
	tb.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func (r results) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := r.Exec(statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// number is the single number that a statement gives.
func (r results) number(t *testing.T, statement string) float64 {
	t.Helper()
	var n sql.NullFloat64
	if err := r.QueryRow(statement).Scan(&n); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	if !n.Valid {
		t.Fatalf("%s: null", statement)
	}
	return n.Float64
}

// none fails the test for each row that a statement gives: it asks for what must not be there.
func (r results) none(t *testing.T, what, statement string) {
	t.Helper()
	rows := r.table(t, statement)
	for i, row := range rows {
		if i == 5 {
			t.Errorf("%s: and %d more", what, len(rows)-i)
			break
		}
		t.Errorf("%s: %v", what, row)
	}
}

// table is all that a statement gives.
func (r results) table(t *testing.T, statement string) [][]any {
	t.Helper()
	rows, err := r.Query(statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]any
	for rows.Next() {
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return out
}

// columnType is a column of a view with its type in DuckDB.
type columnType struct{ name, typ string }

func (r results) columns(t *testing.T, view string) []columnType {
	t.Helper()
	var out []columnType
	for _, row := range r.table(t, "select column_name, column_type from (describe "+view+")") {
		out = append(out, columnType{row[0].(string), row[1].(string)})
	}
	return out
}

// duckType is how DuckDB reads the documented type of a column.
func duckType(t *testing.T, documented string) string {
	t.Helper()
	types := map[string]string{
		"string": "VARCHAR", "int64": "BIGINT", "float64": "DOUBLE", "bool": "BOOLEAN", "time.Time": "TIMESTAMP WITH TIME ZONE",
		"[]string": "VARCHAR[]", "[]byte": "BLOB", "map[string]float64": "MAP(VARCHAR, DOUBLE)",
	}
	typ, ok := types[documented]
	if !ok {
		t.Fatalf("no type of DuckDB is known for %q", documented)
	}
	return typ
}
