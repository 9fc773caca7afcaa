package results

import (
	"fmt"
	"io"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
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
	schema := arrowSchema(fields)
	return writeAtomically(path, func(w io.Writer) error { return encodeChecked(w, schema, fields, rows, value) })
}

// encodeChecked is encodeParquet with honest errors: of a failed write the library makes a nil dereference, or nothing.
func encodeChecked(w io.Writer, schema *arrow.Schema, fields []field, rows int, value func(row, field int) any) error {
	first := &firstError{w: w}
	err := encodeGuarded(first, schema, fields, rows, value)
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
func encodeGuarded(w io.Writer, schema *arrow.Schema, fields []field, rows int, value func(row, field int) any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding Parquet: %v", p)
		}
	}()
	return encodeParquet(w, schema, fields, rows, value)
}

func encodeParquet(w io.Writer, schema *arrow.Schema, fields []field, rows int, value func(row, field int) any) error {
	props := parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithDictionaryDefault(true),
		parquet.WithStats(true),
		parquet.WithCreatedBy("frontier"),
	)
	// The writer closes what it is given when it can; the caller has yet to sync it.
	fw, err := pqarrow.NewFileWriter(schema, struct{ io.Writer }{w}, props, pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for start := 0; start < rows; start += rowGroupRows {
		end := min(start+rowGroupRows, rows)
		for f := range fields {
			for row := start; row < end; row++ {
				if err := appendValue(b.Field(f), value(row, f)); err != nil {
					return fmt.Errorf("row %d, column %q: %w", row, fields[f].name, err)
				}
			}
		}
		rec := b.NewRecord()
		err := fw.Write(rec)
		rec.Release()
		if err != nil {
			return fmt.Errorf("rows %d to %d: %w", start, end, err)
		}
	}
	return fw.Close()
}

func arrowSchema(fields []field) *arrow.Schema {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		out[i] = arrow.Field{Name: f.name, Type: arrowType(f.typ), Nullable: true}
	}
	meta := arrow.NewMetadata([]string{schemaKey}, []string{schemaVersion})
	return arrow.NewSchema(out, &meta)
}

func arrowType(t Type) arrow.DataType {
	switch t {
	case Int:
		return arrow.PrimitiveTypes.Int64
	case Float:
		return arrow.PrimitiveTypes.Float64
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Time:
		return arrow.FixedWidthTypes.Timestamp_us // in UTC
	case Strings:
		return arrow.ListOf(arrow.BinaryTypes.String)
	case float32s:
		return arrow.ListOf(arrow.PrimitiveTypes.Float32)
	case Bytes:
		return arrow.BinaryTypes.Binary
	case FloatMap:
		return arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Float64)
	}
	return arrow.BinaryTypes.String
}

// appendValue appends v, or null for nil. Row.Check has seen the types already; a mismatch here is an error all the
// same, since it would shift a column against the others.
func appendValue(b array.Builder, v any) error {
	if v == nil {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		if s, ok := v.(string); ok {
			b.Append(s)
			return nil
		}
	case *array.Int64Builder:
		if n, ok := v.(int64); ok {
			b.Append(n)
			return nil
		}
	case *array.Float64Builder:
		if f, ok := v.(float64); ok {
			b.Append(f)
			return nil
		}
	case *array.BooleanBuilder:
		if x, ok := v.(bool); ok {
			b.Append(x)
			return nil
		}
	case *array.TimestampBuilder:
		if t, ok := v.(time.Time); ok {
			b.Append(arrow.Timestamp(t.UnixMicro()))
			return nil
		}
	case *array.BinaryBuilder:
		if raw, ok := v.([]byte); ok {
			b.Append(raw)
			return nil
		}
	case *array.MapBuilder:
		if m, ok := v.(map[string]float64); ok {
			b.Append(true)
			for _, key := range sortedKeys(m) {
				b.KeyBuilder().(*array.StringBuilder).Append(key)
				b.ItemBuilder().(*array.Float64Builder).Append(m[key])
			}
			return nil
		}
	case *array.ListBuilder:
		switch list := v.(type) {
		case []string:
			b.Append(true)
			b.ValueBuilder().(*array.StringBuilder).AppendValues(list, nil)
			return nil
		case []float32:
			b.Append(true)
			b.ValueBuilder().(*array.Float32Builder).AppendValues(list, nil)
			return nil
		}
	}
	return fmt.Errorf("a value of type %T does not fit", v)
}
