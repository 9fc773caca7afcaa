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

// Merge makes one unit of each group of alternatives: it is found where any of them is. units are those of the evidence of
// the case, in its order; the result is shorter where there are groups.
func (c *Case) Merge(units []Unit) []Unit {
	if !slices.ContainsFunc(c.Evidence, func(e Evidence) bool { return e.Group != "" }) {
		return units
	}
	at := map[string]int{}
	var merged []Unit
	for i, u := range units {
		group := c.Evidence[i].Group
		first, known := at[group]
		if group == "" || !known {
			if group != "" {
				at[group] = len(merged)
			}
			merged = append(merged, Unit{Spans: append([]Span(nil), u.Spans...), Grade: u.Grade, Whole: u.Whole})
			continue
		}
		merged[first].Spans = append(merged[first].Spans, u.Spans...)
	}
	return merged
}
