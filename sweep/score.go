package sweep

import (
	"encoding/json"
	"fmt"
	"math"

	"frontier/bench/ranking"
	"frontier/bench/recall"
	"frontier/bench/spans"
	"frontier/bench/truth"
	"frontier/datasets"
	"frontier/internal/cas"
	"frontier/internal/vector"
	"frontier/results/arrowfile"
	"frontier/sweep/file"
)

// The values of measure.unit and measure.evidence.
const (
	unitDocument    = "document"
	evidenceContain = "contain"
)

// judge turns the chunks that a query got into what the ranking metrics count: documents or chunks, and the evidence
// that each holds.
type judge struct {
	measure      file.Measure
	judged       bool // judgements come from qrels, so that a document can be unjudged
	docs         []int32
	starts, ends []int32
	chunks       *spans.Chunks // the same, ordered by place
	rule         spans.Rule
	golds        []*gold // of each case; nil where there is nothing relevant
	tokens       []int   // of each chunk, where a context is scored
	path         string  // of the chunk file
	partial      bool    // these are only the chunks that were found, as of another system: what others hold is not known
	lengthless   bool    // of some documents that were found as a whole, the length is not known
}

func newJudge(m file.Measure, c *corpus, ch *chunking) (*judge, error) {
	j := &judge{measure: m, judged: c.golden.Judged, tokens: ch.tokens, path: ch.path}
	var err error
	if j.docs, j.starts, j.ends, err = arrowfile.Spans(ch.path); err != nil {
		return nil, err
	}
	if err := j.prepare(c); err != nil {
		return nil, fmt.Errorf("%s: %w", ch.path, err)
	}
	return j, nil
}

// prepare orders the chunks and the evidence of all cases by place.
func (j *judge) prepare(c *corpus) (err error) {
	if j.chunks, err = spans.NewChunks(j.docs, j.starts, j.ends); err != nil {
		return err
	}
	if j.rule, err = spans.ParseRule(j.measure.Evidence); err != nil {
		return err
	}
	j.golds = make([]*gold, len(c.units))
	for i, units := range c.units {
		if j.golds[i], err = j.newGold(units); err != nil {
			return fmt.Errorf("case %s: %w", c.golden.Cases[i].ID, err)
		}
	}
	return nil
}

// score is how one query did.
type score struct {
	metrics ranking.Metrics
	ranked  []int // answers that the metrics counted, as indexes into the answer's ids: of a document, its best chunk
}

// score judges one answer against the evidence of its case. Metrics are NaN where the case has nothing relevant.
func (j *judge) score(units []datasets.Unit, answer arrowfile.Answer) (score, error) {
	if j.measure.Unit == unitDocument {
		return j.scoreDocuments(units, answer)
	}
	return j.scoreChunks(units, answer)
}

// scoreDocuments ranks a document where its best chunk ranks. A document's grade is the best of its evidence. Alternatives
// in several documents are one piece, which any of these holds.
func (j *judge) scoreDocuments(units []datasets.Unit, answer arrowfile.Answer) (score, error) {
	single := map[int]int{}   // document to index into grades
	gold := map[int32][]int{} // the same, with those of alternatives
	var grades []int
	for _, u := range units {
		docs := documentsIn(u.Spans, func(s datasets.Span) int { return s.Doc })
		if len(docs) == 1 {
			if i, ok := single[docs[0]]; ok {
				grades[i] = max(grades[i], u.Grade)
				continue
			}
			single[docs[0]] = len(grades)
		}
		for _, d := range docs {
			gold[int32(d)] = append(gold[int32(d)], len(grades))
		}
		grades = append(grades, u.Grade)
	}
	var sc score
	var items []ranking.Item
	seen := make(map[int32]bool, len(answer.IDs))
	for i, id := range answer.IDs {
		doc, err := j.document(id)
		if err != nil {
			return sc, err
		}
		if seen[doc] {
			continue
		}
		seen[doc] = true
		item := ranking.Item{}
		if g, ok := gold[doc]; ok {
			item.Held, item.Judged = g, true
		}
		items = append(items, item)
		sc.ranked = append(sc.ranked, i)
	}
	var err error
	sc.metrics, err = ranking.Evaluate(grades, items, j.measure.K, j.measure.RelevanceMin)
	return sc, err
}

