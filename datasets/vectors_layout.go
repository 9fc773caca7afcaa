package datasets

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// vectorElem is the type of the values in a vector file.
type vectorElem int

const (
	elemFloat32 vectorElem = iota
	elemFloat64
	elemUint8
	elemInt8
	elemInt32
	elemInt64
)

func (e vectorElem) String() string {
	return [...]string{"float32", "float64", "uint8", "int8", "int32", "int64"}[e]
}

func (e vectorElem) size() int { return [...]int{4, 8, 1, 1, 4, 8}[e] }

// vectorLayout says where in a file the values of each row are.
type vectorLayout struct {
	elem      vectorElem
	start     int // byte at which the first row begins
	prefix    int // bytes of each row before its values: the dimension in fvecs, nothing elsewhere
	rows, dim int // both at least 1
}

func (l *vectorLayout) stride() int { return l.prefix + l.dim*l.elem.size() }

// offset is the byte at which column col of row i stands.
func (l *vectorLayout) offset(i, col int) int {
	return l.start + i*l.stride() + l.prefix + col*l.elem.size()
}

const vectorHeader = 8

// binLayout reads the header of fbin and its kin.
func binLayout(elem vectorElem) func(path string, raw []byte) (vectorLayout, error) {
	return func(path string, raw []byte) (vectorLayout, error) {
		if len(raw) < vectorHeader {
			return vectorLayout{}, &Error{
				File: path, Offset: int64(len(raw)),
				Msg:  fmt.Sprintf("the file ends within its header of %d bytes (uint32 rows, uint32 dimension)", vectorHeader),
				Hint: "the file is truncated or of another format",
			}
		}
		rows, dim := binary.LittleEndian.Uint32(raw), binary.LittleEndian.Uint32(raw[4:])
		return vectorBody(path, elem, vectorHeader, uint64(len(raw)), uint64(rows), uint64(dim))
	}
}

// vectorBody checks that a file of size bytes holds exactly rows x dim values after its header of start bytes.
func vectorBody(path string, elem vectorElem, start, size, rows, dim uint64) (vectorLayout, error) {
	if rows == 0 || dim == 0 {
		return vectorLayout{}, &Error{
			File: path, Msg: fmt.Sprintf("the header says %d rows of %d values: there are no vectors", rows, dim),
			Hint: "check how the file was written, and that its name ends as its format asks",
		}
	}
	says := fmt.Sprintf("the header says %d rows of %d %s", rows, dim, elem)
	over, rowBytes := bits.Mul64(dim, uint64(elem.size()))
	over2, body := bits.Mul64(rows, rowBytes)
	want, carry := bits.Add64(start, body, 0)
	if over|over2|carry != 0 {
		return vectorLayout{}, &Error{File: path, Msg: says + ", which is more than any file holds", Hint: "the file is of another format"}
	}
	switch {
	case size < want:
		return vectorLayout{}, &Error{
			File: path, Offset: int64(size),
			Msg: fmt.Sprintf("%s, which makes %d bytes, but the file ends in row %d (from 0): %d bytes are missing",
				says, want, (size-start)/rowBytes, want-size),
			Hint: "the file is truncated or of another format",
		}
	case size > want:
		return vectorLayout{}, &Error{
			File: path, Offset: int64(want),
			Msg:  fmt.Sprintf("%s, which ends here, but %d more bytes follow", says, size-want),
			Hint: "the file is of another format, or its writer did not update the header",
		}
	}
	// Both fit an int, as the file that they describe is mapped.
	return vectorLayout{elem: elem, start: int(start), rows: int(rows), dim: int(dim)}, nil
}

const vecsPrefix = 4

// vecsLayout reads the dimension of the first row of fvecs and its kin, from which the number of rows follows.
func vecsLayout(elem vectorElem) func(path string, raw []byte) (vectorLayout, error) {
	return func(path string, raw []byte) (vectorLayout, error) {
		dim, err := vecsDim(path, raw, 0, 0)
		if err != nil {
			return vectorLayout{}, err
		}
		// Cannot overflow: dim is below 1<<31 and a value has at most 4 bytes.
		stride := int64(vecsPrefix) + int64(dim)*int64(elem.size())
		size := int64(len(raw))
		if size%stride != 0 {
			return vectorLayout{}, vecsFault(path, raw, elem, dim, stride)
		}
		l := vectorLayout{elem: elem, prefix: vecsPrefix, rows: int(size / stride), dim: dim}
		if err := l.checkPrefix(path, raw, l.rows-1); err != nil {
			return vectorLayout{}, err
		}
		return l, nil
	}
}

// vecsDim is the dimension of the row that begins at byte off.
func vecsDim(path string, raw []byte, row int, off int64) (int, error) {
	if int64(len(raw))-off < vecsPrefix {
		return 0, &Error{
			File: path, Offset: int64(len(raw)),
			Msg: fmt.Sprintf("the file ends within the dimension of row %d (from 0): %d bytes are missing for it, and its values",
				row, off+vecsPrefix-int64(len(raw))),
			Hint: "the file is truncated",
		}
	}
	dim := int32(binary.LittleEndian.Uint32(raw[off:]))
	if dim <= 0 {
		return 0, &Error{
			File: path, Offset: off,
			Msg:  fmt.Sprintf("row %d (from 0) says that it has %d values", row, dim),
			Hint: "the file is of another format, or is broken before this byte",
		}
	}
	return int(dim), nil
}

// vecsFault finds why a file is not a whole number of rows of dim: the first row of another dimension, else its end.
func vecsFault(path string, raw []byte, elem vectorElem, dim int, stride int64) error {
	row, off := 0, int64(0)
	// Most often it was cut short, which the last row that is whole tells without a look at all the others.
	if last := int64(len(raw))/stride - 1; last > 0 && int64(binary.LittleEndian.Uint32(raw[last*stride:])) == int64(dim) {
		row, off = int(last), last*stride
	}
	for ; ; row++ {
		d, err := vecsDim(path, raw, row, off)
		if err != nil {
			return err
		}
		if d != dim {
			return raggedRow(path, row, off, d, dim)
		}
		if end := off + stride; end > int64(len(raw)) {
			return &Error{
				File: path, Offset: int64(len(raw)),
				Msg: fmt.Sprintf("the file ends in row %d (from 0), which begins at byte %d with the dimension %d: %d bytes are missing for its %s values",
					row, off, dim, end-int64(len(raw)), elem),
				Hint: "the file is truncated or of another format",
			}
		}
		off += stride
	}
}

// checkPrefix checks the dimension that row i repeats, in formats where it does.
func (l *vectorLayout) checkPrefix(path string, raw []byte, i int) error {
	if l.prefix == 0 {
		return nil
	}
	return l.checkDim(path, raw[l.start+i*l.stride():], i)
}

// checkDim checks the dimension with which row i begins.
func (l *vectorLayout) checkDim(path string, row []byte, i int) error {
	if d := int(int32(binary.LittleEndian.Uint32(row))); d != l.dim {
		return raggedRow(path, i, int64(l.start)+int64(i)*int64(l.stride()), d, l.dim)
	}
	return nil
}

func raggedRow(path string, row int, off int64, got, want int) error {
	return &Error{
		File: path, Offset: off,
		Msg:  fmt.Sprintf("row %d (from 0) has the dimension %d, but row 0 has %d", row, got, want),
		Hint: "all rows must have one dimension; the file is broken, or of another format",
	}
}
