package datasets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// VectorStream reads runs of rows of a vector file with plain reads into memory of the caller. Unlike a mapping, what
// was read does not stay in the memory of the process, a disk that fails is an error rather than the end of the process,
// and so is a file that is cut short while it is read. It is for one goroutine.
type VectorStream struct {
	f       *os.File
	path    string
	layout  vectorLayout
	size    int64
	changed time.Time
	staging []byte // rows as the file has them, where these are not the values themselves
	drops   bool   // the system is told to forget what was read
}

// stagingBytes is how much of a file that needs decoding is read at a time. A row is the least.
const stagingBytes = 256 << 10

// OpenVectorStream opens a vector file of any format that OpenVectors reads, with the same checks.
func OpenVectorStream(path string) (*VectorStream, error) {
	mapped, err := OpenVectors(path)
	if err != nil {
		return nil, err
	}
	layout := mapped.(*vectorFile).layout
	if err := mapped.Close(); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening vectors: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening vectors: %w", err), f.Close())
	}
	s := &VectorStream{f: f, path: path, layout: layout, size: info.Size(), changed: info.ModTime()}
	if err := adviseSequential(f); err != nil {
		return nil, errors.Join(fmt.Errorf("opening vectors: %w", err), f.Close())
	}
	if !s.direct() {
		s.staging = make([]byte, max(stagingBytes/layout.stride(), 1)*layout.stride())
	}
	return s, nil
}

// Len is the number of rows.
func (s *VectorStream) Len() int { return s.layout.rows }

// Dim is the number of values in a row.
func (s *VectorStream) Dim() int { return s.layout.dim }

// RowBytes is how many bytes of the file a row takes.
func (s *VectorStream) RowBytes() int { return s.layout.stride() }

// StreamBytes is the most memory that a stream of rows of dim values holds, whatever the format.
func StreamBytes(dim int) int64 { return max(stagingBytes, 8*int64(dim)+vecsPrefix) }

// DropBehind makes the system forget what is read, so that a file larger than memory does not push out everything else
// that the machine keeps in its page cache.
func (s *VectorStream) DropBehind() error {
	s.drops = true
	return adviseUncached(s.f)
}

// direct says whether the file holds the values as they are in memory, one after the other. Every platform that this
// builds for is little-endian, as the file is.
func (s *VectorStream) direct() bool { return s.layout.elem == elemFloat32 && s.layout.prefix == 0 }

// ReadRows fills dst with whole rows, from row on. It does not look for NaN and infinities: see Check.
func (s *VectorStream) ReadRows(row int, dst []float32) error {
	l := &s.layout
	if len(dst)%l.dim != 0 {
		return fmt.Errorf("%s: %d values are not whole rows of %d", s.path, len(dst), l.dim)
	}
	rows := len(dst) / l.dim
	if row < 0 || row > l.rows-rows {
		return fmt.Errorf("%s: there are no rows %d to %d: the file has %d", s.path, row, row+rows-1, l.rows)
	}
	if s.direct() {
		if err := s.readAt(floatBytes(dst), row); err != nil {
			return err
		}
	} else if err := s.decodeRows(row, dst); err != nil {
		return err
	}
	return s.drop(row, row+rows)
}

// decodeRows is ReadRows through the staging buffer.
func (s *VectorStream) decodeRows(row int, dst []float32) error {
	l := &s.layout
	stride := l.stride()
	for len(dst) > 0 {
		rows := min(len(dst)/l.dim, len(s.staging)/stride)
		raw := s.staging[:rows*stride]
		if err := s.readAt(raw, row); err != nil {
			return err
		}
		for i := range rows {
			from := raw[i*stride : (i+1)*stride]
			if l.prefix > 0 {
				if err := l.checkDim(s.path, from, row+i); err != nil {
					return err
				}
			}
			l.elem.decode(from[l.prefix:], dst[i*l.dim:(i+1)*l.dim])
		}
		dst, row = dst[rows*l.dim:], row+rows
	}
	return nil
}

func (s *VectorStream) readAt(raw []byte, row int) error {
	at := int64(s.layout.start) + int64(row)*int64(s.layout.stride())
	n, err := s.f.ReadAt(raw, at)
	if n == len(raw) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return &Error{
			File: s.path, Offset: at + int64(n), Msg: fmt.Sprintf("the file ends here, but had %d bytes when it was opened", s.size),
			Hint: "do not change a file while it is read",
		}
	}
	return fmt.Errorf("reading %d bytes at byte %d: %w", len(raw), at, err)
}

// dropAlign is at least the size of the largest piece in which a system caches files, which is kept or dropped as a whole.
const dropAlign = 4 << 20

// drop forgets the rows [row, to), if that is wanted.
func (s *VectorStream) drop(row, to int) error {
	if !s.drops {
		return nil
	}
	at := func(row int) int64 { return int64(s.layout.start) + int64(row)*int64(s.layout.stride()) }
	// A piece that the rows end in, or that was read ahead, is kept, and dropped by a later call that begins with it.
	from := at(row) &^ (dropAlign - 1)
	if err := adviseDone(s.f, from, at(to)-from); err != nil {
		return fmt.Errorf("%s: dropping what was read: %w", s.path, err)
	}
	return nil
}

// Check reads one row again with all checks that OpenVectors' reader makes: what is wrong with it is an *Error that says
// where in the file.
func (s *VectorStream) Check(row int) error {
	values := make([]float32, s.layout.dim)
	r, err := OpenVectors(s.path)
	if err != nil {
		return err
	}
	return errors.Join(r.Read(row, values), r.Close())
}

// Close closes the file.
func (s *VectorStream) Close() error { return s.f.Close() }
