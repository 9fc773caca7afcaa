package main

import (
	"strings"
	"testing"
	"time"

	"frontier/bench/truth"
)

// The last step of a search is told once, however long it took.
func TestTruthProgressTellsTheEndOnce(t *testing.T) {
	var out strings.Builder
	p := &truthProgress{w: &out, rowBytes: 4}
	for _, rows := range []int{50, 100} {
		p.show(truth.Progress{Rows: rows, Total: 100, Elapsed: time.Duration(rows) * time.Second, Operations: 1e9})
	}
	p.end()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "50s left") || !strings.HasSuffix(lines[1], "100.000 s") {
		t.Errorf("%q", lines)
	}
}
