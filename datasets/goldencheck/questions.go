package goldencheck

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"frontier/datasets"
)

// questions looks for questions that are asked twice, or nearly so. Who may see different documents asks another question
// with the same words.
func (c *checker) questions(ctx context.Context) error {
	cases := c.golden.Cases
	gold := make([]string, len(cases))
	asked := map[string]int{} // question and filter to the first case that has it
	texts := make([]string, len(cases))
	for i := range cases {
		gold[i] = goldOf(&cases[i])
		texts[i] = cases[i].Query
		key := fold(cases[i].Query) + "\x00" + filterOf(&cases[i])
		first, ok := asked[key]
		if !ok {
			asked[key] = i
			continue
		}
		where := fmt.Sprintf("case %q asks what %q on line %d asks", cases[i].ID, cases[first].ID, cases[first].Line)
		switch {
		case gold[first] == gold[i]:
			c.about(i, Warning, KindDuplicate, where, "keep one: each question counts, and so should each need")
		case cases[first].Unanswerable != cases[i].Unanswerable:
			c.about(i, Fault, KindConflict, where+", and only one of them is unanswerable", "nothing that a system does is right for both: correct one of them")
		default:
			// Not a fault: a list with the evidence of both has all of either.
			c.about(i, Warning, KindConflict, where+", and has other gold", "make one case of them with the evidence of both, or word the difference")
		}
	}
	near, err := NearDuplicates(ctx, texts)
	if err != nil {
		return fmt.Errorf("checking a golden set: look for near-duplicates: %w", err)
	}
	for _, p := range near {
		a, b := &cases[p.First], &cases[p.Second]
		if p.Jaccard == 1 && fold(a.Query) == fold(b.Query) {
			continue // told above, or asked under another filter
		}
		message := fmt.Sprintf("case %q asks nearly what %q on line %d asks (Jaccard similarity %.2f): %.80q and %.80q", b.ID, a.ID, a.Line, p.Jaccard, b.Query, a.Query)
		if gold[p.First] != gold[p.Second] {
			message += "; their gold differs"
		}
		c.about(p.Second, Warning, KindNearDuplicate, message, "each question counts, and so should each need: keep one, or make sure that they are two")
	}
	return nil
}

// goldOf is equal for two cases if what is right for one is right for the other.
func goldOf(c *datasets.Case) string {
	if c.Unanswerable {
		return datasets.Unanswerable
	}
	var all []string
	for _, pieces := range c.Alternatives() {
		var unit []string
		for _, i := range pieces {
			if e := c.Evidence[i]; e.Relevance > 0 {
				unit = append(unit, fmt.Sprintf("%q", []any{e.DocumentID, e.SectionID, e.Text, fmt.Sprint(e.HasSpan, e.Start, e.End, e.Relevance)}))
			}
		}
		if len(unit) > 0 {
			slices.Sort(unit)
			all = append(all, strings.Join(unit, " or "))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func filterOf(c *datasets.Case) string {
	var b strings.Builder
	for _, field := range slices.Sorted(maps.Keys(c.Filter)) {
		fmt.Fprintf(&b, "%q=%q ", field, c.Filter[field])
	}
	return b.String()
}
