package datasets

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
)

// vectorFile reads rows of a mapped file.
type vectorFile struct {
	path   string
	raw    []byte
	unmap  func() error
	layout vectorLayout
}

func (v *vectorFile) Len() int { return v.layout.rows }
func (v *vectorFile) Dim() int { return v.layout.dim }

func (v *vectorFile) Read(i int, dst []float32) error {
	if err := checkRead(v.path, i, v.layout.rows, len(dst), v.layout.dim); err != nil {
		return err
	}
	if v.raw == nil {
		return fmt.Errorf("%s: reading row %d: %w", v.path, i, os.ErrClosed)
	}
	l := &v.layout
	if err := l.checkPrefix(v.path, v.raw, i); err != nil {
		return err
	}
	from := l.offset(i, 0)
	row := v.raw[from : from+l.dim*l.elem.size()]
	l.elem.decode(row, dst)
	if col := notFinite(dst); col >= 0 {
		return v.badValue(i, col, row, dst[col])
	}
	return nil
}

func (v *vectorFile) Close() error {
	v.raw = nil
	if v.unmap == nil {
		return nil
	}
	unmap := v.unmap
	v.unmap = nil
	if err := unmap(); err != nil {
		return fmt.Errorf("unmapping %s: %w", v.path, err)
	}
	return nil
}

// badValue tells a float64 that float32 cannot hold from a value that was never a number.
func (v *vectorFile) badValue(i, col int, row []byte, got float32) error {
	what := fmt.Sprint(got)
	hint := "vectors must be finite; remove or repair this row"
	if v.layout.elem == elemFloat64 {
		if f := math.Float64frombits(binary.LittleEndian.Uint64(row[8*col:])); !math.IsInf(f, 0) && !math.IsNaN(f) {
			what = fmt.Sprintf("%g, which is too large for float32", f)
			hint = "scale the vectors down"
		}
	}
	return &Error{
		File: v.path, Offset: int64(v.layout.offset(i, col)),
		Msg: fmt.Sprintf("row %d, column %d (from 0) is %s", i, col, what), Hint: hint,
	}
}

// checkRead refuses a row or a destination that a reader does not have.
func checkRead(name string, i, rows, got, dim int) error {
	if i < 0 || i >= rows {
		return fmt.Errorf("%s: there is no row %d: rows are 0 to %d", name, i, rows-1)
	}
	if got != dim {
		return fmt.Errorf("%s: reading row %d: the destination has %d values, but a row has %d", name, i, got, dim)
	}
	return nil
}

// decode turns the bytes of one row into float32. The row has exactly the size of dst.
func (e vectorElem) decode(row []byte, dst []float32) {
	switch e {
	case elemFloat32:
		for j := range dst {
			dst[j] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*j:]))
		}
	case elemFloat64:
		for j := range dst {
			dst[j] = float32(math.Float64frombits(binary.LittleEndian.Uint64(row[8*j:])))
		}
	case elemUint8:
		for j := range dst {
			dst[j] = float32(row[j])
		}
	case elemInt8:
		for j := range dst {
			dst[j] = float32(int8(row[j]))
		}
	case elemInt32:
		for j := range dst {
			dst[j] = float32(int32(binary.LittleEndian.Uint32(row[4*j:])))
		}
	case elemInt64:
		for j := range dst {
			dst[j] = float32(int64(binary.LittleEndian.Uint64(row[8*j:])))
		}
	}
}

// notFinite is the first column that is NaN or infinite, or -1.
func notFinite(values []float32) int {
	const exponent = 0x7f80_0000
	for j, f := range values {
		if math.Float32bits(f)&exponent == exponent {
			return j
		}
	}
	return -1
}
