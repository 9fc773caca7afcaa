package truth

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"frontier/internal/vector"

	"golang.org/x/sync/errgroup"
)

// Audit is what is odd in the rows of a base without being an error.
type Audit struct {
	Rows int `json:"rows"` // looked at
	// Zero rows have no direction: their cosine distance to everything is 1.
	Zero         int   `json:"zero"`
	ZeroExamples []int `json:"zero_examples,omitempty"`
	// Duplicates are rows that equal an earlier one of the same shard, among the DuplicateShare-th part of all values
	// that was looked at: 1 for all, a power of two where the memory did not suffice for all. They are counted by 64-bit
	// hashes, by which two different rows are taken for equal with a chance of about Rows^2 / 2^65; the examples, pairs
	// of an earlier and a later row, were compared value by value.
	Duplicates        int      `json:"duplicates"`
	DuplicateShare    int      `json:"duplicate_share"`
	DuplicateExamples [][2]int `json:"duplicate_examples,omitempty"`
	// QueryRows are rows that equal a query, value by value; the examples are pairs of a query and a row.
	QueryRows     int      `json:"query_rows"`
	QueryExamples [][2]int `json:"query_examples,omitempty"`
	// Shards is how many shards were audited one by one: duplicates in two of them are not seen.
	Shards int `json:"shards"`
}

// auditExamples is how many rows of each kind an audit names.
const auditExamples = 10

// Warnings tells what the audit found, each with what to do about it.
func (a *Audit) Warnings(m vector.Metric) []string {
	var w []string
	if a.Zero > 0 {
		text := fmt.Sprintf("%d of %d base rows are zero (rows %v)", a.Zero, a.Rows, a.ZeroExamples)
		if m == vector.Cosine {
			text += "; cosine cannot rank them, and their distance is taken for 1; remove them"
		} else {
			text += "; remove them if they stand for something that could not be embedded"
		}
		w = append(w, text)
	}
	if a.Duplicates > 0 {
		count := fmt.Sprint(a.Duplicates)
		if a.DuplicateShare > 1 {
			count = fmt.Sprintf("about %d (%d in a sample of 1 in %d)", a.Duplicates*a.DuplicateShare, a.Duplicates, a.DuplicateShare)
		}
		within := ""
		if a.Shards > 1 {
			within = " in the same shard"
		}
		w = append(w, fmt.Sprintf("%s of %d base rows repeat an earlier one%s (earlier and later rows %v); they tie in every ranking, so compare answers by distance and not by id alone",
			count, a.Rows, within, a.DuplicateExamples))
	}
	if a.QueryRows > 0 {
		w = append(w, fmt.Sprintf("%d base rows equal a query (queries and rows %v); an answer that is the question itself says little about an index, so take the queries out of the base, or know why not",
			a.QueryRows, a.QueryExamples))
	}
	return w
}

// mergeAudits adds up the audits of shards; nil if one of them has none.
func mergeAudits(shards []Header) *Audit {
	sum := Audit{Shards: len(shards)}
	for _, h := range shards {
		if h.Audit == nil {
			return nil
		}
		sum.DuplicateShare = max(sum.DuplicateShare, h.Audit.DuplicateShare)
	}
	duplicates := 0
	for _, h := range shards {
		a := h.Audit
		sum.Rows += a.Rows
		sum.Zero += a.Zero
		sum.QueryRows += a.QueryRows
		duplicates += a.Duplicates * a.DuplicateShare
		sum.ZeroExamples = first(append(sum.ZeroExamples, a.ZeroExamples...))
		sum.DuplicateExamples = first(append(sum.DuplicateExamples, a.DuplicateExamples...))
		sum.QueryExamples = first(append(sum.QueryExamples, a.QueryExamples...))
	}
	// Rounded up, for none at all would say that there are none.
	sum.Duplicates = (duplicates + sum.DuplicateShare - 1) / sum.DuplicateShare
	return &sum
}

func first[T any](all []T) []T { return all[:min(len(all), auditExamples)] }

// maxAuditEntries bounds the rows that an audit without a limit on memory remembers: 1 GiB, and twice that while they
// are thinned out.
const maxAuditEntries = 1 << 26

