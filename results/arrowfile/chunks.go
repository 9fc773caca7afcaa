// Package arrowfile reads and writes the Arrow IPC files that pass between the stages of a sweep: chunks and answers.
// Other tools open them as they are.
package arrowfile

import (
	"errors"
	"fmt"
	"iter"
	"os"

	"frontier/internal/checked"
	"frontier/results/internal/bounded"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// batchRows bounds what a reader holds at a time.
const batchRows = 1024

// Chunk is one row of a chunk file. Its row number is the id under which every index knows it.
type Chunk struct {
	Doc        int32 // number of the document in corpus order
	Start, End int32 // code points of the document's text
	Prefix     string
	Text       string
}

// Indexed is the text that is embedded and indexed: the title of the document, where the sweep joins it, and the chunk.
func (c Chunk) Indexed() string { return c.Prefix + c.Text }

var chunkSchema = arrow.NewSchema([]arrow.Field{
	{Name: "document", Type: arrow.PrimitiveTypes.Int32},
	{Name: "start", Type: arrow.PrimitiveTypes.Int32},
	{Name: "end", Type: arrow.PrimitiveTypes.Int32},
	{Name: "prefix", Type: arrow.BinaryTypes.String},
	{Name: "text", Type: arrow.BinaryTypes.String},
}, nil)

// ChunkWriter writes a chunk file.
type ChunkWriter struct {
	writer
}

// CreateChunks makes the chunk file at path.
func CreateChunks(path string) (*ChunkWriter, error) {
	w, err := create(path, chunkSchema)
	if err != nil {
		return nil, err
	}
	return &ChunkWriter{w}, nil
}

// Append writes one chunk.
func (w *ChunkWriter) Append(c Chunk) error {
	b := w.builder
	b.Field(0).(*array.Int32Builder).Append(c.Doc)
	b.Field(1).(*array.Int32Builder).Append(c.Start)
	b.Field(2).(*array.Int32Builder).Append(c.End)
	b.Field(3).(*array.StringBuilder).Append(c.Prefix)
	b.Field(4).(*array.StringBuilder).Append(c.Text)
	return w.appended()
}

// Chunks streams the chunk file at path. The strings are copies and stay valid.
func Chunks(path string) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		for rec, err := range records(path, chunkSchema) {
			var chunks []Chunk
			if err == nil {
				err = guarded(path, func() error { chunks = chunksOf(rec); return nil })
			}
			if err != nil {
				yield(Chunk{}, err)
				return
			}
			for _, c := range chunks {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

func chunksOf(rec arrow.Record) []Chunk {
	doc, start, end := rec.Column(0).(*array.Int32), rec.Column(1).(*array.Int32), rec.Column(2).(*array.Int32)
	prefix, text := rec.Column(3).(*array.String), rec.Column(4).(*array.String)
	chunks := make([]Chunk, 0, min(rec.NumRows(), batchRows))
	for i := range int(rec.NumRows()) {
		chunks = append(chunks, Chunk{
			Doc: doc.Value(i), Start: start.Value(i), End: end.Value(i),
			Prefix: string([]byte(prefix.Value(i))), Text: string([]byte(text.Value(i))),
		})
	}
	return chunks
}

// Spans reads only where the chunks lie, which is what scoring needs: three numbers a chunk.
func Spans(path string) (docs, starts, ends []int32, err error) {
	for rec, err := range records(path, chunkSchema) {
		if err != nil {
			return nil, nil, nil, err
		}
		docs = append(docs, rec.Column(0).(*array.Int32).Int32Values()...)
		starts = append(starts, rec.Column(1).(*array.Int32).Int32Values()...)
		ends = append(ends, rec.Column(2).(*array.Int32).Int32Values()...)
	}
	return docs, starts, ends, nil
}

// writer is what both kinds of file share: rows gathered into batches, and an orderly end.
type writer struct {
	f       *os.File
	checked *checked.File
	ipc     *ipc.FileWriter
	builder *array.RecordBuilder
	pending int
	rows    int
}

func create(path string, schema *arrow.Schema) (writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return writer{}, err
	}
	c := checked.New(f)
	w, err := ipc.NewFileWriter(c, ipc.WithSchema(schema))
	if err != nil {
		return writer{}, errors.Join(fmt.Errorf("%s: start an Arrow file: %w", path, err), f.Close())
	}
	return writer{f: f, checked: c, ipc: w, builder: array.NewRecordBuilder(memory.DefaultAllocator, schema)}, nil
}

func (w *writer) appended() error {
	w.rows++
	if w.pending++; w.pending < batchRows {
		return nil
	}
	return w.flush()
}

func (w *writer) flush() error {
	if w.pending == 0 {
		return nil
	}
	w.pending = 0
	rec := w.builder.NewRecord()
	defer rec.Release()
	if err := w.ipc.Write(rec); err != nil {
		return fmt.Errorf("%s: write: %w", w.f.Name(), err)
	}
	return nil
}

// Len is the number of rows appended so far.
func (w *writer) Len() int { return w.rows }

// Close writes what is pending and the footer, syncs and closes the file.
func (w *writer) Close() error {
	err := w.flush()
	w.builder.Release()
	if e := w.ipc.Close(); err == nil && e != nil {
		err = fmt.Errorf("%s: finish: %w", w.f.Name(), e)
	}
	if e := w.checked.Err(); err == nil && e != nil {
		err = fmt.Errorf("%s: write: %w", w.f.Name(), e)
	}
	if err == nil {
		err = w.f.Sync()
	}
	return errors.Join(err, w.f.Close())
}

// guarded turns panics about a damaged file into errors: the library trusts the offsets in it. It trusts the numbers in a
// footer as well, and what it allocates for those is not guarded.
func guarded(path string, read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: the file is damaged: %v", path, p)
		}
	}()
	if err := read(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// records streams the batches of the file at path, whose schema must be want.
func records(path string, want *arrow.Schema) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		var r *ipc.FileReader
		batches := 0
		err = guarded(path, func() (err error) {
			info, err := f.Stat()
			if err != nil {
				return err
			}
			if r, err = ipc.NewFileReader(f, ipc.WithAllocator(bounded.Allocator(info.Size()+64<<10))); err != nil {
				return fmt.Errorf("not a whole Arrow file: %w", err)
			}
			batches = r.NumRecords()
			return nil
		})
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Close()
		if !r.Schema().Equal(want) {
			yield(nil, fmt.Errorf("%s: columns are %v, not %v", path, r.Schema().Fields(), want.Fields()))
			return
		}
		for i := range batches {
			var rec arrow.Record
			err := guarded(path, func() (err error) {
				if rec, err = r.RecordAt(i); err != nil {
					return fmt.Errorf("batch %d of %d: %w", i, batches, err)
				}
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			ok := yield(rec, nil)
			rec.Release()
			if !ok {
				return
			}
		}
	}
}
