package sweep

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"frontier/bench/spans"
	"frontier/chunkers"
	"frontier/internal/cas"
	"frontier/results/arrowfile"
)

// readContext is what of an answer a reader would see: the first chunks that fit into the budget.
type readContext struct {
	spans.Context
	held []bool // of the units that k counts, those of which it has a chunk
}

// prepareTokens counts the tokens of each chunk, which a budget of context is spent on. Titles are a matter of the index
// and are not counted.
func (r *runner) prepareTokens(ctx context.Context, ch *chunking, detail string) error {
	stage := cas.Stage{Name: "chunk-tokens", Version: 1, Inputs: []cas.Key{ch.key}}
	art, err := r.do(ctx, "chunk-tokens", detail, stage, func(_ context.Context, dir string) error {
		var tokens []int
		for c, err := range arrowfile.Chunks(ch.path) {
			if err != nil {
				return err
			}
			n, err := chunkers.CountTokens(c.Text)
			if err != nil {
				return fmt.Errorf("count the tokens of chunk %d: %w", len(tokens), err)
			}
			tokens = append(tokens, n)
		}
		return writeJSON(filepath.Join(dir, "tokens.json"), tokens)
	})
	if err != nil {
		return err
	}
	return readJSON(art.Path("tokens.json"), &ch.tokens)
}

// fit is how many of the first chunks of an answer fit into the context.
func (j *judge) fit(ids []int64) (chunks, used int) {
	tokens := make([]int, len(ids))
	for i, id := range ids {
		tokens[i] = j.tokens[id]
	}
	return spans.Fit(tokens, j.measure.ContextTokens)
}

// inContext scores what fits into the context; nil if the sweep has no budget.
func (j *judge) inContext(g *gold, ids []int64, ranked []spans.Span) (*readContext, error) {
	if j.measure.ContextTokens == 0 {
		return nil, nil
	}
	tokens := make([]int, len(ids))
	for i, id := range ids {
		tokens[i] = j.tokens[id]
	}
	within, err := g.places.Within(ranked, tokens, j.measure.ContextTokens, j.rule)
	if err != nil {
		return nil, err
	}
	c := &readContext{Context: within, held: make([]bool, len(g.counted))}
	for i, rank := range j.rule.Ranks(ranked[:within.Chunks], g.counted) {
		c.held[i] = rank > 0
	}
	return c, nil
}

// contextValues are the metrics of the context that fits.
func contextValues(values map[string]float64, g *gold, c *readContext) {
	if c == nil {
		return
	}
	held := 0
	for _, h := range c.held {
		if h {
			held++
		}
	}
	values["recall_at_budget"] = float64(held) / float64(len(c.held))
	values["context_tokens_used"] = float64(c.Tokens)
	if !g.narrow {
		return
	}
	for name, v := range map[string]float64{"span_recall_at_budget": c.Recall(), "span_precision_at_budget": c.Precision()} {
		if !math.IsNaN(v) {
			values[name] = v
		}
	}
}

// factRecall is the share of the expected facts of each case that stand in its context, NaN for a case without facts. The
// texts are read from the chunk file in one pass, and only those that are needed are kept.
func (j *judge) factRecall(facts [][]string, answers []arrowfile.Answer) ([]float64, error) {
	shares := make([]float64, len(answers))
	needed := map[int64]string{}
	for q, a := range answers {
		shares[q] = math.NaN()
		if len(facts[q]) == 0 {
			continue
		}
		n, _ := j.fit(a.IDs)
		for _, id := range a.IDs[:n] {
			needed[id] = ""
		}
	}
	id := int64(0)
	for c, err := range arrowfile.Chunks(j.path) {
		if err != nil {
			return nil, err
		}
		if _, ok := needed[id]; ok {
			needed[id] = c.Text
		}
		id++
	}
	for q, a := range answers {
		f := spans.NewFacts(facts[q])
		if f.Len() == 0 {
			continue
		}
		n, _ := j.fit(a.IDs)
		var texts []string
		for _, id := range a.IDs[:n] {
			texts = append(texts, needed[id])
		}
		shares[q] = float64(f.Found(texts)) / float64(f.Len())
	}
	return shares, nil
}

// facts are the expected facts of every case; nil if nothing is to be looked for.
func (r *runner) facts() [][]string {
	if r.corpus == nil || r.file.Measure.ContextTokens == 0 {
		return nil
	}
	all := make([][]string, len(r.corpus.golden.Cases))
	for i := range r.corpus.golden.Cases {
		all[i] = r.corpus.golden.Cases[i].Facts
	}
	if !slices.ContainsFunc(all, func(f []string) bool { return len(f) > 0 }) {
		return nil
	}
	return all
}
