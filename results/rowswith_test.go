package results

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// What was measured and not asked for is left out, and nothing else.
func TestReadRowsWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	rows := []Row{fullRow("a"), {"point_id": "b"}}
	writeRows(t, path, rows)
	got, err := ReadRowsWith(context.Background(), []string{"recall_at_10", "latency_p99_seconds", "no such column"}, path)
	if err != nil || len(got) != 2 || !reflect.DeepEqual(got[1], rows[1]) {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	for name, v := range rows[0] {
		col, _ := Lookup(name)
		want := !slices.Contains([]string{"completeness", "ann", "quality", "spans", "context", "loss", "abstention", "latency", "stages", "frontier", "cost"}, col.Group) ||
			strings.HasPrefix(name, "recall_at_1") || strings.HasPrefix(name, "latency_p99_")
		if has := got[0][name] != nil; has != want || has && !reflect.DeepEqual(got[0][name], v) {
			t.Errorf("%s is %v, want it: %v", name, got[0][name], want)
		}
	}
	if len(got[0]) < 60 {
		t.Errorf("%d columns", len(got[0]))
	}
}
