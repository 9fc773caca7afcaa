package goldencheck

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The splits that mean something to a gate.
var knownSplits = []string{"dev", "release"}

// splits looks for documents that hold the evidence of more than one split: what was tuned on one would then be confirmed
// on itself.
func (c *checker) splits() {
	with := map[string]int{} // split to the first case of it
	without := 0
	counts := map[string]map[string]int{} // document, split: cases
	first := map[string]int{}             // document to the first case of it that does not have the split of the one before
	var order []string
	for i := range c.golden.Cases {
		k := &c.golden.Cases[i]
		if k.Split == "" {
			without++
			continue
		}
		if _, ok := with[k.Split]; !ok {
			with[k.Split] = i
		}
		for document := range c.documentsOf(i) {
			of := counts[document]
			if of == nil {
				of = map[string]int{}
				counts[document] = of
				order = append(order, document)
			}
			if of[k.Split]++; len(of) == 2 && of[k.Split] == 1 {
				first[document] = i
			}
		}
	}
	if len(with) == 0 {
		return
	}
	for _, document := range order {
		if len(counts[document]) < 2 {
			continue
		}
		var parts []string
		for _, split := range slices.Sorted(maps.Keys(counts[document])) {
			parts = append(parts, fmt.Sprintf("%d cases of %s", counts[document][split], split))
		}
		c.about(first[document], Fault, KindSplit, fmt.Sprintf("document %q is the evidence of %s", document, strings.Join(parts, " and ")),
			"put all cases of a document into one split, or what is tuned on one is confirmed on itself")
	}
	if without > 0 {
		c.find(Finding{
			Severity: Warning, Kind: KindSplit, File: c.golden.Files[0], Message: fmt.Sprintf("%d of %d cases are in no split", without, len(c.golden.Cases)),
			Hint: "give each case a split, or none",
		})
	}
	for _, split := range slices.Sorted(maps.Keys(with)) {
		if !slices.Contains(knownSplits, split) {
			c.about(with[split], Warning, KindSplit, fmt.Sprintf("the split %q is neither %s", split, strings.Join(knownSplits, " nor ")),
				"cases to tune on are dev, those to confirm on are release")
		}
	}
}

// documentsOf are the documents that hold relevant evidence of a case.
func (c *checker) documentsOf(i int) map[string]bool {
	documents := map[string]bool{}
	for _, e := range c.golden.Cases[i].Evidence {
		if e.Relevance >= c.o.RelevanceMin {
			documents[e.DocumentID] = true
		}
	}
	return documents
}

// A document is too prominent if more than one in prominent answerable cases are about it, of at least fewCases.
const (
	prominent = 4
	fewCases  = 12
)

// concentration looks for documents that a large part of the questions are about.
func (c *checker) concentration() {
	if c.report.Answerable < fewCases {
		return
	}
	about := map[string]int{}
	for i := range c.golden.Cases {
		for document := range c.documentsOf(i) {
			about[document]++
		}
	}
	for _, document := range slices.Sorted(maps.Keys(about)) {
		if n := about[document]; n*prominent > c.report.Answerable {
			c.find(Finding{
				Severity: Warning, Kind: KindConcentration, File: c.golden.Files[0],
				Message: fmt.Sprintf("%d of %d answerable cases have evidence in document %q", n, c.report.Answerable, document),
				Hint:    "spread the questions, or you measure that document",
			})
		}
	}
}
