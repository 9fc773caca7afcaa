package sweep

import (
	"path/filepath"
	"slices"
	"testing"

	"frontier/bench/loss"
	"frontier/bench/truth"
	"frontier/datasets"
	"frontier/internal/vector"
	"frontier/results"
	"frontier/results/arrowfile"
)

// embed gives chunks and questions vectors of one dimension.
func (m *madeUp) embed(neighbors int, chunks, questions []float32) {
	m.t.Helper()
	dir := m.t.TempDir()
	e := &embedding{metric: vector.L2, base: filepath.Join(dir, "base.fbin"), queries: filepath.Join(dir, "queries.fbin")}
	var both []*vector.Matrix
	for path, rows := range map[string][]float32{e.base: chunks, e.queries: questions} {
		w, err := vector.CreateFbin(path, 1)
		if err == nil {
			err = w.Append(rows)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
	for _, rows := range [][]float32{chunks, questions} {
		one, err := vector.NewMatrix(rows, 1)
		if err != nil {
			m.t.Fatal(err)
		}
		both = append(both, one)
	}
	var err error
	if e.truth, err = truth.Exact(m.t.Context(), both[0], both[1], e.metric, neighbors, 1); err != nil {
		m.t.Fatal(err)
	}
	m.cell.input.embedding = e
	m.cell.parts = []*built{{input: m.cell.input}}
}

// sumsUp holds what was lost against what was found, exactly.
func sumsUp(t *testing.T, who string, value func(name string) (float64, bool)) {
	t.Helper()
	total := 0.0
	for _, class := range loss.Losses() {
		v, ok := value("loss_" + class.String())
		if !ok {
			t.Errorf("%s has no loss_%v", who, class)
		}
		total += v
	}
	if found, _ := value("evidence_recall"); total != 1-found {
		t.Errorf("%s: the losses add up to %v, and 1 - evidence_recall is %v", who, total, 1-found)
	}
}

// Chunks on a line, the question at 1: exact search ranks them 0, 1, 2, ...
func TestEachClassOfLoss(t *testing.T) {
	chunk := func(doc, start, end int32) arrowfile.Chunk { return arrowfile.Chunk{Doc: doc, Start: start, End: end} }
	m := newMadeUp(t, chunk(0, 0, 20), chunk(0, 20, 40), chunk(1, 0, 20), chunk(1, 20, 40), chunk(3, 0, 10))
	m.measure.Evidence = "contain"
	m.embed(5, []float32{1, 2, 3, 4, 5}, []float32{1, 1})
	evidence := []datasets.Unit{unit(0, 0, 5), unit(0, 25, 30), unit(1, 0, 5), unit(0, 15, 25), unit(2, 0, 9)}
	m.ask("asked", evidence...)
	m.ask("failed", evidence...)
	row, queries := m.score(ids(0, 2), arrowfile.Answer{Error: "broken"})
	// The engine gave chunk 2 in the place of chunk 1; one piece of evidence is cut in two; document 2 has no chunk.
	if want := []string{"found", "ann", "found", "chunking", "missing"}; !slices.Equal(queries[0].LossStages, want) {
		t.Errorf("the losses are %v, want %v", queries[0].LossStages, want)
	}
	if want := []string{"failed", "failed", "failed", "chunking", "missing"}; !slices.Equal(queries[1].LossStages, want) {
		t.Errorf("the losses of the failed question are %v, want %v", queries[1].LossStages, want)
	}
	wantValues(t, row, map[string]float64{"evidence_recall": 0.2, "loss_ann": 0.1, "loss_failed": 0.3, "loss_chunking": 0.2, "loss_missing": 0.2})
	sumsUp(t, "the row", row.Number)
	_, queries = m.score(ids(0, 1), ids(0, 1))
	if got := queries[0].LossStages[2]; got != "embedding" {
		t.Errorf("what exact search ranks third of two is lost by %s", got)
	}

	m.cell.parts = []*built{{input: m.cell.input}, {}} // a hybrid with a lexical engine
	hybrid := ids(4, 3)
	hybrid.Lists = [][]int64{{4, 3, 0}, {2, 4}}
	_, queries = m.score(hybrid, hybrid)
	if want := []string{"ann", "ann", "fusion", "chunking", "missing"}; !slices.Equal(queries[0].LossStages, want) {
		t.Errorf("the losses of the hybrid are %v, want %v", queries[0].LossStages, want)
	}
}

// Where documents are counted and the first neighbours are all of one, longer lists are searched for.
func TestLossesOfDocumentsSearchFurther(t *testing.T) {
	var chunks []arrowfile.Chunk
	var vectors []float32
	for i := range int32(30) {
		chunks = append(chunks, arrowfile.Chunk{Doc: i / 20, Start: i * 10, End: i*10 + 10})
		vectors = append(vectors, float32(i+1))
	}
	m := newMadeUp(t, chunks...)
	m.measure.Unit = "document"
	m.embed(4, vectors, []float32{1, 0})
	m.ask("second", unit(1, 205, 208))
	m.ask("of no known word", unit(1, 205, 208))
	m.cell.input.embedding.kind = nil
	_, queries := m.score(ids(0, 1, 2), ids())
	if got := queries[0].LossStages; !slices.Equal(got, []string{"ann"}) {
		t.Errorf("document 1 is the second nearest and was not found: lost by %v", got)
	}
	if got := queries[1].LossStages; !slices.Equal(got, []string{"embedding"}) {
		t.Errorf("a question with a zero vector lost its evidence by %v", got)
	}
	if len(m.cell.input.embedding.deeper[0]) <= 4 {
		t.Error("no further neighbours were searched for")
	}
}

// Of chunks of 3 tokens two fit into 7, and the third begins a new page.
func TestContextBudget(t *testing.T) {
	text := []string{"one two three", "the limit is 400", "four five six"}
	var chunks []arrowfile.Chunk
	for i, s := range text {
		chunks = append(chunks, arrowfile.Chunk{Doc: int32(i), Start: 0, End: int32(len(s)), Text: s})
	}
	m := newMadeUp(t, chunks...)
	m.measure.K, m.measure.ContextTokens = []int{1, 3}, 7
	m.cell.input.chunking.tokens = []int{3, 4, 3}
	m.ask("both fit", unit(0, 0, 3), unit(1, 4, 9))
	m.ask("one fits", unit(0, 0, 3), unit(2, 0, 4))
	m.ask("unanswerable")
	m.cases[0].Facts = []string{"limit is 400", "absent"}
	m.cases[1].Facts = []string{"FOUR  five", "One two"}
	row, queries := m.score(ids(0, 1, 2), ids(0, 1, 2), ids(0, 1))
	wantValues(t, row, map[string]float64{
		"recall_at_budget": 0.75, "recall_at_3": 1, "evidence_recall": 0.75, "loss_budget": 0.25, "context_tokens_used": 7,
		"fact_recall_at_budget": 0.5, "span_recall_at_budget": (1 + 3.0/7) / 2, "span_precision_at_budget": (8.0/29 + 3.0/29) / 2,
	})
	if want := []string{"found", "budget"}; !slices.Equal(queries[1].LossStages, want) {
		t.Errorf("the losses are %v, want %v", queries[1].LossStages, want)
	}
	if _, ok := queries[2].Metrics["fact_recall_at_budget"]; ok {
		t.Error("a question without expected facts has a recall of them")
	}
	sumsUp(t, "the row", row.Number)
	row, _ = m.score(arrowfile.Answer{Error: "broken"}, ids(0, 1, 2), ids())
	wantValues(t, row, map[string]float64{"recall_at_budget": 0.25, "fact_recall_at_budget": 0.25, "loss_failed": 0.5})
}

func checkLosses(t *testing.T, rows []results.Row, queries []results.QueryRow) {
	t.Helper()
	for _, row := range rows {
		sumsUp(t, row.Text("point_id"), row.Number)
	}
	answerable := 0
	for _, q := range queries {
		if !q.Answerable {
			continue
		}
		answerable++
		sumsUp(t, q.PointID+" "+q.QueryID, func(name string) (float64, bool) { v, ok := q.Metrics[name]; return v, ok })
	}
	if answerable < 10*len(rows) {
		t.Errorf("only %d answers were checked", answerable)
	}
}
