package compare

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// WriteCard writes an experiment card in Markdown: what was expected, what was changed, what was checked, what came of
// it, which questions changed, and the decision. decision is what a gate said; "" leaves it open.
func (c *Comparison) WriteCard(w io.Writer, decision string, cases int) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# Experiment: %s\n\n", Escape(c.title()))
	fmt.Fprintf(out, "## Hypothesis\n\n%s\n\n", orElse(Escape(c.hypothesis()), "None was stated; the key `hypothesis` of the sweep file holds it."))
	c.cardChanges(out)
	c.cardChecks(out)
	fmt.Fprint(out, "## Differences\n\n")
	if len(c.Lines) == 0 {
		fmt.Fprint(out, "No point is in both.\n")
	} else {
		c.sheet().markdown(out)
	}
	fmt.Fprint(out, "\n## Questions that changed\n")
	if len(c.changed()) == 0 {
		fmt.Fprint(out, "\nNone.\n")
	}
	c.changedMarkdown(out, cases)
	fmt.Fprintf(out, "\n## Decision\n\n%s\n", orElse(decision, c.summary()+" No policy was given, so the decision is open; `--policy` lets a gate make it."))
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the experiment card: %w", err)
	}
	return nil
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (c *Comparison) title() string {
	for _, s := range c.Matching.New.Sources {
		if s.Manifest.Name != "" {
			return s.Manifest.Name
		}
	}
	return c.Matching.New.Name
}

// hypothesis is what NEW's sweep file says to expect.
func (c *Comparison) hypothesis() string {
	for _, s := range c.Matching.New.Sources {
		if text := strings.TrimSpace(s.Manifest.Hypothesis); text != "" {
			return text
		}
	}
	return ""
}

func (c *Comparison) cardChanges(w *bufio.Writer) {
	fmt.Fprint(w, "## What changed\n\n")
	some := false
	for _, r := range c.Residue {
		if r.Kind == Parameter {
			fmt.Fprintf(w, "* %s\n", Escape(r.String()))
			some = true
		}
	}
	base, next := c.Only()
	if len(base) > 0 {
		fmt.Fprintf(w, "* only in BASE: %s\n", Escape(Abridged(base, 10)))
	}
	if len(next) > 0 {
		fmt.Fprintf(w, "* only in NEW: %s\n", Escape(Abridged(next, 10)))
	}
	if !some && len(base)+len(next) == 0 {
		fmt.Fprint(w, "No parameter differs.\n")
	}
	fmt.Fprintln(w)
}

// cardChecks says what the comparison rests on, and what else differs.
func (c *Comparison) cardChecks(w *bufio.Writer) {
	fmt.Fprint(w, "## What was checked\n\n")
	both := 0
	for _, p := range c.Matching.Pairs {
		if p.Base != nil && p.New != nil {
			both++
		}
	}
	fmt.Fprintf(w, "* BASE is %s, NEW is %s; %d points are in both, matched by %s\n", Escape(c.Matching.Base.Name), Escape(c.Matching.New.Name), both, Escape(c.Matching.By()))
	if n := len(c.Matching.New.Cases); n > 0 {
		fmt.Fprintf(w, "* %d questions, paired\n", n)
	}
	fmt.Fprintf(w, "* intervals at %g%%; findings hold after Holm's correction over all %d differences\n", math.Round(c.Confidence*1e4)/100, len(c.Lines))
	for _, kind := range []Kind{Data, Judgement, Machine, Environment} {
		same := true
		for _, r := range c.Residue {
			if r.Kind == kind {
				fmt.Fprintf(w, "* %s differs: %s\n", kind, Escape(r.String()))
				same = false
			}
		}
		if same && kind != Environment {
			fmt.Fprintf(w, "* %s: the same\n", kind)
		}
	}
	for _, text := range c.Warnings {
		fmt.Fprintf(w, "* %s\n", Escape(text))
	}
	fmt.Fprintln(w)
}

// summary says what was found, and at how many points.
func (c *Comparison) summary() string {
	found := map[Finding]map[string]int{Better: {}, Worse: {}}
	points := map[string]int{}
	for i := range c.Lines {
		l := &c.Lines[i]
		text := l.Metric.Name
		if len(l.Slice) > 0 {
			text += " (" + l.Slice.String() + ")"
		}
		points[text]++
		if found[l.Finding] != nil {
			found[l.Finding][text]++
		}
	}
	var parts []string
	for _, f := range []Finding{Better, Worse} {
		var names []string
		for _, text := range sortedKeys(found[f]) {
			names = append(names, fmt.Sprintf("%s at %d of %d points", text, found[f][text], points[text]))
		}
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf("Shown to be %s: %s.", f, Escape(Abridged(names, 8))))
		}
	}
	if len(parts) == 0 {
		return "Nothing was shown to be better or worse."
	}
	return strings.Join(parts, " ")
}
