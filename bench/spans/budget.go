package spans

import "fmt"

// Fit is how many of the first chunks of a ranking fit into a context of budget tokens, and how many tokens they take.
// tokens are those of each chunk, best first. The context ends at the first chunk that does not fit, even where a shorter
// one behind it would: skipping would reward a ranking for what it put last. A chunk is never cut. Text that chunks share
// counts in each of them, as it does in a prompt.
func Fit(tokens []int, budget int) (chunks, used int) {
	for _, n := range tokens {
		if n > budget-used {
			break
		}
		used += n
		chunks++
	}
	return chunks, used
}

// Context is what reaches a reader under a budget.
type Context struct {
	Score      // of the chunks that fit
	Chunks int // that fit
	Tokens int // that they take
	Held   int // units that any of them holds
	Units  int
}

// EvidenceRecall is Held/Units; NaN without units.
func (c Context) EvidenceRecall() float64 { return float64(c.Held) / float64(c.Units) }

// Within scores the chunks of a ranking that fit into a context of budget tokens, by the rule of Fit. tokens are those of
// each ranked chunk.
func (g *Gold) Within(ranked []Span, tokens []int, budget int, rule Rule) (Context, error) {
	if len(tokens) != len(ranked) {
		return Context{}, fmt.Errorf("context budget: %d chunks and the tokens of %d", len(ranked), len(tokens))
	}
	if budget < 1 {
		return Context{}, fmt.Errorf("context budget: %d tokens; give at least 1", budget)
	}
	c := Context{Units: len(g.units)}
	c.Chunks, c.Tokens = Fit(tokens, budget)
	if err := g.touch(ranked[:c.Chunks]); err != nil {
		return Context{}, err
	}
	c.Score = g.within(c.Chunks)
	for _, s := range ranked[:c.Chunks] {
		c.Retrieved += s.Len()
	}
	c.Held = rule.Held(ranked[:c.Chunks], g.units)
	return c, nil
}
