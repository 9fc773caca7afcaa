package results

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// maxRowsPerByte bounds the rows that a file may claim. Runs of equal values pack well, but each row of ours holds an
// id of its own; a file far beyond the bound is damaged, and believing it would exhaust memory.
const maxRowsPerByte = 64

// maxPageHeader bounds the header of a page, which holds two values at most; looking for the end of a damaged one
// beyond that is slow.
const maxPageHeader = 1 << 20

// tableReader receives the content of a Parquet file.
type tableReader struct {
	columnType func(name string) (t Type, known bool)
	skip       func(name string) bool            // columns that are known and not wanted; nil is none
	required   string                            // a column without which the file is of another kind
	grow       func(rows int)                    // so many rows follow
	set        func(row int, name string, v any) // of the column's Go type, and never null
}

// readParquet reads the file at path and returns the names of the columns that are not known, sorted.
//
// It decodes columns itself, from the library's column chunks, in the calling goroutine: the library's own conversion
// to Arrow runs in goroutines that nobody can recover, and takes a damaged file for an empty one.
func readParquet(ctx context.Context, path string, t tableReader) (unknown []string, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err // the caller names the file
		}
		return nil, err
	}
	return decodeParquet(ctx, raw, t)
}

func decodeParquet(ctx context.Context, raw []byte, t tableReader) (unknown []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			unknown, err = nil, fmt.Errorf("the file is damaged: %v", p)
		}
	}()
	f, err := openParquet(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	columns, unknown, err := topColumns(f.MetaData().Schema, t, int64(len(raw)))
	if err != nil {
		return nil, err
	}
	base := 0
	for g := range f.NumRowGroups() {
		group := f.RowGroup(g)
		rows := int(group.NumRows())
		t.grow(rows)
		for _, c := range columns {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := c.read(group, rows, func(row int, v any) { t.set(base+row, c.name, v) }); err != nil {
				return nil, fmt.Errorf("row group %d, column %q: %w", g, c.name, err)
			}
		}
		base += rows
	}
	return unknown, nil
}

// refusePointer is an error for the few bytes that Git LFS and git-annex leave in place of a file's content.
func refusePointer(raw []byte) error {
	for _, kind := range []struct{ magic, tool, remedy string }{
		{"version https://git-lfs", "Git LFS", "git lfs pull"},
		{"/annex/objects/", "git-annex", "git annex get"},
	} {
		if bytes.HasPrefix(raw, []byte(kind.magic)) {
			return fmt.Errorf("this is a large-file pointer (%s) in place of the data; run: %s", kind.tool, kind.remedy)
		}
	}
	return nil
}

// checkCounts compares the row counts of the parts with the whole and with the size of the file.
func checkCounts(f *file.Reader, size int64) error {
	total := f.NumRows()
	if total < 0 || total > size*maxRowsPerByte {
		return fmt.Errorf("the file is damaged: %d bytes cannot hold the %d rows that it claims", size, total)
	}
	sum := int64(0)
	for g := range f.NumRowGroups() {
		n := f.MetaData().RowGroups[g].GetNumRows()
		if n < 0 || n > total-sum {
			return fmt.Errorf("the file is damaged: row group %d claims %d rows of %d", g, n, total)
		}
		sum += n
	}
	if sum != total {
		return fmt.Errorf("the file is damaged: its row groups hold %d rows, its footer says %d", sum, total)
	}
	return nil
}

// column is a top-level column of a file with the leaves that hold it: one, or the two of a map.
type column struct {
	name   string
	typ    Type
	leaves []int
	scale  func(int64) time.Time // of timestamps
	// nullable says that a whole list or map may be null.
	nullable bool
	fileSize int64 // of the file that holds it
}

// topColumns finds the known columns in the schema of a file and checks that their shape is what their type needs.
func topColumns(s *schema.Schema, t tableReader, size int64) (columns []column, unknown []string, err error) {
	root := s.Root()
	leavesOf := map[string][]int{}
	for i := range s.NumColumns() {
		name := s.Column(i).ColumnPath()[0]
		leavesOf[name] = append(leavesOf[name], i)
	}
	found := false
	for i := range root.NumFields() {
		name := root.Field(i).Name()
		typ, known := t.columnType(name)
		if !known {
			unknown = append(unknown, name)
			continue
		}
		if t.skip != nil && t.skip(name) {
			continue
		}
		if slices.ContainsFunc(columns, func(c column) bool { return c.name == name }) {
			return nil, nil, fmt.Errorf("column %q is there twice", name)
		}
		c := column{name: name, typ: typ, leaves: leavesOf[name], fileSize: size}
		if err := c.checkShape(s); err != nil {
			return nil, nil, fmt.Errorf("column %q: %w", name, err)
		}
		columns = append(columns, c)
		found = found || name == t.required
	}
	if !found {
		return nil, nil, fmt.Errorf("there is no column %q, so this is not a file of that kind", t.required)
	}
	slices.Sort(unknown)
	return columns, unknown, nil
}

