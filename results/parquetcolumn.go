package results

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// maxValuesPerByte bounds what a column chunk may claim, as maxRowsPerByte does for rows.
const maxValuesPerByte = 1024

// read decodes the column in one row group and emits the values that are not null.
func (c *column) read(group *file.RowGroupReader, rows int, emit func(row int, v any)) error {
	switch c.typ {
	case String:
		texts := map[string]string{} // most columns hold few distinct texts: share them
		return scalars[parquet.ByteArray](c, group, rows, func(row int, v parquet.ByteArray) error {
			s, err := text(texts, v)
			emit(row, s)
			return err
		})
	case Bytes:
		return scalars[parquet.ByteArray](c, group, rows, func(row int, v parquet.ByteArray) error {
			emit(row, append([]byte{}, v...))
			return nil
		})
	case Int:
		return scalars[int64](c, group, rows, func(row int, v int64) error { emit(row, v); return nil })
	case Time:
		return scalars[int64](c, group, rows, func(row int, v int64) error { emit(row, c.scale(v)); return nil })
	case Float:
		return scalars[float64](c, group, rows, func(row int, v float64) error {
			if err := checkNumber(v); err != nil {
				return fmt.Errorf("row %d: %w", row, errNotFinite)
			}
			emit(row, v)
			return nil
		})
	case Bool:
		return scalars[bool](c, group, rows, func(row int, v bool) error { emit(row, v); return nil })
	case Strings:
		texts := map[string]string{}
		return lists[parquet.ByteArray](c, group, 0, rows, func(row int, list []parquet.ByteArray) (err error) {
			out := make([]string, len(list))
			for i, v := range list {
				if out[i], err = text(texts, v); err != nil {
					return err
				}
			}
			emit(row, out)
			return nil
		})
	case float32s:
		return lists[float32](c, group, 0, rows, func(row int, list []float32) error {
			emit(row, append([]float32{}, list...))
			return nil
		})
	case FloatMap:
		return c.readMap(group, rows, emit)
	}
	return fmt.Errorf("there is no reader for %s", c.typ)
}

var errNotFinite = errors.New("the value is NaN or infinite, which frontier never writes")

func text(seen map[string]string, raw []byte) (string, error) {
	if s, ok := seen[string(raw)]; ok {
		return s, nil
	}
	if !utf8.Valid(raw) {
		return "", fmt.Errorf("the text %q is not valid UTF-8", raw)
	}
	s := string(raw)
	seen[s] = s
	return s, nil
}

