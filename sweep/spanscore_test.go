package sweep

import (
	"math"
	"path/filepath"
	"testing"

	"frontier/datasets"
	"frontier/results"
	"frontier/results/arrowfile"
	"frontier/sweep/file"
)

// scored is a point whose answers are made up, over chunks that are made up.
type madeUp struct {
	t       *testing.T
	measure file.Measure
	chunks  []arrowfile.Chunk
	cases   []datasets.Case
	units   [][]datasets.Unit
	cell    *cellPlan
}

func newMadeUp(t *testing.T, chunks ...arrowfile.Chunk) *madeUp {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chunks.arrow")
	w, err := arrowfile.CreateChunks(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		if err := w.Append(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &madeUp{
		t: t, chunks: chunks,
		measure: file.Measure{K: []int{1, 2}, Depth: 10, Unit: "chunk", Evidence: "overlap", RelevanceMin: 1},
		cell:    &cellPlan{id: "cell", parts: []*built{{}}, input: input{chunking: &chunking{path: path}}},
	}
}

// ask adds a question with its evidence.
func (m *madeUp) ask(id string, units ...datasets.Unit) {
	m.cases = append(m.cases, datasets.Case{ID: id, Unanswerable: len(units) == 0})
	m.units = append(m.units, units)
}

func unit(doc, start, end int) datasets.Unit {
	return datasets.Unit{Grade: 1, Spans: []datasets.Span{{Doc: doc, Start: start, End: end}}}
}

func (m *madeUp) runner() *runner {
	r := &runner{file: &file.File{Measure: m.measure}}
	r.corpus = &corpus{golden: &datasets.Golden{Cases: m.cases}, units: m.units}
	for _, c := range m.chunks {
		for len(r.corpus.ids) <= int(c.Doc) {
			r.corpus.ids = append(r.corpus.ids, string(rune('a'+len(r.corpus.ids))))
		}
	}
	return r
}

// score gives the row and the rows of the questions for these answers, one a question.
func (m *madeUp) score(answers ...arrowfile.Answer) (results.Row, []results.QueryRow) {
	m.t.Helper()
	r := m.runner()
	j, err := newJudge(m.measure, r.corpus, m.cell.input.chunking)
	if err != nil {
		m.t.Fatal(err)
	}
	row := results.Row{"point_id": "p"}
	queries, err := r.answerColumns(row, m.cell, pointPlan{id: "p"}, j, answers, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := row.Check(); err != nil {
		m.t.Fatal(err)
	}
	return row, queries
}

func ids(rows ...int64) arrowfile.Answer {
	return arrowfile.Answer{IDs: rows, Scores: make([]float32, len(rows))}
}

func wantValues(t *testing.T, row results.Row, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if got, ok := row[name].(float64); !ok || math.Abs(got-v) > 1e-12 {
			t.Errorf("%s is %v, want %v", name, row[name], v)
		}
	}
}

// The evidence [10, 30) of a document of chunks of 20 characters: the first chunk has half of it, both have all.
func TestSpanColumns(t *testing.T) {
	m := newMadeUp(t, arrowfile.Chunk{Doc: 0, Start: 0, End: 20}, arrowfile.Chunk{Doc: 0, Start: 20, End: 40}, arrowfile.Chunk{Doc: 1, Start: 0, End: 10})
	m.ask("found", unit(0, 10, 30))
	m.ask("failed", unit(1, 0, 5))
	m.ask("unanswerable")
	row, queries := m.score(ids(0, 1, 2), arrowfile.Answer{Error: "broken"}, ids(2))
	wantValues(t, row, map[string]float64{
		"span_recall_at_1": 0.5 * 10 / 20, "span_precision_at_1": 0.5 * 10 / 20, "span_iou_at_1": 0.5 * 10 / 30,
		"span_recall_at_2": 0.5, "span_precision_at_2": 0.5 * 20 / 40, "span_iou_at_2": 0.5 * 20 / 40, "span_ceiling": 1,
	})
	if _, ok := queries[2].Metrics["span_recall_at_1"]; ok {
		t.Error("a question without evidence has a span recall")
	}
	m.measure.Evidence = "contain" // no chunk holds the first evidence whole
	row, _ = m.score(ids(0, 1, 2), ids(2), ids(2))
	wantValues(t, row, map[string]float64{"span_ceiling": 0.5, "recall_at_2": 0.5, "span_recall_at_2": 1})
}

// Judgements of whole documents say nothing about where in them the answer stands.
func TestNoSpanColumnsForWholeDocuments(t *testing.T) {
	m := newMadeUp(t, arrowfile.Chunk{Doc: 0, Start: 0, End: 20})
	whole := unit(0, 0, 20)
	whole.Whole = true
	m.ask("q", whole)
	row, _ := m.score(ids(0))
	if _, ok := row["span_recall_at_1"]; ok || row["recall_at_1"] != 1.0 {
		t.Errorf("span recall %v, recall %v", row["span_recall_at_1"], row["recall_at_1"])
	}
}
