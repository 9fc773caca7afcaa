package truth

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
	"os"

	"frontier/datasets"
	"frontier/internal/atomicfile"
	"frontier/internal/vector"
)

// A state file is what a search has found in some rows of the base: the checkpoint of one that goes on, or the result of
// a shard. It is the line stateMagic, the length of the header as uint32, the header as JSON, Held candidates of each
// query (float64 distance, int64 id), and the SHA-256 of all that. Numbers are little-endian.
const (
	stateMagic     = "frontier truth 1\n"
	stateMaxHeader = 1 << 20
	stateBuffer    = 1 << 20
)

// Header says what the neighbours in a state file, or in a result, are those of.
type Header struct {
	Metric vector.Metric `json:"metric"`
	K      int           `json:"k"`    // that was asked for
	Held   int           `json:"held"` // neighbours of each query: K, or as many rows as were looked at
	Shard  Shard         `json:"shard"`
	From   int           `json:"from"` // the rows [From, To) of the base are to be looked at
	To     int           `json:"to"`
	Done   int           `json:"done"` // the rows [From, Done) were looked at

	Base    datasets.VectorFingerprint `json:"base"`
	Queries datasets.VectorFingerprint `json:"queries"`
	Audit   *Audit                     `json:"audit,omitempty"` // of the rows [From, To), if one was made
}

// check refuses headers that no search writes.
func (h *Header) check() error {
	from, to := h.Shard.Range(h.Base.Rows)
	switch {
	case h.Base.Rows < 1 || h.Queries.Rows < 1 || h.Base.Dim != h.Queries.Dim || h.K < 1:
		return fmt.Errorf("its header speaks of the %d nearest of %d x %d base values for %d x %d query values", h.K, h.Base.Rows, h.Base.Dim, h.Queries.Rows, h.Queries.Dim)
	case h.Shard != (Shard{}) && (h.Shard.Index < 1 || h.Shard.Index > h.Shard.Count || h.Shard.Count > h.Base.Rows):
		return fmt.Errorf("its header speaks of shard %d/%d of %d rows", h.Shard.Index, h.Shard.Count, h.Base.Rows)
	case h.From != from || h.To != to || h.Done < from || h.Done > to || h.Held != min(h.K, h.Done-h.From):
		return fmt.Errorf("its header speaks of %d neighbours among the rows %d to %d of %d to %d", h.Held, h.From, h.Done, h.From, h.To)
	case h.Audit != nil && (h.Audit.DuplicateShare < 1 || h.Audit.Shards < 1):
		return fmt.Errorf("its header speaks of an audit of one in %d rows in %d shards", h.Audit.DuplicateShare, h.Audit.Shards)
	case h.Held > math.MaxInt/neighborBytes/h.Queries.Rows:
		return fmt.Errorf("its header speaks of %d neighbours of %d queries", h.Held, h.Queries.Rows)
	}
	return nil
}

// complete says whether all rows of the shard were looked at.
func (h *Header) complete() bool { return h.Done == h.To }

// writeState writes a state file. row gives the Held candidates of a query; the slice may be reused.
func writeState(path string, h Header, row func(q int) []neighbor) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		text, err := json.Marshal(h)
		if err != nil {
			return err
		}
		sum := sha256.New()
		b := bufio.NewWriterSize(io.MultiWriter(w, sum), stateBuffer) // it keeps its first error for Flush
		_, _ = b.WriteString(stateMagic)
		_, _ = b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(text))))
		_, _ = b.Write(text)
		raw := make([]byte, 0, h.Held*neighborBytes)
		for q := range h.Queries.Rows {
			raw = raw[:0]
			for _, c := range row(q) {
				raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(c.distance))
				raw = binary.LittleEndian.AppendUint64(raw, uint64(c.id))
			}
			if len(raw) != h.Held*neighborBytes {
				return fmt.Errorf("query %d has %d candidates, not %d", q, len(raw)/neighborBytes, h.Held)
			}
			_, _ = b.Write(raw)
		}
		if err := b.Flush(); err != nil {
			return err
		}
		_, err = w.Write(sum.Sum(nil))
		return err
	})
}

