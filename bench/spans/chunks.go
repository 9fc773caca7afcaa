package spans

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// Chunks is all chunks of a corpus, ordered so that those at a place are found without looking at the others. It is safe
// for concurrent use.
type Chunks struct {
	spans   []Span  // in order of document and start
	ids     []int32 // of each, the row as the caller counts
	reach   []int32 // of each, the greatest end of its document's chunks up to it
	offsets []int   // of each document, its first chunk; one more at the end
}

// NewChunks takes the document and the range of every chunk, whose id is its index. The slices are not kept. Slices of
// different lengths and ranges that are none are errors.
func NewChunks(docs, starts, ends []int32) (*Chunks, error) {
	if len(starts) != len(docs) || len(ends) != len(docs) {
		return nil, fmt.Errorf("chunks for span scoring: %d documents, %d starts and %d ends", len(docs), len(starts), len(ends))
	}
	c := &Chunks{spans: make([]Span, len(docs)), ids: make([]int32, len(docs)), reach: make([]int32, len(docs))}
	most := int32(-1)
	for i := range docs {
		s := Span{Doc: int(docs[i]), Start: int(starts[i]), End: int(ends[i])}
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("chunks for span scoring: chunk %d: %w", i, err)
		}
		c.ids[i] = int32(i)
		most = max(most, docs[i])
	}
	slices.SortFunc(c.ids, func(a, b int32) int {
		return cmp.Or(cmp.Compare(docs[a], docs[b]), cmp.Compare(starts[a], starts[b]), cmp.Compare(a, b))
	})
	c.offsets = make([]int, int(most)+2)
	for i, id := range c.ids {
		c.spans[i] = Span{Doc: int(docs[id]), Start: int(starts[id]), End: int(ends[id])}
		c.reach[i] = ends[id]
		if i > 0 && c.spans[i-1].Doc == c.spans[i].Doc {
			c.reach[i] = max(c.reach[i], c.reach[i-1])
		}
		c.offsets[docs[id]+1] = i + 1
	}
	for d := 1; d < len(c.offsets); d++ {
		c.offsets[d] = max(c.offsets[d], c.offsets[d-1]) // documents without chunks
	}
	return c, nil
}

// Len is the number of chunks.
func (c *Chunks) Len() int { return len(c.spans) }

// of is the range of the document's chunks within c.spans.
func (c *Chunks) of(doc int) (first, end int) {
	if doc < 0 || doc+1 >= len(c.offsets) {
		return 0, 0
	}
	return c.offsets[doc], c.offsets[doc+1]
}

// touching calls yield with the places in c.spans of the chunks that overlap s.
func (c *Chunks) touching(s Span, yield func(i int)) {
	first, end := c.of(s.Doc)
	reach := c.reach[first:end]
	first += sort.Search(len(reach), func(i int) bool { return int(reach[i]) > s.Start })
	for i := first; i < end && c.spans[i].Start < s.End; i++ {
		if c.spans[i].End > s.Start {
			yield(i)
		}
	}
}

// Holders appends to dst the ids of the chunks that hold u by the rule, ascending and each once.
func (c *Chunks) Holders(dst []int, u Unit, rule Rule) []int {
	from := len(dst)
	for _, s := range u.Spans {
		if u.Whole {
			first, end := c.of(s.Doc)
			for _, id := range c.ids[first:end] {
				dst = append(dst, int(id))
			}
			continue
		}
		c.touching(s, func(i int) {
			if rule == Overlap || c.spans[i].contains(s) {
				dst = append(dst, int(c.ids[i]))
			}
		})
	}
	added := dst[from:]
	slices.Sort(added)
	return dst[:from+len(slices.Compact(added))]
}

// Ceiling is the best that any retriever could do for one query on these chunks.
type Ceiling struct {
	// Omega is the score when every chunk that touches gold is retrieved and nothing else: its Precision is PrecisionOmega
	// of chunking_evaluation, and its Recall is below 1 where the chunker leaves gold out.
	Omega Score
	Held  int // units that some chunk holds by the rule
	Units int
}

// Recall is the evidence recall of a perfect retriever: Held/Units; NaN without units.
func (c Ceiling) Recall() float64 { return float64(c.Held) / float64(c.Units) }

// Ceiling measures the gold of one query. Of a unit with several spans Omega takes the one that chunks cover best, of
// equals the one with the shortest chunks, then the first.
func (c *Chunks) Ceiling(g *Gold, rule Rule) Ceiling {
	out := Ceiling{Units: len(g.units)}
	var ids []int
	for _, u := range g.units {
		if ids = c.Holders(ids[:0], u, rule); len(ids) > 0 {
			out.Held++
		}
	}
	chosen := slices.Clone(g.fixed)
	for _, places := range g.choices {
		chosen = append(chosen, c.easiest(places))
	}
	chosen = union(chosen)
	var places []int
	for _, s := range chosen {
		c.touching(s, func(i int) { places = append(places, i) })
	}
	slices.Sort(places)
	places = slices.Compact(places)
	all := make([]Span, len(places))
	for i, place := range places {
		all[i] = c.spans[place]
		out.Omega.Retrieved += all[i].Len()
	}
	out.Omega.Gold = length(chosen)
	out.Omega.Found = shared(union(all), chosen)
	return out
}

// easiest is the one of places that is the cheapest to retrieve as a whole.
func (c *Chunks) easiest(places []Span) Span {
	var first Span
	most, least := -1.0, 0
	for _, s := range places {
		var chunks []Span
		retrieved := 0
		c.touching(s, func(i int) {
			chunks = append(chunks, c.spans[i])
			retrieved += c.spans[i].Len()
		})
		share := float64(covered(s, union(chunks))) / float64(s.Len())
		if share > most || share == most && retrieved < least {
			first, most, least = s, share, retrieved
		}
	}
	return first
}
