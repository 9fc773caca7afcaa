package sweep

import (
	"fmt"
	"math"
	"slices"

	"frontier/bench/spans"
	"frontier/datasets"
)

// gold is the relevant evidence of one case, ready to be scored against one chunking.
type gold struct {
	places *spans.Gold // where it stands
	narrow bool        // some of it is less than a whole document
	// ceiling is the share that the best retriever could find on these chunks, by the rule of evidence.
	ceiling float64
	// counted is what recall counts: the units of evidence, or the documents that have any.
	counted []spans.Unit
	holders []int  // of each that is counted, the chunks that hold it
	missing []bool // no chunk is of any document of it
}

// newGold prepares the evidence of a case; nil if it has none that is relevant.
func (j *judge) newGold(units []datasets.Unit) (*gold, error) {
	g := &gold{}
	var relevant []spans.Unit
	for _, u := range units {
		if u.Grade < j.measure.RelevanceMin {
			continue
		}
		relevant = append(relevant, spanUnit(u))
		g.narrow = g.narrow || !u.Whole
	}
	if len(relevant) == 0 {
		return nil, nil
	}
	var err error
	if g.places, err = spans.NewGold(relevant); err != nil {
		return nil, err
	}
	g.ceiling = j.chunks.Ceiling(g.places, j.rule).Recall()
	g.counted = relevant
	if j.measure.Unit == unitDocument {
		g.counted = documentsOf(relevant)
	}
	for _, u := range g.counted {
		g.holders = append(g.holders, len(j.chunks.Holders(nil, u, j.rule)))
		whole := spans.Unit{Spans: u.Spans, Whole: true}
		g.missing = append(g.missing, len(j.chunks.Holders(nil, whole, j.rule)) == 0)
	}
	return g, nil
}

func spanUnit(u datasets.Unit) spans.Unit {
	out := spans.Unit{Whole: u.Whole}
	for _, s := range u.Spans {
		out.Spans = append(out.Spans, spans.Span{Doc: s.Doc, Start: s.Start, End: s.End})
	}
	return out
}

// documentsOf are the distinct documents of units, in their order, each as a whole. Alternatives in several documents stay
// alternatives.
func documentsOf(units []spans.Unit) []spans.Unit {
	var whole []spans.Unit
	seen := map[int]bool{}
	for _, u := range units {
		docs := documentsIn(u.Spans, func(s spans.Span) int { return s.Doc })
		if len(docs) == 1 && seen[docs[0]] {
			continue
		}
		one := spans.Unit{Whole: true}
		for _, d := range docs {
			one.Spans = append(one.Spans, spans.Span{Doc: d})
		}
		if len(docs) == 1 {
			seen[docs[0]] = true
		}
		whole = append(whole, one)
	}
	return whole
}

// documentsIn are the distinct documents of spans, in their order.
func documentsIn[S any](all []S, doc func(S) int) []int {
	var docs []int
	for _, s := range all {
		if d := doc(s); !slices.Contains(docs, d) {
			docs = append(docs, d)
		}
	}
	return docs
}

// ranked are the chunks of an answer as places.
func (j *judge) ranked(ids []int64) ([]spans.Span, error) {
	out := make([]spans.Span, len(ids))
	for i, id := range ids {
		if _, err := j.document(id); err != nil {
			return nil, err
		}
		out[i] = spans.Span{Doc: int(j.docs[id]), Start: int(j.starts[id]), End: int(j.ends[id])}
	}
	return out, nil
}

// counting is what k counts of a ranking: its chunks, or of each document the first.
func (j *judge) counting(ranked []spans.Span) []spans.Span {
	if j.measure.Unit != unitDocument {
		return ranked
	}
	seen := make(map[int]bool, len(ranked))
	return slices.DeleteFunc(slices.Clone(ranked), func(s spans.Span) bool {
		again := seen[s.Doc]
		seen[s.Doc] = true
		return again
	})
}

// spanValues are the metrics of text: how much of the evidence the first k chunks cover, and how much of them is
// evidence. They count chunks whatever the unit, for it is chunks that are read.
func (j *judge) spanValues(values map[string]float64, g *gold, ranked []spans.Span) error {
	if !g.narrow || j.lengthless {
		return nil // of whole documents, coverage says how long the documents are
	}
	scores, err := g.places.Score(ranked, j.measure.K)
	if err != nil {
		return err
	}
	if !j.partial {
		values["span_ceiling"] = g.ceiling
	}
	for i, k := range j.measure.K {
		for name, v := range map[string]float64{
			"span_recall": scores[i].Recall(), "span_precision": scores[i].Precision(), "span_iou": scores[i].IoU(),
		} {
			if !math.IsNaN(v) {
				values[fmt.Sprintf("%s_at_%d", name, k)] = v
			}
		}
	}
	return nil
}
