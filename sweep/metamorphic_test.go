package sweep

import (
	"math"
	"reflect"
	"testing"

	"frontier/results"
	"frontier/results/arrowfile"
)

// What changes nothing about a retriever changes nothing but counts: questions that cannot be answered, and other row
// numbers for the same chunks.
func TestWhatScoresDoNotDependOn(t *testing.T) {
	chunks := []arrowfile.Chunk{{Doc: 0, Start: 0, End: 20}, {Doc: 0, Start: 15, End: 40}, {Doc: 1, Start: 0, End: 10}, {Doc: 2, Start: 0, End: 30}}
	answers := [][]int64{{0, 2, 3}, {3, 1}, {2}}
	build := func(order []int, further int) results.Row {
		var shuffled []arrowfile.Chunk
		at := map[int64]int64{}
		for row, i := range order {
			shuffled = append(shuffled, chunks[i])
			at[int64(i)] = int64(row)
		}
		m := newMadeUp(t, shuffled...)
		m.ask("a", unit(0, 5, 18), unit(2, 0, 3))
		m.ask("b", unit(0, 17, 25))
		m.ask("c", unit(1, 2, 4), unit(0, 38, 39))
		var all []arrowfile.Answer
		for _, list := range answers {
			var rows []int64
			for _, id := range list {
				rows = append(rows, at[id])
			}
			all = append(all, ids(rows...))
		}
		for range further {
			m.ask("none")
			all = append(all, ids(0, 1))
		}
		row, _ := m.score(all...)
		for name := range row {
			c, _ := results.Lookup(name)
			if c.Group == "data" || c.Group == "completeness" || c.Group == "abstention" {
				delete(row, name)
			}
		}
		return row
	}
	want := build([]int{0, 1, 2, 3}, 0)
	if len(want) < 40 {
		t.Fatalf("only %d columns: %v", len(want), want)
	}
	if got := build([]int{3, 1, 0, 2}, 0); !reflect.DeepEqual(got, want) {
		t.Errorf("with other row numbers\n%v\nwant\n%v", got, want)
	}
	if got := build([]int{0, 1, 2, 3}, 5); !reflect.DeepEqual(got, want) {
		t.Errorf("with unanswerable questions\n%v\nwant\n%v", got, want)
	}
}

// One chunk that is the two neighbours together holds what either of them holds, is found as well, and is longer.
func TestLargerChunks(t *testing.T) {
	score := func(answer []int64, chunks ...arrowfile.Chunk) results.Row {
		m := newMadeUp(t, chunks...)
		m.measure.Evidence = "contain"
		m.ask("cut", unit(0, 15, 25))
		m.ask("left", unit(0, 0, 10))
		row, _ := m.score(ids(answer...), ids(answer...))
		return row
	}
	small := score([]int64{0, 1}, arrowfile.Chunk{Doc: 0, Start: 0, End: 20}, arrowfile.Chunk{Doc: 0, Start: 20, End: 40})
	large := score([]int64{0}, arrowfile.Chunk{Doc: 0, Start: 0, End: 40})
	wantValues(t, small, map[string]float64{"recall_at_2": 0.5, "loss_chunking": 0.5, "span_ceiling": 0.5, "span_recall_at_2": 1})
	wantValues(t, large, map[string]float64{"recall_at_2": 1, "loss_chunking": 0, "span_ceiling": 1, "span_recall_at_2": 1})
	if a, b := small["span_precision_at_2"].(float64), large["span_precision_at_2"].(float64); math.Abs(a-b) > 1e-12 {
		t.Errorf("the same text has the precisions %v and %v", a, b)
	}
}
