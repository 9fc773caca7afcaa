package cell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"frontier/embedders"
	"frontier/indexes"
	"frontier/indexes/hybrid"
	"frontier/internal/vector"
	"frontier/results/arrowfile"
)

// The stages of a text query, in the order in which their times are kept.
var stageNames = []string{"embed_query", "search", "fusion"}

// retriever is the whole way from a query to a ranked list: embed, search each part, fuse, and ask for more until
// enough documents are found. It is what a latency is the latency of.
type retriever struct {
	parts    []indexes.Index
	dense    []bool         // of each part: it needs the vector of the query
	vectors  *vector.Matrix // of the queries, where they are given
	queries  []string       // else the texts
	embedder embedders.Embedder

	docs      []int32 // of each row; nil if chunks are what counts
	documents int     // how many distinct documents are wanted
	least     int     // how many rows are wanted where documents do not count and rows are filtered
	depth     int     // how many rows are asked for first

	filters   *rowFilters        // nil if every query may get every row
	filtering []indexes.Filtered // of each part; nil where it cannot search among some rows
	names     []string           // of the engines of the parts
	acting    pointFilters       // at the point that is being measured

	fusion  hybrid.Fusion
	clients []*client
	answers []arrowfile.Answer // of the point that is being measured
}

// client is the scratch of one goroutine.
type client struct {
	vector []float32
	lists  [2][]indexes.Hit
	fuser  *hybrid.Fuser
	fused  []indexes.Hit
	hits   []indexes.Hit // one of the above
	asked  int
	stages [3]time.Duration
	seen   []uint32 // epoch at which a document was last seen
	epoch  uint32
	blank  bool // the query's vector is zero: the embedder knows no word of it
}

func (r *retriever) addClients(n int) {
	documents := 0
	if r.docs != nil {
		documents = int(slices.Max(r.docs)) + 1
	}
	for len(r.clients) < n {
		c := &client{fuser: hybrid.NewFuser()}
		if r.embedder != nil {
			c.vector = make([]float32, r.embedder.Dim())
		}
		c.seen = make([]uint32, documents)
		r.clients = append(r.clients, c)
	}
}

// Do answers one query; it is the timed part.
func (r *retriever) Do(cl, query int) error {
	c := r.clients[cl]
	q := indexes.Query{}
	start := time.Now()
	c.hits = c.hits[:0]
	switch {
	case r.vectors != nil:
		q.Vector = r.vectors.Row(query)
	case r.embedder != nil:
		q.Text = r.queries[query]
		if err := r.embedder.Embed(q.Text, c.vector); err != nil {
			return fmt.Errorf("embed the query: %w", err)
		}
		q.Vector = c.vector
		c.blank = isZero(c.vector)
	default:
		q.Text = r.queries[query]
	}
	searching := time.Now()
	c.stages = [3]time.Duration{searching.Sub(start)}
	for ask := r.depth; ; ask *= 2 {
		exhausted, err := r.search(c, query, q, ask)
		if err != nil {
			return err
		}
		c.asked = ask
		if exhausted || r.enough(c) {
			break
		}
	}
	if gain := of(r.acting.gain, query); gain != nil {
		lifting := time.Now()
		lift(c.hits, gain, r.acting.boost)
		c.stages[2] += time.Since(lifting)
	}
	return nil
}

// enough says whether what was found is as much as is wanted.
func (r *retriever) enough(c *client) bool {
	if r.docs == nil {
		return r.filters == nil || len(c.hits) >= r.least
	}
	return c.distinct(r.docs) >= r.documents
}

// search fills c.hits with at most ask rows and says whether asking for more can find nothing more.
func (r *retriever) search(c *client, query int, q indexes.Query, ask int) (exhausted bool, err error) {
	start := time.Now()
	exhausted = true
	for i := range r.parts {
		if c.blank && r.dense[i] {
			// Every row would be equally far, and what an engine happens to give first is no answer.
			c.lists[i] = c.lists[i][:0]
			continue
		}
		done, err := r.searchPart(c, i, query, q, ask)
		if err != nil {
			return false, err
		}
		exhausted = exhausted && done
	}
	searched := time.Now()
	c.stages[1] += searched.Sub(start)
	if r.fusion.Kind == "" {
		c.hits = c.lists[0]
		return exhausted, nil
	}
	if c.fused, err = r.fusion.Fuse(c.fuser, c.fused, c.lists[0], c.lists[1]); err != nil {
		return false, err
	}
	c.hits = c.fused[:min(ask, len(c.fused))]
	c.stages[2] += time.Since(searched)
	return exhausted, nil
}

func isZero(v []float32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}

// distinct counts the documents that the hits of c belong to.
func (c *client) distinct(docs []int32) int {
	c.epoch++
	n := 0
	for _, h := range c.hits {
		if d := docs[h.ID]; c.seen[d] != c.epoch {
			c.seen[d] = c.epoch
			n++
		}
	}
	return n
}

// Keep stores the client's last answer; it is not timed.
func (r *retriever) Keep(cl, query int, took time.Duration, err error) {
	c := r.clients[cl]
	a := arrowfile.Answer{Depth: int32(c.asked), Nanoseconds: took.Nanoseconds()}
	if err != nil {
		a.Error, a.TimedOut = err.Error(), errors.Is(err, context.DeadlineExceeded)
		r.answers[query] = a
		return
	}
	a.IDs = make([]int64, len(c.hits))
	a.Scores = make([]float32, len(c.hits))
	for i, h := range c.hits {
		a.IDs[i], a.Scores[i] = h.ID, h.Score
	}
	if len(r.parts) > 1 {
		for i := range r.parts {
			a.Lists = append(a.Lists, idsOf(c.lists[i]))
		}
	}
	if r.vectors == nil {
		a.Stages = make([]int64, len(c.stages))
		for i, d := range c.stages {
			a.Stages[i] = d.Nanoseconds()
		}
	}
	r.answers[query] = a
}

func idsOf(hits []indexes.Hit) []int64 {
	ids := make([]int64, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids
}
