package datasets

import (
	"fmt"
	"slices"
)

// whole says that the evidence is a whole document.
func (e *Evidence) whole() bool { return !e.HasSpan && e.SectionID == "" && e.Text == "" }

// wrongGroup says what is wrong with the groups of a case, or "". Alternatives must be of one kind, for a whole document
// is held by any of its chunks and a part only by some; and of one relevance, for they say the same.
func wrongGroup(all []Evidence) string {
	first := map[string]*Evidence{}
	for i := range all {
		e := &all[i]
		if e.Group == "" {
			continue
		}
		before := first[e.Group]
		switch {
		case before == nil:
			first[e.Group] = e
		case before.whole() != e.whole():
			return fmt.Sprintf("group %q has a whole document and a part of one: alternatives must be of one kind", e.Group)
		case before.Relevance != e.Relevance:
			return fmt.Sprintf("group %q has the relevances %d and %d: alternatives say the same, and have one", e.Group, before.Relevance, e.Relevance)
		}
	}
	return ""
}

// Alternatives are the pieces of evidence of each unit, as indexes into Evidence: one, or those of a group. Units are in the
// order of their first pieces.
func (c *Case) Alternatives() [][]int {
	at := map[string]int{}
	var all [][]int
	for i, e := range c.Evidence {
		if first, known := at[e.Group]; known {
			all[first] = append(all[first], i)
			continue
		}
		if e.Group != "" {
			at[e.Group] = len(all)
		}
		all = append(all, []int{i})
	}
	return all
}

// Merge makes one unit of each group of alternatives: it is found where any of them is. units are those of the evidence of
// the case, in its order; the result is shorter where there are groups. Pieces without spans add nothing.
func (c *Case) Merge(units []Unit) []Unit {
	if !slices.ContainsFunc(c.Evidence, func(e Evidence) bool { return e.Group != "" }) {
		return units
	}
	var merged []Unit
	for _, pieces := range c.Alternatives() {
		var one Unit
		for _, i := range pieces {
			one.Spans = append(one.Spans, units[i].Spans...)
			one.Grade, one.Whole = max(one.Grade, units[i].Grade), one.Whole || units[i].Whole
		}
		merged = append(merged, one)
	}
	return merged
}