func (c *column) checkShape(s *schema.Schema) error {
	leaves, repetition := 1, int16(0)
	var physical []parquet.Type
	switch c.typ {
	case String, Bytes:
		physical = []parquet.Type{parquet.Types.ByteArray}
	case Int, Time:
		physical = []parquet.Type{parquet.Types.Int64}
	case Float:
		physical = []parquet.Type{parquet.Types.Double}
	case Bool:
		physical = []parquet.Type{parquet.Types.Boolean}
	case Strings:
		physical, repetition = []parquet.Type{parquet.Types.ByteArray}, 1
	case float32s:
		physical, repetition = []parquet.Type{parquet.Types.Float}, 1
	case FloatMap:
		physical, repetition, leaves = []parquet.Type{parquet.Types.ByteArray, parquet.Types.Double}, 1, 2
	}
	if len(c.leaves) != leaves {
		return fmt.Errorf("it has %d leaves, a %s has %d", len(c.leaves), c.typ, leaves)
	}
	for i, leaf := range c.leaves {
		d := s.Column(leaf)
		if d.PhysicalType() != physical[i] || d.MaxRepetitionLevel() != repetition {
			return fmt.Errorf("it is stored as %s with repetition level %d, a %s is stored as %s with %d", d.PhysicalType(), d.MaxRepetitionLevel(), c.typ, physical[i], repetition)
		}
		if err := c.checkNesting(s, d); err != nil {
			return err
		}
	}
	if c.typ == Time {
		return c.setScale(s.Column(c.leaves[0]))
	}
	return nil
}

// checkNesting checks that the definition levels of a leaf mean what the decoder takes them for: null or value in a
// scalar; null list, empty list, null value or value in a list or map.
func (c *column) checkNesting(s *schema.Schema, d *schema.Column) error {
	if d.MaxDefinitionLevel() == 0 {
		return errors.New("it is required; frontier writes columns that may be null")
	}
	if d.MaxRepetitionLevel() == 0 {
		if len(d.ColumnPath()) != 1 {
			return fmt.Errorf("it is a group, not a %s", c.typ)
		}
		return nil
	}
	top := s.Root().Field(s.Root().FieldIndexByName(c.name)).RepetitionType()
	c.nullable = top == parquet.Repetitions.Optional
	levels := int16(1)
	if c.nullable {
		levels++
	}
	if d.SchemaNode().RepetitionType() == parquet.Repetitions.Optional {
		levels++
	}
	if top == parquet.Repetitions.Repeated || d.MaxDefinitionLevel() != levels || len(d.ColumnPath()) != 3 {
		return fmt.Errorf("it is nested in a way that a %s is not", c.typ)
	}
	return nil
}

// setScale finds the unit of a timestamp; other tools rewrite our microseconds as they like.
func (c *column) setScale(d *schema.Column) error {
	logical, ok := d.LogicalType().(*schema.TimestampLogicalType)
	if !ok {
		return fmt.Errorf("it is a %s, not a timestamp", d.LogicalType())
	}
	switch logical.TimeUnit() {
	case schema.TimeUnitMillis:
		c.scale = func(n int64) time.Time { return time.UnixMilli(n).UTC() }
	case schema.TimeUnitNanos:
		c.scale = func(n int64) time.Time { return time.Unix(0, n).UTC() }
	default:
		c.scale = func(n int64) time.Time { return time.UnixMicro(n).UTC() }
	}
	return nil
}

// openChunk opens a column chunk behind a check of its pages.
func openChunk(group *file.RowGroupReader, leaf int, d *schema.Column) (file.ColumnChunkReader, error) {
	pages, err := group.GetColumnPageReader(leaf)
	if err != nil {
		return nil, err
	}
	pages.SetMaxPageHeaderSize(maxPageHeader)
	checked := &checkedPages{PageReader: pages, column: d}
	return file.NewColumnReader(d, checked, memory.DefaultAllocator, nil), nil
}
