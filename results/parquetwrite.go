package results

import (
	"fmt"
	"io"
	"iter"

	"frontier/internal/atomicfile"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// float32s is the type of scores in the query files; no column of results.parquet has it.
const float32s Type = 100

// field is a column of a file.
type field struct {
	name string
	typ  Type
}

// rowGroupRows is how many rows are built in memory before they are written. Readers skip whole row groups by the
// smallest and largest value that each has of a column, and decode several at once.
const rowGroupRows = 16 << 10

// batch is some rows of a file that is being written: one row group. value gives the value of a row and a field, or nil
// for null; it must be of the field's Go type.
type batch struct {
	rows  int
	value func(row, field int) any
}

// batchesOf divides rows into batches of so many.
func batchesOf(rows, size int, value func(row, field int) any) iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		for start := 0; start < rows; start += size {
			shifted := func(row, field int) any { return value(start+row, field) }
			if !yield(batch{min(size, rows-start), shifted}, nil) {
				return
			}
		}
	}
}

// writeParquet writes rows x fields values to path, atomically.
func writeParquet(path string, fields []field, rows int, value func(row, field int) any) error {
	return writeBatches(path, fields, batchesOf(rows, rowGroupRows, value))
}

func writeBatches(path string, fields []field, batches iter.Seq2[batch, error]) error {
	return atomicfile.Write(path, func(w io.Writer) error { return encodeChecked(w, fields, batches) })
}

// encodeChecked is encodeParquet with honest errors: of a failed write the library makes a nil dereference, or nothing.
func encodeChecked(w io.Writer, fields []field, batches iter.Seq2[batch, error]) error {
	first := &firstError{w: w}
	err := encodeGuarded(first, fields, batches)
	if first.err != nil {
		return first.err
	}
	return err
}

// firstError keeps the first error of a writer, and writes nothing after it.
type firstError struct {
	w   io.Writer
	err error
}

func (f *firstError) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.w.Write(p)
	f.err = err
	return n, err
}

// encodeGuarded is encodeParquet without panics: the library reports some faults of encoding by them.
func encodeGuarded(w io.Writer, fields []field, batches iter.Seq2[batch, error]) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding Parquet: %v", p)
		}
	}()
	return encodeParquet(w, fields, batches)
}

// encodeParquet writes columns by the library's column writers rather than through Arrow records: that spares the
// binary the Arrow compute kernels, a third of its compile time, for the few types that there are.
func encodeParquet(w io.Writer, fields []field, batches iter.Seq2[batch, error]) error {
	root, err := parquetSchema(fields)
	if err != nil {
		return err
	}
	meta := metadata.NewKeyValueMetadata()
	if err := meta.Append(schemaKey, SchemaVersion()); err != nil {
		return err
	}
	fw := file.NewParquetWriter(struct{ io.Writer }{w}, root, file.WithWriteMetadata(meta), file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithDictionaryDefault(true),
		parquet.WithStats(true),
		parquet.WithCreatedBy("frontier"),
	))) // the writer closes what it is given when it can; the caller has yet to sync it
	written := 0
	for b, err := range batches {
		if err != nil {
			return err
		}
		if err := writeGroup(fw.AppendRowGroup(), fields, b); err != nil {
			return fmt.Errorf("the row group from row %d: %w", written, err)
		}
		written += b.rows
	}
	return fw.Close()
}

func writeGroup(group file.SerialRowGroupWriter, fields []field, b batch) error {
	for f := range fields {
		values := func(yield func(row int, v any) bool) {
			for row := range b.rows {
				if !yield(row, b.value(row, f)) {
					return
				}
			}
		}
		if err := writeColumn(group, fields[f].typ, values); err != nil {
			return fmt.Errorf("column %q: %w", fields[f].name, err)
		}
	}
	return group.Close()
}

// parquetSchema is the schema of the file: every column can be null.
func parquetSchema(fields []field) (*schema.GroupNode, error) {
	nodes := make(schema.FieldList, len(fields))
	for i, f := range fields {
		node, err := columnNode(f)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.name, err)
		}
		nodes[i] = node
	}
	return schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)
}

func columnNode(f field) (schema.Node, error) {
	optional, required := parquet.Repetitions.Optional, parquet.Repetitions.Required
	text := func(name string, rep parquet.Repetition) (schema.Node, error) {
		return schema.NewPrimitiveNodeLogical(name, rep, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)
	}
	switch f.typ {
	case Int:
		return schema.NewInt64Node(f.name, optional, -1), nil
	case Float:
		return schema.NewFloat64Node(f.name, optional, -1), nil
	case Bool:
		return schema.NewBooleanNode(f.name, optional, -1), nil
	case Bytes:
		return schema.NewByteArrayNode(f.name, optional, -1), nil
	case Time:
		return schema.NewPrimitiveNodeLogical(f.name, optional, schema.NewTimestampLogicalType(true, schema.TimeUnitMicros), parquet.Types.Int64, 0, -1)
	case float32s:
		return schema.ListOfWithName(f.name, schema.NewFloat32Node("element", optional, -1), optional, -1)
	case Strings:
		element, err := text("element", optional)
		if err != nil {
			return nil, err
		}
		return schema.ListOfWithName(f.name, element, optional, -1)
	case FloatMap:
		key, err := text("key", required)
		if err != nil {
			return nil, err
		}
		return schema.MapOf(f.name, key, schema.NewFloat64Node("value", optional, -1), optional, -1)
	}
	return text(f.name, optional)
}
