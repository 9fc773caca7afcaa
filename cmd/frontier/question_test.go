package main

import (
	"context"
	"path/filepath"
	"testing"

	"frontier/results"
)

// Who interrupts the reading of results is not told that the command was wrong.
func TestInterruptedReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.parquet")
	if err := results.WriteRows(path, []results.Row{{"point_id": "p", "status": "ok", "qps": 1.0}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{
		{"pareto", path, "--objective", "qps"},
		{"pareto", path, "--objective", "qps", "--scan-from", "0"},
		{"report", path, "--objective", "qps", "-o", path + ".html"},
		{"compare", path, path},
		{"compare", "--history", path},
	} {
		root := newRoot()
		root.SetArgs(args)
		err := root.ExecuteContext(ctx)
		if code, _ := outcome(err, true); code != exitInterrupted {
			t.Errorf("%v: error %v, exit code %d, want %d", args, err, code, exitInterrupted)
		}
	}
}