// auditBytes is what a remembered row takes, in a table that is half to three quarters full and may be copied.
const auditBytes = 2 * 16

// audit reads the rows [from, to) of the base once, before the search.
func (s *Search) audit(ctx context.Context, from, to int, plan Plan) (*Audit, error) {
	entries := maxAuditEntries
	if s.Memory > 0 {
		spare := s.Memory - plan.Total() + plan.Candidates - int64(s.Queries.Len())*querySetBytes
		entries = int(min(max(spare/auditBytes, 1<<10), maxAuditEntries))
	}
	known := newQuerySet(s.Queries)
	seen := newRowTable(to-from, entries)
	a := &Audit{Rows: to - from, Shards: 1}
	var pairs [][2]int
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	blocks, release := readAhead(reading, s.Base, from, to, plan.BufferRows)
	defer func() {
		stop()
		for range blocks { // until the reader is done with its source
		}
	}()
	now := s.now()
	start := now()
	dim := s.Base.Dim()
	hashes, zero := make([]uint64, plan.BufferRows), make([]bool, plan.BufferRows)
	for {
		block, ok := <-blocks
		if !ok {
			break
		}
		if block.err != nil {
			return nil, block.err
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("stopped at row %d of the audit, which is not saved: %w", block.from, err)
		}
		rows, err := vector.NewMatrix(block.values, dim)
		if err != nil {
			return nil, err
		}
		if err := s.hashRows(ctx, rows, block.from, hashes, zero); err != nil {
			return nil, err
		}
		for i := range rows.Len() {
			row := block.from + i
			if zero[i] {
				a.Zero++
				a.ZeroExamples = first(append(a.ZeroExamples, row))
			}
			if earlier, again := seen.add(hashes[i], row); again {
				pairs = first(append(pairs, [2]int{earlier, row}))
			}
			if q, equal := known.find(hashes[i], rows.Row(i)); equal {
				a.QueryRows++
				a.QueryExamples = first(append(a.QueryExamples, [2]int{q, row}))
			}
		}
		if s.Progress != nil {
			s.Progress(Progress{Auditing: true, Rows: block.from - from + rows.Len(), Total: to - from, Elapsed: now().Sub(start)})
		}
		release <- block.values[:cap(block.values)]
	}
	a.Duplicates, a.DuplicateShare = seen.repeats()
	one, other := make([]float32, dim), make([]float32, dim)
	for _, pair := range pairs {
		if err := errors.Join(s.Base.ReadRows(pair[0], one), s.Base.ReadRows(pair[1], other)); err != nil {
			return nil, err
		}
		if slices.Equal(one, other) {
			a.DuplicateExamples = append(a.DuplicateExamples, pair)
		}
	}
	return a, nil
}

// hashRows hashes the rows of a block on all workers, and checks them.
func (s *Search) hashRows(ctx context.Context, rows *vector.Matrix, from int, hashes []uint64, zero []bool) error {
	var g errgroup.Group
	g.SetLimit(workersOr(s.Workers))
	for _, part := range spans(rows.Len(), minShardRows) {
		g.Go(func() error {
			if err := checkFinite("base", rows, part, int64(from)); err != nil {
				return err
			}
			for i := part.from; i < part.to; i++ {
				hashes[i], zero[i] = hashRow(rows.Row(i))
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// hashRow hashes the values of a row, -0 as 0, and says whether all are zero. It is the same everywhere.
func hashRow(row []float32) (hash uint64, zero bool) {
	const k0, k1 = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
	hash = k0 ^ uint64(len(row))
	any := uint32(0)
	for i := 0; i < len(row); i += 2 {
		a := float32bits(row[i])
		word := uint64(a)
		any |= a
		if i+1 < len(row) {
			b := float32bits(row[i+1])
			word |= uint64(b) << 32
			any |= b
		}
		hi, lo := bits.Mul64(hash^k1, word^k0)
		hash = hi ^ lo ^ bits.RotateLeft64(hash, 23) // what is multiplied by zero is not forgotten
	}
	return hash, any == 0
}
