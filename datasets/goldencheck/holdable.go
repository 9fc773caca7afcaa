package goldencheck

import (
	"context"
	"fmt"
	"slices"

	"frontier/bench/spans"
	"frontier/chunkers"
	"frontier/datasets"
)

// Held is how much of the relevant evidence one chunking could find.
type Held struct {
	Chunking string  `json:"chunking"`
	Rule     string  `json:"rule"`
	Held     int     `json:"held"`    // pieces of evidence that some chunk holds, alternatives as one
	Units    int     `json:"units"`   // pieces of evidence, alternatives as one
	Ceiling  float64 `json:"ceiling"` // mean over cases of the evidence recall of a perfect retriever
	// PrecisionOmega is the mean over cases of the span precision, in characters, when exactly the chunks that touch gold are
	// retrieved.
	PrecisionOmega float64 `json:"precision_omega"`
	Chunks         int     `json:"chunks"` // of the documents with evidence
	CharsP50       int     `json:"chars_p50"`
	CharsP95       int     `json:"chars_p95"`
}

// cut is a chunking of the documents that hold evidence.
type cut struct {
	docs, starts, ends []int32
	lengths            []int
}

// corpus looks for the evidence, and cuts the documents that hold it.
func (c *checker) corpus(ctx context.Context) error {
	wanted := map[string]bool{}
	for i := range c.golden.Cases {
		for _, e := range c.golden.Cases[i].Evidence {
			wanted[e.DocumentID] = true
		}
	}
	resolver := datasets.NewResolver(c.golden)
	cuts := make([]cut, len(c.o.Chunkings))
	var scratch []chunkers.Chunk
	n := 0
	for d, err := range c.o.Corpus.Documents(ctx) {
		if err != nil {
			return fmt.Errorf("checking a golden set: read the corpus: %w", err)
		}
		if err := resolver.Add(n, d); err != nil {
			return fmt.Errorf("checking a golden set: %w", err)
		}
		if wanted[d.ID] {
			for i, chunking := range c.o.Chunkings {
				if scratch, err = chunking.Chunker.Chunk(d.Text, scratch[:0]); err != nil {
					return fmt.Errorf("checking a golden set: cut document %q by %s: %w", d.ID, chunking.Name, err)
				}
				cuts[i].add(n, scratch)
			}
		}
		n++
	}
	units, faults := resolver.FinishAll()
	c.faults(KindEvidence, faults)
	if len(cuts) == 0 {
		return nil
	}
	return c.holdable(units, cuts)
}

func (k *cut) add(doc int, chunks []chunkers.Chunk) {
	for _, ch := range chunks {
		k.docs, k.starts, k.ends = append(k.docs, int32(doc)), append(k.starts, int32(ch.Start)), append(k.ends, int32(ch.End))
		k.lengths = append(k.lengths, ch.End-ch.Start)
	}
}

// holdable says which evidence each chunking holds, and which none does. pieces are the units of every piece of evidence;
// alternatives count as one.
func (c *checker) holdable(pieces [][]datasets.Unit, cuts []cut) error {
	units, held := make([][]datasets.Unit, len(pieces)), make([][]bool, len(pieces)) // held by any chunking
	for i := range pieces {
		units[i] = c.golden.Cases[i].Merge(pieces[i])
		held[i] = make([]bool, len(units[i]))
	}
	for i, k := range cuts {
		chunks, err := spans.NewChunks(k.docs, k.starts, k.ends)
		if err != nil {
			return fmt.Errorf("checking a golden set: %s: %w", c.o.Chunkings[i].Name, err)
		}
		row, err := c.heldBy(chunks, units, held)
		if err != nil {
			return err
		}
		sizes := spans.SizesOf(k.lengths)
		row.Chunking, row.Rule = c.o.Chunkings[i].Name, c.o.Rule.String()
		row.Chunks, row.CharsP50, row.CharsP95 = sizes.Chunks, sizes.P50, sizes.P95
		c.report.Chunkings = append(c.report.Chunkings, row)
	}
	for i := range units {
		alternatives := c.golden.Cases[i].Alternatives()
		for j, u := range units[i] {
			if !held[i][j] && c.counts(u) {
				c.unholdable(i, alternatives[j], pieces[i], len(cuts))
			}
		}
	}
	return nil
}

// unholdable is the finding that no chunk of any chunking holds any of the alternatives, which are pieces of case i.
func (c *checker) unholdable(i int, alternatives []int, pieces []datasets.Unit, chunkings int) {
	k := &c.golden.Cases[i]
	first := alternatives[slices.IndexFunc(alternatives, func(p int) bool { return len(pieces[p].Spans) > 0 })]
	e, span := k.Evidence[first], pieces[first].Spans[0]
	f := Finding{
		Severity: Warning, Kind: KindUnholdable, File: k.File, Line: e.Line, Case: k.ID,
		Message: fmt.Sprintf("case %q: no chunk of any of the %d chunkings holds the evidence in document %q, %d code points from %d on (rule %s)",
			k.ID, chunkings, e.DocumentID, span.End-span.Start, span.Start, c.o.Rule),
		Hint: "it is a miss whatever is retrieved: mark a shorter passage, add larger chunks to the sweep, or judge by overlap",
	}
	if len(alternatives) > 1 {
		f.Message += fmt.Sprintf(", nor any other of the group %q", e.Group)
	}
	if c.golden.Judged && len(c.golden.Files) > 1 {
		f.File = c.golden.Files[1]
	}
	c.find(f)
}

// counts says whether a unit was found in the corpus and is relevant.
func (c *checker) counts(u datasets.Unit) bool {
	return u.Grade >= c.o.RelevanceMin && len(u.Spans) > 0
}

// heldBy measures one chunking, and marks the units that it holds.
func (c *checker) heldBy(chunks *spans.Chunks, units [][]datasets.Unit, held [][]bool) (Held, error) {
	var row Held
	cases := 0
	var ids []int
	for i := range units {
		var relevant []spans.Unit
		for j, u := range units[i] {
			if !c.counts(u) {
				continue
			}
			unit := spans.Unit{Whole: u.Whole}
			for _, s := range u.Spans {
				unit.Spans = append(unit.Spans, spans.Span(s))
			}
			relevant = append(relevant, unit)
			ids = chunks.Holders(ids[:0], unit, c.o.Rule)
			held[i][j] = held[i][j] || len(ids) > 0
		}
		if len(relevant) == 0 {
			continue
		}
		gold, err := spans.NewGold(relevant)
		if err != nil {
			return row, fmt.Errorf("checking a golden set: case %q: %w", c.golden.Cases[i].ID, err)
		}
		ceiling := chunks.Ceiling(gold, c.o.Rule)
		row.Held += ceiling.Held
		row.Units += ceiling.Units
		row.Ceiling += ceiling.Recall()
		if ceiling.Omega.Gold > 0 {
			row.PrecisionOmega += ceiling.Omega.Precision()
		}
		cases++
	}
	if cases > 0 {
		row.Ceiling /= float64(cases)
		row.PrecisionOmega /= float64(cases)
	}
	return row, nil
}
