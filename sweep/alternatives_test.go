package sweep

import (
	"slices"
	"testing"

	"frontier/datasets"
	"frontier/results/arrowfile"
)

// One of two places will do, and a third one is needed: recall is over two, and what was found twice gains once.
func TestAlternatives(t *testing.T) {
	either := datasets.Unit{Grade: 1, Spans: []datasets.Span{{Doc: 0, Start: 0, End: 5}, {Doc: 1, Start: 0, End: 10}}}
	m := newMadeUp(t, arrowfile.Chunk{Doc: 0, Start: 0, End: 20}, arrowfile.Chunk{Doc: 1, Start: 0, End: 20}, arrowfile.Chunk{Doc: 2, Start: 0, End: 20})
	m.ask("q", either, unit(2, 0, 5))
	for _, counted := range []string{"chunk", "document"} {
		m.measure.Unit = counted
		row, queries := m.score(ids(1, 0, 2))
		wantValues(t, row, map[string]float64{"recall_at_1": 0.5, "recall_at_2": 0.5, "hit_rate_at_1": 1, "loss_embedding": 0.5, "span_ceiling": 1})
		if want := []string{"found", "embedding"}; !slices.Equal(queries[0].LossStages, want) {
			t.Errorf("by %s the losses are %v, want %v", counted, queries[0].LossStages, want)
		}
		sumsUp(t, counted, row.Number)
		row, _ = m.score(ids(0, 2))
		wantValues(t, row, map[string]float64{"recall_at_2": 1, "evidence_recall": 1, "ndcg_at_2": 1, "span_recall_at_2": 1})
	}
	// A document that is evidence by itself and an alternative counts for both.
	m.units[0] = append(m.units[0], unit(1, 10, 12))
	row, _ := m.score(ids(1, 2))
	wantValues(t, row, map[string]float64{"recall_at_1": 2.0 / 3, "recall_at_2": 1})
}
