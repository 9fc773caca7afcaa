package vector

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
)

// fbin is uint32 n, uint32 dim, then n*dim float32, row-major, all little-endian: the format of big-ann-benchmarks.
const fbinHeader = 8

// OpenFbin maps the fbin file at path. A header that disagrees with the size of the file is an error that says by how
// many bytes.
func OpenFbin(path string) (*Matrix, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var head [fbinHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("%s: byte 0: an fbin file starts with two uint32 (rows, dimension), but the file has %d bytes", path, info.Size())
	}
	rows, dim := uint64(binary.LittleEndian.Uint32(head[:])), uint64(binary.LittleEndian.Uint32(head[4:]))
	if dim == 0 {
		return nil, fmt.Errorf("%s: byte 4: dimension 0; is this an fbin file?", path)
	}
	want := fbinHeader + rows*dim*4
	if rows*dim > math.MaxInt64/8 || uint64(info.Size()) != want {
		return nil, fmt.Errorf("%s: the header says %d rows of %d float32, which is %d bytes, but the file has %d; it is truncated or of another format",
			path, rows, dim, want, info.Size())
	}
	if rows == 0 {
		return &Matrix{dim: int(dim)}, nil
	}
	data, unmap, err := mapFloats(f, int(want))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Matrix{rows: int(rows), dim: int(dim), data: data, unmap: unmap}, nil
}

// Writer appends rows to an fbin file. The row count in the header is written by Close, so a file whose writer did
// not get there says 0 rows and is refused by its size.
type Writer struct {
	f    *os.File
	buf  *bufio.Writer
	dim  int
	rows int
	raw  []byte
}

// CreateFbin makes, or truncates, the fbin file at path for rows of dim values.
func CreateFbin(path string, dim int) (*Writer, error) {
	if dim <= 0 {
		return nil, fmt.Errorf("%s: a vector file needs a positive dimension, not %d", path, dim)
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, buf: bufio.NewWriterSize(f, 1<<20), dim: dim, raw: make([]byte, 4*dim)}
	var head [fbinHeader]byte
	binary.LittleEndian.PutUint32(head[4:], uint32(dim))
	if _, err := w.buf.Write(head[:]); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

// Append writes one or more whole rows.
func (w *Writer) Append(values []float32) error {
	if len(values)%w.dim != 0 {
		return fmt.Errorf("%s: %d values are not whole rows of %d", w.f.Name(), len(values), w.dim)
	}
	for len(values) > 0 {
		for i, v := range values[:w.dim] {
			binary.LittleEndian.PutUint32(w.raw[4*i:], math.Float32bits(v))
		}
		if _, err := w.buf.Write(w.raw); err != nil {
			return err
		}
		values = values[w.dim:]
		w.rows++
	}
	return nil
}

// Len is the number of rows appended so far.
func (w *Writer) Len() int { return w.rows }

// Close writes the row count, syncs and closes the file.
func (w *Writer) Close() error {
	if uint64(w.rows) > math.MaxUint32 {
		return errors.Join(fmt.Errorf("%s: fbin holds at most %d rows, not %d", w.f.Name(), uint32(math.MaxUint32), w.rows), w.f.Close())
	}
	err := w.buf.Flush()
	if err == nil {
		var n [4]byte
		binary.LittleEndian.PutUint32(n[:], uint32(w.rows))
		_, err = w.f.WriteAt(n[:], 0)
	}
	if err == nil {
		err = w.f.Sync()
	}
	return errors.Join(err, w.f.Close())
}
