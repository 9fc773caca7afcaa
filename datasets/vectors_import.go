package datasets

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"unsafe"

	"frontier/internal/vector"
)

// Audit counts what is odd in a set of vectors without being an error.
type Audit struct {
	Rows int
	// Zero is the number of rows in which every value is zero: they have no direction, so a cosine means nothing.
	Zero int
	// Duplicates is the number of rows that equal an earlier one, value by value: they tie in every ranking. It is
	// counted by 64-bit hashes, 8 bytes a row; two different rows are taken for equal with a chance of about
	// Rows^2 / 2^65 in all, which is 3e-8 for a million rows and 3% for a billion.
	Duplicates int
	// Counting lists columns (from 0) whose value grows by exactly one from each row to the next: almost surely row
	// ids that were saved beside the coordinates. Nothing is reported for fewer than 16 rows.
	Counting []int
}

const countingRows = 16

// Import streams all rows of r to the end of w, which must have been created for r's dimension, and audits them. A
// value that is NaN or infinite is an error that names row and column. It stops with the cause of ctx when that is
// done. It does not close w.
func Import(ctx context.Context, r VectorReader, w *vector.Writer) (Audit, error) {
	rows, before := r.Len(), w.Len()
	row := make([]float32, r.Dim())
	hashes := make([]uint64, 0, rows)
	seed := maphash.MakeSeed()
	var audit Audit
	var counting countingColumns
	for i := range rows {
		if i%256 == 0 && ctx.Err() != nil {
			return audit, fmt.Errorf("importing vectors: stopped at row %d of %d: %w", i, rows, context.Cause(ctx))
		}
		if err := r.Read(i, row); err != nil {
			return audit, err
		}
		if col := notFinite(row); col >= 0 {
			return audit, &Error{
				Msg: fmt.Sprintf("row %d, column %d (from 0) is %v", i, col, row[col]), Hint: "vectors must be finite; remove or repair this row",
			}
		}
		if err := w.Append(row); err != nil {
			return audit, fmt.Errorf("importing vectors: writing row %d: %w", i, err)
		}
		if got := w.Len() - before; got != i+1 {
			return audit, fmt.Errorf("importing vectors: a row of %d values made %d rows: the writer was created for another dimension", len(row), got-i)
		}
		counting.add(i, row)
		zero := true
		for j, v := range row {
			row[j] = v + 0 // -0 equals 0, so their bits must be equal too
			zero = zero && v == 0
		}
		if zero {
			audit.Zero++
		}
		hashes = append(hashes, maphash.Bytes(seed, floatBytes(row)))
		audit.Rows++
	}
	slices.Sort(hashes)
	audit.Duplicates = len(hashes) - len(slices.Compact(hashes))
	if audit.Rows >= countingRows {
		audit.Counting = counting.columns
	}
	return audit, nil
}

// floatBytes is the memory of values, for hashing within this process only.
func floatBytes(values []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 4*len(values))
}

// countingColumns keeps the columns that have counted up so far. A few rows leave next to none.
type countingColumns struct {
	columns []int
	last    []float32 // of columns, in the row before
}

func (c *countingColumns) add(i int, row []float32) {
	if i == 0 {
		for col, v := range row {
			c.columns, c.last = append(c.columns, col), append(c.last, v)
		}
		return
	}
	kept := 0
	for k, col := range c.columns {
		if row[col] == c.last[k]+1 && row[col] != c.last[k] {
			c.columns[kept], c.last[kept] = col, row[col]
			kept++
		}
	}
	c.columns, c.last = c.columns[:kept], c.last[:kept]
}
