package results

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A point that failed and was tried again is in two parts; a folder without results.parquet has it once all the same.
func TestRetriedPointIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "parts"), 0o755); err != nil {
		t.Fatal(err)
	}
	row := func(run, point, status string, minute int) Row {
		return Row{"run_id": run, "point_id": point, "status": status, "started_at": time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}
	}
	for name, rows := range map[string][]Row{
		// Parts are read by name, and names do not tell the order in time.
		"a": {row("r", "p", "ok", 2), row("r", "q", "ok", 1)},
		"b": {row("r", "p", "crashed", 1), row("other", "p", "ok", 0)},
	} {
		if err := WriteRows(filepath.Join(dir, "parts", name+".parquet"), rows); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := ReadRows(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, r := range rows {
		found[r["run_id"].(string)+" "+r["point_id"].(string)] += r["status"].(string)
	}
	if len(rows) != 3 || found["r p"] != "ok" || found["r q"] != "ok" || found["other p"] != "ok" {
		t.Errorf("read %v", found)
	}
}
