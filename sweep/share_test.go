package sweep

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// Two sweeps that share a cache and run at once make each artifact once between them, and measure in turn.
func TestTwoSweepsShareACache(t *testing.T) {
	alone := newPlace(t, textSweep)
	alone.writeText()
	made := alone.start().summary().Prepared
	want := alone.outcome()

	first := newPlace(t, textSweep)
	first.writeText()
	witness := filepath.Join(first.dir, "witness")
	t.Setenv(witnessEnv, witness)
	second := *first
	second.out = filepath.Join(first.dir, "other")
	runs := []*parent{first.start(), second.start()}
	a, b := runs[0].summary(), runs[1].summary()
	if a.Prepared+b.Prepared != made || a.Cached+b.Cached != made {
		t.Errorf("one sweep made %d artifacts and found %d, the other %d and %d; alone, a sweep makes %d",
			a.Prepared, a.Cached, b.Prepared, b.Cached, made)
	}
	first.expect(want)
	second.expect(want)

	type interval struct {
		pid      int
		from, to int64
	}
	var measured []interval
	open := map[int]int64{} // when each process loaded its first index
	builds := 0
	for _, d := range readWitness(t, witness) {
		switch d.what {
		case "build":
			builds++
		case "load":
			if _, ok := open[d.pid]; !ok {
				open[d.pid] = d.at
			}
		case "close": // the last of a process counts
			measured = slices.DeleteFunc(measured, func(m interval) bool { return m.pid == d.pid })
			measured = append(measured, interval{d.pid, open[d.pid], d.at})
		}
	}
	if builds != 8 { // flat and bleve on 4 chunkings each
		t.Errorf("%d builds between two sweeps that need the same 8", builds)
	}
	if len(measured) != 2*12 {
		t.Fatalf("%d cells were measured instead of 12 by each", len(measured))
	}
	slices.SortFunc(measured, func(a, b interval) int { return int(a.from - b.from) })
	for i := 1; i < len(measured); i++ {
		if before, m := measured[i-1], measured[i]; m.from < before.to {
			t.Errorf("process %d began to measure %s before process %d had ended", m.pid, fmt.Sprintf("%.3f ms", float64(before.to-m.from)/1e6), before.pid)
		}
	}
}