// scoreChunks ranks chunks as they came. A chunk holds a unit of evidence that it overlaps, or contains, by the rule of
// the sweep; of a unit that is a whole document, any chunk is a holder.
func (j *judge) scoreChunks(units []datasets.Unit, answer arrowfile.Answer) (score, error) {
	grades := make([]int, len(units))
	for i, u := range units {
		grades[i] = u.Grade
	}
	var sc score
	items := make([]ranking.Item, len(answer.IDs))
	for i, id := range answer.IDs {
		if _, err := j.document(id); err != nil {
			return sc, err
		}
		for u := range units {
			if j.holds(id, units[u]) {
				items[i].Held = append(items[i].Held, u)
				items[i].Judged = true
			}
		}
		sc.ranked = append(sc.ranked, i)
	}
	var err error
	sc.metrics, err = ranking.Evaluate(grades, items, j.measure.K, j.measure.RelevanceMin)
	return sc, err
}

func (j *judge) document(id int64) (int32, error) {
	if id < 0 || id >= int64(len(j.docs)) {
		return 0, noSuchRow(id, len(j.docs))
	}
	return j.docs[id], nil
}

// noSuchRow is the failure of a cell whose engine answers with what is not there.
func noSuchRow(id int64, rows int) error {
	return &cellError{Status: "error", Msg: fmt.Sprintf("the engine answered with row %d, but there are %d", id, rows)}
}

// holds says whether chunk id holds the unit of evidence u.
func (j *judge) holds(id int64, u datasets.Unit) bool {
	doc, start, end := int(j.docs[id]), int(j.starts[id]), int(j.ends[id])
	for _, s := range u.Spans {
		if s.Doc != doc {
			continue
		}
		switch {
		case u.Whole:
			return true
		case j.measure.Evidence == evidenceContain:
			if start <= s.Start && s.End <= end {
				return true
			}
		case start < s.End && s.Start < end:
			return true
		}
	}
	return false
}

// noRecall marks a question without a place in ANN recall: where its vector is zero, every row is equally near.
var noRecall = recall.ANN{ByID: math.NaN()}

// annScores is the recall of every query against exact search, at each k, and, if theirs is not nil, puts that by the rule
// of ann-benchmarks there.
func annScores(e *embedding, exactly func(q int) ([]int64, []float64), ks []int, answers []arrowfile.Answer, theirs [][]float64) (perK [][]recall.ANN, err error) {
	base, err := vector.OpenFbin(e.base)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	queries, err := vector.OpenFbin(e.queries)
	if err != nil {
		return nil, err
	}
	defer queries.Close()
	perK = make([][]recall.ANN, len(ks))
	for i := range ks {
		perK[i] = make([]recall.ANN, len(answers))
		if theirs != nil {
			theirs[i] = make([]float64, len(answers))
		}
	}
	for q, a := range answers {
		if e.kind != nil && isZero(queries.Row(q)) {
			for i := range ks {
				perK[i][q] = noRecall
				if theirs != nil {
					theirs[i][q] = math.NaN()
				}
			}
			continue
		}
		if a.Error != "" {
			continue // scores zero
		}
		most := min(ks[len(ks)-1], len(a.IDs))
		distances := make([]float64, most)
		for i, id := range a.IDs[:most] {
			if id < 0 || id >= int64(base.Len()) {
				return nil, fmt.Errorf("query %d: %w", q, noSuchRow(id, base.Len()))
			}
			distances[i] = truth.Distance(e.metric, queries.Row(q), base.Row(int(id)))
		}
		ids, exact := exactly(q)
		for i, k := range ks {
			perK[i][q] = recall.Query(ids, exact, a.IDs[:most], distances, k)
			if theirs != nil {
				theirs[i][q] = recall.AnnBenchmarks(e.metric, exact, distances, k)
			}
		}
	}
	return perK, nil
}

// judgementDigest changes when answers would be scored against something else.
func judgementDigest(f *file.File, c *corpus) (string, error) {
	raw, err := json.Marshal(struct {
		Units  [][]datasets.Unit
		Cases  []datasets.Case
		Judged bool
		Wanted any `json:",omitempty"`
	}{c.units, withoutPlaces(c.golden.Cases), c.golden.Judged, c.access.digest(c, f)})
	if err != nil {
		return "", err
	}
	return string(cas.Hash(string(raw))), nil
}

// withoutPlaces drops what moving or re-ordering files changes and scoring does not depend on.
func withoutPlaces(cases []datasets.Case) []datasets.Case {
	bare := make([]datasets.Case, len(cases))
	for i, c := range cases {
		bare[i] = datasets.Case{ID: c.ID, Query: c.Query, Unanswerable: c.Unanswerable, Scenario: c.Scenario, Difficulty: c.Difficulty, Filter: c.Filter}
	}
	return bare
}
