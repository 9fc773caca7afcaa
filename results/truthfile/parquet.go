package truthfile

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
)

// The columns. Each may be null by its schema, as all that frontier writes, and never is.
const (
	columnQuery    = "query"
	columnRank     = "rank"
	columnID       = "id"
	columnDistance = "distance"
)

// rowGroupRows is how many neighbours are gathered before they are written.
const rowGroupRows = 128 << 10

// neighborRows are the columns of the row group in work.
type neighborRows struct {
	query, rank, id []int64
	distance        []float64
	there           []int16 // definition levels: all values are there
}

// writeParquet turns the library's panics into errors: it reports some faults of writing by them.
func writeParquet(w io.Writer, n Neighbors, pairs map[string]string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding Parquet: %v", p)
		}
	}()
	fw, err := parquetWriter(w, pairs)
	if err != nil {
		return err
	}
	var rows neighborRows
	query := int64(0)
	err = n.Each(func(ids []int64, distances []float64) error {
		for i, id := range ids {
			rows.query, rows.rank = append(rows.query, query), append(rows.rank, int64(i+1))
			rows.id, rows.distance = append(rows.id, id), append(rows.distance, distances[i])
			if len(rows.id) == rowGroupRows {
				if err := rows.flush(fw); err != nil {
					return err
				}
			}
		}
		query++
		return nil
	})
	if err != nil {
		return err
	}
	if err := rows.flush(fw); err != nil {
		return err
	}
	return fw.Close()
}

func parquetWriter(w io.Writer, pairs map[string]string) (*file.Writer, error) {
	optional := parquet.Repetitions.Optional
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
		schema.NewInt64Node(columnQuery, optional, -1), schema.NewInt64Node(columnRank, optional, -1),
		schema.NewInt64Node(columnID, optional, -1), schema.NewFloat64Node(columnDistance, optional, -1),
	}, -1)
	if err != nil {
		return nil, err
	}
	meta := metadata.NewKeyValueMetadata()
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		if err := meta.Append(key, pairs[key]); err != nil {
			return nil, err
		}
	}
	// The writer closes what it is given when it can; the caller has yet to sync it.
	return file.NewParquetWriter(struct{ io.Writer }{w}, root, file.WithWriteMetadata(meta), file.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithDictionaryDefault(false), // ids and distances hardly repeat
		parquet.WithDictionaryFor(columnQuery, true),
		parquet.WithDictionaryFor(columnRank, true),
		parquet.WithStats(true),
		parquet.WithCreatedBy("frontier"),
	))), nil
}

// flush writes what was gathered as a row group.
func (r *neighborRows) flush(fw *file.Writer) error {
	if len(r.id) == 0 {
		return nil
	}
	for len(r.there) < len(r.id) {
		r.there = append(r.there, 1)
	}
	group := fw.AppendRowGroup()
	for _, values := range [][]int64{r.query, r.rank, r.id} {
		if err := writeColumn(group, values, r.there[:len(values)]); err != nil {
			return err
		}
	}
	if err := writeColumn(group, r.distance, r.there[:len(r.distance)]); err != nil {
		return err
	}
	r.query, r.rank, r.id, r.distance = r.query[:0], r.rank[:0], r.id[:0], r.distance[:0]
	return group.Close()
}

func writeColumn[T int64 | float64](group file.SerialRowGroupWriter, values []T, definition []int16) error {
	next, err := group.NextColumn()
	if err != nil {
		return err
	}
	w, ok := next.(interface {
		WriteBatch(values []T, definition, repetition []int16) (int64, error)
		Close() error
	})
	if !ok {
		return fmt.Errorf("the library has a %T for values of type %T", next, values)
	}
	if _, err := w.WriteBatch(values, definition, nil); err != nil {
		return err
	}
	return w.Close()
}