// stateReader reads a state file from its start to its end.
type stateReader struct {
	Header
	path string
	f    *os.File
	r    *bufio.Reader
	sum  hash.Hash
	next int // query
	row  []neighbor
	raw  []byte
}

// openState reads the header of a state file, and checks the size of the file against it.
func openState(path string, buffer int) (*stateReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &stateReader{path: path, f: f, sum: sha256.New()}
	s.r = bufio.NewReaderSize(f, buffer)
	if err := s.readHeader(); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// fault is an error of the file's content.
func (s *stateReader) fault(offset int64, format string, args ...any) error {
	return &datasets.Error{File: s.path, Offset: offset, Msg: fmt.Sprintf(format, args...), Hint: "delete it and search again"}
}

func (s *stateReader) readHeader() error {
	info, err := s.f.Stat()
	if err != nil {
		return err
	}
	fixed := make([]byte, len(stateMagic)+4)
	if _, err := io.ReadFull(s.r, fixed); err != nil || string(fixed[:len(stateMagic)]) != stateMagic {
		return &datasets.Error{File: s.path, Msg: "is not a shard of a truth", Hint: "shards are written by `frontier truth --shard i/n`"}
	}
	length := binary.LittleEndian.Uint32(fixed[len(stateMagic):])
	if length > stateMaxHeader {
		return s.fault(int64(len(stateMagic)), "a header of %d bytes is impossible", length)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(s.r, text); err != nil {
		return s.fault(info.Size(), "the file ends within its header of %d bytes", length)
	}
	s.sum.Write(fixed)
	s.sum.Write(text)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s.Header); err != nil {
		return s.fault(int64(len(fixed)), "its header cannot be read: %v", err)
	}
	if err := s.check(); err != nil {
		return s.fault(int64(len(fixed)), "%v", err)
	}
	start := int64(len(fixed)) + int64(length)
	body := int64(s.Queries.Rows) * int64(s.Held) * neighborBytes
	if body > math.MaxInt64-start-sha256.Size || start+body+sha256.Size != info.Size() {
		return s.fault(info.Size(), "%d neighbours of %d queries do not make a file of %d bytes: it is cut short or damaged", s.Held, s.Queries.Rows, info.Size())
	}
	s.raw, s.row = make([]byte, s.Held*neighborBytes), make([]neighbor, s.Held)
	return nil
}

// read is the candidates of the next query. The slice is reused. After the last query comes io.EOF, if the file is what
// was written.
func (s *stateReader) read() ([]neighbor, error) {
	if s.next == s.Queries.Rows {
		var want [sha256.Size]byte
		if _, err := io.ReadFull(s.r, want[:]); err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
		if !bytes.Equal(s.sum.Sum(nil), want[:]) {
			return nil, s.fault(0, "the content is not what was written: its checksum differs")
		}
		return nil, io.EOF
	}
	if _, err := io.ReadFull(s.r, s.raw); err != nil {
		return nil, fmt.Errorf("%s: query %d: %w", s.path, s.next, err)
	}
	s.sum.Write(s.raw)
	for i := range s.row {
		s.row[i].distance = math.Float64frombits(binary.LittleEndian.Uint64(s.raw[i*neighborBytes:]))
		s.row[i].id = int64(binary.LittleEndian.Uint64(s.raw[i*neighborBytes+8:]))
		if id := s.row[i].id; id < int64(s.From) || id >= int64(s.Done) || math.IsNaN(s.row[i].distance) {
			return nil, s.fault(0, "query %d: row %d at distance %v is not one of the rows %d to %d", s.next, id, s.row[i].distance, s.From, s.Done-1)
		}
	}
	s.next++
	return s.row, nil
}

func (s *stateReader) Close() error { return s.f.Close() }
