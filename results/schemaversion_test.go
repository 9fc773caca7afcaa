package results

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withVersion is a file of two columns that says it is of the given version, of the same length as ours.
func withVersion(t *testing.T, version string, fields []field, value func(row, field int) any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "results.parquet")
	if err := writeParquet(path, fields, 2, value); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ours := SchemaVersion()
	if len(version) != len(ours) || bytes.Count(raw, []byte(ours)) != 1 {
		t.Fatalf("the version %q cannot be put in place of %q", version, ours)
	}
	if err := os.WriteFile(path, bytes.Replace(raw, []byte(ours), []byte(version), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSchemaVersions(t *testing.T) {
	n := len(Columns())
	narrow := []field{{"point_id", String}, {"qps", Float}}
	value := func(_, f int) any { return []any{"p", 7.0, 3.5}[f] }
	read := func(version string, fields []field) ([]Row, error) {
		return ReadRows(context.Background(), withVersion(t, version, fields, value))
	}

	rows, err := read(fmt.Sprintf("1.%03d", n-1), narrow) // from before a column was added
	if err != nil || len(rows) != 2 || rows[1]["qps"] != 7.0 || rows[1]["recall_at_10"] != nil || rows[1]["warnings"] != nil {
		t.Errorf("an older file: %v, %v; want its values, nulls and no warning", rows, err)
	}

	rows, err = read(fmt.Sprintf("1.%03d", n+1), append(narrow, field{"added_later", Float}))
	if err != nil || len(rows) != 2 || rows[1]["qps"] != 7.0 || rows[1]["added_later"] != nil {
		t.Errorf("a newer file: %v, %v; want the columns that are known", rows, err)
	} else if w, _ := rows[1]["warnings"].([]string); len(w) != 1 || !strings.Contains(w[0], `"added_later"`) {
		t.Errorf("a newer file: warnings %q, want one that names the column", w)
	}

	if _, err = read(fmt.Sprintf("2.%03d", n), narrow); err == nil || !strings.Contains(err.Error(), "is of schema 2.") || !strings.Contains(err.Error(), "a newer one") {
		t.Errorf("a file of the next major version: error %v, want one with a remedy", err)
	}
	for _, version := range []string{"x.137", "1.1x7", "0.137"} {
		if _, err = read(version, narrow); err == nil || !strings.Contains(err.Error(), "the version of a schema") {
			t.Errorf("version %q: error %v", version, err)
		}
	}
}

// The first files say "1" alone. Those that another tool rewrote say nothing, which TestReadRowsOfAnotherVersion reads.
func TestSchemaVersionsOfFirstFiles(t *testing.T) {
	for version, ok := range map[string]bool{"1": true, "1.0": true, "2": false, "": false, "1.": false, "-1": false} {
		if err := checkVersion(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}
