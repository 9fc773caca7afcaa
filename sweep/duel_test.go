package sweep

import (
	"testing"

	"frontier/bench/load"
	"frontier/bench/stats"
)

// More pairs are measured only as long as that can make enough quiet ones.
func TestDuelWantsPairs(t *testing.T) {
	d := &duel{ABOptions: ABOptions{Pairs: 10}}
	for _, c := range []struct {
		measured, quiet int
		want            bool
	}{{0, 0, true}, {9, 0, true}, {10, 10, false}, {10, 4, false}, {10, 5, true}, {14, 9, true}, {14, 8, false}, {15, 9, false}, {15, 10, false}} {
		if got := d.wants(c.measured, c.quiet); got != c.want {
			t.Errorf("after %d pairs, %d of them quiet: %v, want %v", c.measured, c.quiet, got, c.want)
		}
	}
}

// A side that fails fast is told by its errors.
func TestDuelComparesFailures(t *testing.T) {
	d := &duel{ABOptions: ABOptions{QualityMargin: 0.01}}
	block := func(errors, dropped int64) *load.Block {
		return &load.Block{Samples: 100, Errors: errors, Dropped: dropped}
	}
	for _, c := range []struct {
		name       string
		base, next [2]int64 // errors and dropped, of each block
		want       map[string]stats.Decision
	}{
		{"none", [2]int64{}, [2]int64{}, map[string]stats.Decision{}},
		{"more errors", [2]int64{0, 0}, [2]int64{2, 0}, map[string]stats.Decision{"errors": stats.Worse}},
		{"within the margin", [2]int64{1, 0}, [2]int64{2, 0}, map[string]stats.Decision{"errors": stats.Same}},
		{"fewer errors, more dropped", [2]int64{50, 0}, [2]int64{0, 50}, map[string]stats.Decision{"errors": stats.Better, "dropped": stats.Worse}},
	} {
		var blocks duelBlocks
		for range 3 {
			blocks.add(block(c.base[0], c.base[1]), block(c.next[0], c.next[1]))
		}
		got := d.unanswered(blocks)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", c.name, got)
		}
		for _, m := range got {
			if m.Decision != c.want[m.Name] || m.Change != m.New-m.Base {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
	}
}
