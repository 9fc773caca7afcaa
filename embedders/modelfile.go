package embedders

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"unsafe"
)

// A model file is, all little-endian: the 8 bytes of magic, a uint32 format version, the embedder's name and its
// canonical parameters as strings (uint32 length, bytes), what the embedder adds, and the CRC-32C of all before.
const (
	modelMagic   = "FRNTRMDL"
	modelVersion = 1
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// modelWriter writes a model file. The first error sticks and is returned by close.
type modelWriter struct {
	f   *os.File
	buf *bufio.Writer
	crc uint32
	tab *crc32.Table
	err error
}

func createModel(path, name, params string) (*modelWriter, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w := &modelWriter{f: f, buf: bufio.NewWriterSize(f, 1<<18), tab: castagnoli()}
	w.bytes([]byte(modelMagic))
	w.uint32(modelVersion)
	w.string(name)
	w.string(params)
	return w, nil
}

func (w *modelWriter) bytes(b []byte) {
	if w.err == nil {
		w.crc = crc32.Update(w.crc, w.tab, b)
		_, w.err = w.buf.Write(b)
	}
}

func (w *modelWriter) uint32(v uint32) {
	w.bytes(binary.LittleEndian.AppendUint32(make([]byte, 0, 4), v))
}

func (w *modelWriter) uint64(v uint64) {
	w.bytes(binary.LittleEndian.AppendUint64(make([]byte, 0, 8), v))
}

func (w *modelWriter) string(s string) {
	if w.err == nil && len(s) > math.MaxUint32 {
		w.err = fmt.Errorf("a string of %d bytes does not fit", len(s))
	}
	w.uint32(uint32(len(s)))
	w.bytes([]byte(s))
}

// floats writes the values without their number. Every platform that this builds for is little-endian.
func (w *modelWriter) floats(v []float32) {
	if len(v) > 0 {
		w.bytes(unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 4*len(v)))
	}
}

func (w *modelWriter) close() error {
	w.uint32(w.crc)
	err := w.err
	if err == nil {
		err = w.buf.Flush()
	}
	if err == nil {
		err = w.f.Sync()
	}
	if err = errors.Join(err, w.f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", w.f.Name(), err)
	}
	return nil
}

// modelReader reads a model file that is in memory. The first error sticks; after it, reads give zeros.
type modelReader struct {
	path string
	data []byte // without the checksum
	at   int
	err  error
}

// openModel reads the file, checks it, and checks that it holds the embedder called name with these parameters.
func openModel(path, name, params string) (*modelReader, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) < len(modelMagic)+8 || string(data[:len(modelMagic)]) != modelMagic {
		return nil, fmt.Errorf("%s: byte 0: not a model file, or cut short (%d bytes); fit the embedder again", path, len(data))
	}
	end := len(data) - 4
	if v := binary.LittleEndian.Uint32(data[len(modelMagic):]); v != modelVersion {
		return nil, fmt.Errorf("%s: byte %d: format version %d, but this program reads %d; fit the embedder again", path, len(modelMagic), v, modelVersion)
	}
	if sum := crc32.Checksum(data[:end], castagnoli()); sum != binary.LittleEndian.Uint32(data[end:]) {
		return nil, fmt.Errorf("%s: byte %d: the checksum is wrong: the file is cut short or damaged; fit the embedder again", path, end)
	}
	r := &modelReader{path: path, data: data[:end], at: len(modelMagic) + 4}
	for _, want := range []string{name, params} {
		start := r.at
		if got := r.string(); r.err == nil && got != want {
			return nil, fmt.Errorf("%s: byte %d: the file holds %q, not %q", path, start, got, want)
		}
	}
	return r, r.err
}

// take is the next n bytes, which must be there. Lengths from the file are only ever used through it, so none is
// allocated before it is known to be true.
func (r *modelReader) take(n uint64) []byte {
	if r.err != nil {
		return nil
	}
	if left := uint64(len(r.data) - r.at); n > left {
		r.err = fmt.Errorf("%s: byte %d: %d bytes are needed, but %d are left; fit the embedder again", r.path, r.at, n, left)
		return nil
	}
	b := r.data[r.at : r.at+int(n)]
	r.at += int(n)
	return b
}

func (r *modelReader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *modelReader) uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *modelReader) string() string { return string(r.take(uint64(r.uint32()))) }

// floats reads n values, all of which must be finite.
func (r *modelReader) floats(n uint64) []float32 {
	start := r.at
	if n > math.MaxInt64/4 {
		n = math.MaxInt64 / 4 // more than there can be
	}
	b := r.take(4 * n)
	if b == nil {
		return nil
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		if x := float64(v[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			r.err = fmt.Errorf("%s: byte %d: the value is not finite; fit the embedder again", r.path, start+4*i)
			return nil
		}
	}
	return v
}

// fail records an error at the current byte.
func (r *modelReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: byte %d: %s; fit the embedder again", r.path, r.at, fmt.Sprintf(format, args...))
	}
}

// close says what went wrong, or that bytes are left over.
func (r *modelReader) close() error {
	if r.err == nil && r.at != len(r.data) {
		r.fail("%d bytes are left over", len(r.data)-r.at)
	}
	return r.err
}
