package results

import (
	"fmt"
	"iter"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// The definition levels of a column that may be null, and of one that holds lists of what may be null itself: how much
// of the path to the value is there. See the Parquet format, "Nested Encoding".
const (
	levelNull  = 0
	levelValue = 1 // of a scalar column

	levelEmpty    = 1 // of a list: it is there and has no elements
	levelElement  = 3 // of a list or of the values of a map
	levelRequired = 2 // of the keys of a map, which cannot be null
)

// nextRow says that a value begins a new row; the other elements of a list have sameRow.
const (
	nextRow = 0
	sameRow = 1
)

// leaf gathers one column of a row group: its values, and the levels that say where they belong.
type leaf[V any] struct {
	values     []V
	definition []int16
	repetition []int16 // of lists
}

func (l *leaf[V]) null(nested bool) { l.level(levelNull, nested) }

func (l *leaf[V]) level(definition int16, nested bool) {
	l.definition = append(l.definition, definition)
	if nested {
		l.repetition = append(l.repetition, nextRow)
	}
}

// list appends the elements of one row.
func (l *leaf[V]) list(elements []V, definition int16) {
	if len(elements) == 0 {
		l.level(levelEmpty, true)
		return
	}
	for i := range elements {
		l.definition = append(l.definition, definition)
		repetition := int16(sameRow)
		if i == 0 {
			repetition = nextRow
		}
		l.repetition = append(l.repetition, repetition)
	}
	l.values = append(l.values, elements...)
}

// batchWriter is what the library's typed column writers have in common.
type batchWriter[V any] interface {
	WriteBatch(values []V, definition, repetition []int16) (int64, error)
	Close() error
}

// write writes the leaf as the next column of the row group.
func (l *leaf[V]) write(group file.SerialRowGroupWriter) error {
	next, err := group.NextColumn()
	if err != nil {
		return err
	}
	w, ok := next.(batchWriter[V])
	if !ok {
		return fmt.Errorf("the library has a %T for values of type %T", next, l.values)
	}
	if _, err := w.WriteBatch(l.values, l.definition, l.repetition); err != nil {
		return err
	}
	return w.Close()
}

// writeColumn writes the values of one column, in row order; nil is null. Row.Check has seen the types already; a value
// of another type is an error all the same, since it would shift a column against the others.
func writeColumn(group file.SerialRowGroupWriter, typ Type, values iter.Seq2[int, any]) error {
	switch typ {
	case Int:
		return writeScalars(group, values, func(v int64) int64 { return v })
	case Float:
		return writeScalars(group, values, func(v float64) float64 { return v })
	case Bool:
		return writeScalars(group, values, func(v bool) bool { return v })
	case Time:
		return writeScalars(group, values, time.Time.UnixMicro)
	case Bytes:
		return writeScalars(group, values, func(v []byte) parquet.ByteArray { return v })
	case Strings:
		return writeLists(group, values, func(v string) parquet.ByteArray { return parquet.ByteArray(v) })
	case float32s:
		return writeLists(group, values, func(v float32) float32 { return v })
	case FloatMap:
		return writeMaps(group, values)
	}
	return writeScalars(group, values, func(v string) parquet.ByteArray { return parquet.ByteArray(v) })
}

func writeScalars[G, V any](group file.SerialRowGroupWriter, values iter.Seq2[int, any], stored func(G) V) error {
	var l leaf[V]
	for row, v := range values {
		if v == nil {
			l.null(false)
			continue
		}
		given, ok := v.(G)
		if !ok {
			return misfit(row, v)
		}
		l.values = append(l.values, stored(given))
		l.level(levelValue, false)
	}
	return l.write(group)
}

func writeLists[G, V any](group file.SerialRowGroupWriter, values iter.Seq2[int, any], stored func(G) V) error {
	var l leaf[V]
	var elements []V
	for row, v := range values {
		if v == nil {
			l.null(true)
			continue
		}
		given, ok := v.([]G)
		if !ok {
			return misfit(row, v)
		}
		elements = elements[:0]
		for _, g := range given {
			elements = append(elements, stored(g))
		}
		l.list(elements, levelElement)
	}
	return l.write(group)
}

// writeMaps writes the two columns of a map: its keys, sorted, and its values.
func writeMaps(group file.SerialRowGroupWriter, values iter.Seq2[int, any]) error {
	var keys leaf[parquet.ByteArray]
	var numbers leaf[float64]
	for row, v := range values {
		if v == nil {
			keys.null(true)
			numbers.null(true)
			continue
		}
		given, ok := v.(map[string]float64)
		if !ok {
			return misfit(row, v)
		}
		var names []parquet.ByteArray
		var figures []float64
		for _, key := range sortedKeys(given) {
			names = append(names, parquet.ByteArray(key))
			figures = append(figures, given[key])
		}
		keys.list(names, levelRequired)
		numbers.list(figures, levelElement)
	}
	if err := keys.write(group); err != nil {
		return err
	}
	return numbers.write(group)
}

func misfit(row int, v any) error {
	return fmt.Errorf("row %d: a value of type %T does not fit", row, v)
}
