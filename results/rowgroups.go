package results

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// storageOrder is the order in which rows are stored in row groups of so many. Few rows fill one row group and stay as they are. Many are
// gathered by engine and, within one, by recall, so that a reader who asks for engine = 'faiss' AND recall_at_10 > 0.95
// skips most row groups. Recall is that at the largest k, against judgements where there are any: it goes up and down
// with that at the other k. Nulls come first. The order is stable.
func storageOrder(rows []Row, size int) []int {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	if len(rows) <= size {
		return order
	}
	recall := recallColumn(rows)
	slices.SortStableFunc(order, func(a, b int) int {
		if c := cmp.Compare(rows[a].Text("engine"), rows[b].Text("engine")); c != 0 {
			return c
		}
		x, okX := rows[a].Number(recall)
		y, okY := rows[b].Number(recall)
		if okX != okY {
			if okY {
				return -1
			}
			return 1
		}
		return cmp.Compare(x, y)
	})
	return order
}

// recallColumn is the column of recall by which rows are best told apart.
func recallColumn(rows []Row) string {
	ks := Cutoffs(rows)
	if len(ks) == 0 {
		return ""
	}
	judged := withCutoff("recall_at_K", ks[len(ks)-1])
	if slices.ContainsFunc(rows, func(r Row) bool { return r[judged] != nil }) {
		return judged
	}
	return "ann_" + judged
}

// WriteRowBatches is WriteRows for more rows than memory holds. Each batch becomes one row group, in its order; some
// ten thousand rows are a good size. cutoffs are all k that any row has, ascending; a row with another one is an error.
// An error from batches ends the writing, and leaves path as it was.
func WriteRowBatches(path string, cutoffs []int, batches iter.Seq2[[]Row, error]) error {
	c := newCatalogue()
	fields := c.expand(cutoffs)
	names := make(map[string]bool, len(fields))
	for _, f := range fields {
		names[f.name] = true
	}
	check := func(rows []Row) error {
		for i, r := range rows {
			if err := c.check(r); err != nil {
				return fmt.Errorf("row %d (point %q): %w", i, r.Text("point_id"), err)
			}
			for name := range r {
				if !names[name] {
					return fmt.Errorf("row %d (point %q): column %q has a cut-off that was not announced", i, r.Text("point_id"), name)
				}
			}
		}
		return nil
	}
	return writeBatches(path, fields, func(yield func(batch, error) bool) {
		for rows, err := range batches {
			if err == nil {
				err = check(rows)
			}
			if !yield(batch{len(rows), cellsOf(rows, fields)}, err) {
				return
			}
		}
	})
}

// cellsOf looks values up, except in columns that no row has: most columns of a file are such.
func cellsOf(rows []Row, fields []field) func(row, field int) any {
	index := make(map[string]int, len(fields))
	for f := range fields {
		index[fields[f].name] = f
	}
	has := make([]bool, len(fields))
	for _, r := range rows {
		for name := range r {
			if f, ok := index[name]; ok {
				has[f] = true
			}
		}
	}
	return func(row, field int) any {
		if !has[field] {
			return nil
		}
		return rows[row][fields[field].name]
	}
}
