package results

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// schemaVersion is what the files say under schemaKey. It grows when a column changes its meaning; new columns do not
// change it.
const (
	schemaKey     = "frontier.schema"
	schemaVersion = "1"
)

// float32s is the type of scores in the query files; no column of results.parquet has it.
const float32s Type = 100

// field is a column of a file.
type field struct {
	name string
	typ  Type
}

// rowGroupRows is how many rows are built in memory before they are written.
const rowGroupRows = 32 << 10

// writeParquet writes rows x fields values to path, atomically. value gives the value of a row and a field, or nil for
// null; it must be of the field's Go type.
func writeParquet(path string, fields []field, rows int, value func(row, field int) any) error {
	return writeAtomically(path, func(w io.Writer) error { return encodeChecked(w, fields, rows, value) })
}

// encodeChecked is encodeParquet with honest errors: of a failed write the library makes a nil dereference, or nothing.
func encodeChecked(w io.Writer, fields []field, rows int, value func(row, field int) any) error {
	first := &firstError{w: w}
	err := encodeGuarded(first, fields, rows, value)
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
func encodeGuarded(w io.Writer, fields []field, rows int, value func(row, field int) any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding Parquet: %v", p)
		}
	}()
	return encodeParquet(w, fields, rows, value)
}

// encodeParquet writes columns by the library's column writers rather than through Arrow records: that spares the
// binary the Arrow compute kernels, a third of its compile time, for the few types that there are.
func encodeParquet(w io.Writer, fields []field, rows int, value func(row, field int) any) error {
	root, err := parquetSchema(fields)
	if err != nil {
		return err
	}
	meta := metadata.NewKeyValueMetadata()
	if err := meta.Append(schemaKey, schemaVersion); err != nil {
		return err
	}
	fw := file.NewParquetWriter(struct{ io.Writer }{w}, root, file.WithWriteMetadata(meta), file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithDictionaryDefault(true),
		parquet.WithStats(true),
		parquet.WithCreatedBy("frontier"),
	))) // the writer closes what it is given when it can; the caller has yet to sync it
	for start := 0; start < rows; start += rowGroupRows {
		end := min(start+rowGroupRows, rows)
		group := fw.AppendRowGroup()
		for f := range fields {
			values := func(yield func(row int, v any) bool) {
				for row := start; row < end; row++ {
					if !yield(row, value(row, f)) {
						return
					}
				}
			}
			if err := writeColumn(group, fields[f].typ, values); err != nil {
				return fmt.Errorf("column %q: %w", fields[f].name, err)
			}
		}
		if err := group.Close(); err != nil {
			return fmt.Errorf("rows %d to %d: %w", start, end, err)
		}
	}
	return fw.Close()
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