func (c *column) readMap(group *file.RowGroupReader, rows int, emit func(row int, v any)) error {
	keys := make([][]string, rows)
	texts := map[string]string{}
	err := lists[parquet.ByteArray](c, group, 0, rows, func(row int, list []parquet.ByteArray) (err error) {
		keys[row] = make([]string, len(list))
		for i, v := range list {
			if keys[row][i], err = text(texts, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return lists[float64](c, group, 1, rows, func(row int, list []float64) error {
		if keys[row] == nil || len(keys[row]) != len(list) {
			return fmt.Errorf("row %d: the file is damaged: a map has %d keys and %d values", row, len(keys[row]), len(list))
		}
		m := make(map[string]float64, len(list))
		for i, v := range list {
			if err := checkNumber(v); err != nil {
				return fmt.Errorf("row %d: %w", row, errNotFinite)
			}
			m[keys[row][i]] = v
		}
		emit(row, m)
		return nil
	})
}

// maxBatch is how many levels are decoded at once, at most.
const maxBatch = 4096

// chunkReader is what the library's typed column readers have in common.
type chunkReader[T any] interface {
	HasNext() bool
	Err() error
	ReadBatch(n int64, values []T, definition, repetition []int16) (total int64, read int, err error)
}

// decode calls each with the levels and the values of the column chunk, batch by batch.
func decode[T any](c *column, group *file.RowGroupReader, leaf, rows int, each func(definition, repetition []int16, values []T) error) error {
	index := c.leaves[leaf]
	meta, err := group.MetaData().ColumnChunk(index)
	if err != nil {
		return err
	}
	claimed := meta.NumValues()
	descr := group.MetaData().Schema.Column(index)
	if err := checkClaim(claimed, rows, meta.TotalCompressedSize(), descr.MaxRepetitionLevel() > 0); err != nil {
		return err
	}
	if meta.TotalCompressedSize() > c.fileSize { // the library allocates what the footer claims
		return fmt.Errorf("the file is damaged: its %d bytes cannot hold the %d that it claims for the column", c.fileSize, meta.TotalCompressedSize())
	}
	opened, err := openChunk(group, index, descr)
	if err != nil {
		return err
	}
	r, ok := opened.(chunkReader[T])
	if !ok {
		return fmt.Errorf("its values are %s", descr.PhysicalType())
	}
	var (
		batch                  = min(claimed, maxBatch)
		values                 = make([]T, batch)
		definition, repetition = make([]int16, batch), make([]int16, batch)
		seen                   int64
	)
	for seen < claimed && r.HasNext() {
		total, read, err := r.ReadBatch(batch, values, definition, repetition)
		if err != nil {
			return err
		}
		present := 0
		for _, l := range definition[:total] {
			if l == descr.MaxDefinitionLevel() {
				present++
			}
		}
		if total == 0 || present != read {
			return fmt.Errorf("the file is damaged: a page holds %d values of %d", read, present)
		}
		seen += total
		if err := each(definition[:total], repetition[:total], values[:read]); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	if seen != claimed {
		return fmt.Errorf("the file is damaged: the pages hold %d values, the metadata says %d", seen, claimed)
	}
	return nil
}

func checkClaim(claimed int64, rows int, size int64, repeated bool) error {
	switch {
	case size < 0:
		return fmt.Errorf("the file is damaged: a size of %d bytes", size)
	case !repeated && claimed != int64(rows):
		return fmt.Errorf("the file is damaged: the column holds %d values, the row group %d rows", claimed, rows)
	case claimed < int64(rows) || (repeated && claimed-int64(rows) > size*maxValuesPerByte):
		return fmt.Errorf("the file is damaged: %d bytes cannot hold %d values of %d rows", size, claimed, rows)
	}
	return nil
}

func scalars[T any](c *column, group *file.RowGroupReader, rows int, emit func(row int, v T) error) error {
	row := 0
	return decode(c, group, 0, rows, func(definition, _ []int16, values []T) error {
		for _, l := range definition {
			if row >= rows {
				return fmt.Errorf("the file is damaged: more values than the %d rows", rows)
			}
			if l == 1 {
				if err := emit(row, values[0]); err != nil {
					return err
				}
				values = values[1:]
			}
			row++
		}
		return nil
	})
}

// lists assembles the lists of a leaf that is repeated once: definition level 0 is a null list (where the list may be
// null), the next an empty one, the largest a value.
func lists[T any](c *column, group *file.RowGroupReader, leaf, rows int, emit func(row int, list []T) error) error {
	row := -1
	var list []T
	var null bool
	flush := func() error {
		if row < 0 || null {
			return nil
		}
		return emit(row, list)
	}
	largest := group.MetaData().Schema.Column(c.leaves[leaf]).MaxDefinitionLevel()
	empty := int16(0)
	if c.nullable {
		empty = 1
	}
	err := decode(c, group, leaf, rows, func(definition, repetition []int16, values []T) error {
		for i, l := range definition {
			if repetition[i] == 0 {
				if err := flush(); err != nil {
					return err
				}
				row++
				if row >= rows {
					return fmt.Errorf("the file is damaged: more lists than the %d rows", rows)
				}
				list, null = list[:0], c.nullable && l == 0
			} else if row < 0 || l <= empty {
				return errors.New("the file is damaged: a list begins in its middle")
			}
			switch {
			case l == largest:
				list = append(list, values[0])
				values = values[1:]
			case l > empty:
				return fmt.Errorf("row %d: the list holds a null, which frontier never writes", row)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if row != rows-1 {
		return fmt.Errorf("the file is damaged: %d lists for %d rows", row+1, rows)
	}
	return flush()
}
