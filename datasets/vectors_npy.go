package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// npyMagic begins every npy file; the version and the length of the header follow (numpy.lib.format).
const npyMagic = "\x93NUMPY"

// npyLayout reads the header of an npy file: a Python literal such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (700, 384), }.
func npyLayout(path string, raw []byte) (vectorLayout, error) {
	text, start, err := npyHeader(path, raw)
	if err != nil {
		return vectorLayout{}, err
	}
	p := npyParser{path: path, text: text, base: start - len(text)}
	h, err := p.header()
	if err != nil {
		return vectorLayout{}, err
	}
	elem, err := h.elem(path)
	if err != nil {
		return vectorLayout{}, err
	}
	if len(h.shape) != 2 {
		return vectorLayout{}, &Error{
			File: path, Msg: fmt.Sprintf("the array has the shape (%s), but vectors need two dimensions: rows and values", joinShape(h.shape)),
			Hint: "reshape it before saving, for example numpy.save(path, a.reshape(len(a), -1))",
		}
	}
	if h.fortran {
		return vectorLayout{}, &Error{
			File: path, Msg: "the array is in Fortran (column-major) order",
			Hint: "save it row by row: numpy.save(path, numpy.ascontiguousarray(a))",
		}
	}
	return vectorBody(path, elem, uint64(start), uint64(len(raw)), h.shape[0], h.shape[1])
}

// npyHeader is the literal in the header, and the byte at which the data begins.
func npyHeader(path string, raw []byte) (text []byte, start int, err error) {
	if !bytes.HasPrefix(raw, []byte(npyMagic)) {
		return nil, 0, &Error{
			File: path, Msg: fmt.Sprintf("an npy file begins with the bytes %q, but this one with %q", npyMagic, raw[:min(len(raw), len(npyMagic))]),
			Hint: "the file is of another format",
		}
	}
	truncated := func(what string) error {
		return &Error{File: path, Offset: int64(len(raw)), Msg: "the file ends within " + what, Hint: "the file is truncated"}
	}
	at := len(npyMagic) + 2
	if len(raw) < at {
		return nil, 0, truncated("the version of its format")
	}
	width := 4
	switch major := raw[len(npyMagic)]; major {
	case 1:
		width = 2
	case 2, 3:
	default:
		return nil, 0, &Error{
			File: path, Offset: int64(len(npyMagic)), Msg: fmt.Sprintf("npy format %d.%d is unknown", major, raw[len(npyMagic)+1]),
			Hint: "save the array as format 1.0, 2.0 or 3.0",
		}
	}
	if len(raw) < at+width {
		return nil, 0, truncated("the length of its header")
	}
	length := uint64(binary.LittleEndian.Uint16(raw[at:]))
	if width == 4 {
		length = uint64(binary.LittleEndian.Uint32(raw[at:]))
	}
	at += width
	if length > uint64(len(raw)-at) {
		return nil, 0, truncated(fmt.Sprintf("its header, of which %d bytes are missing", length-uint64(len(raw)-at)))
	}
	start = at + int(length)
	return raw[at:start], start, nil
}

// npyArray is what a header says.
type npyArray struct {
	descr   string // "<f4"; "" if the type is structured
	fortran bool
	shape   []uint64
}

func (a *npyArray) elem(path string) (vectorElem, error) {
	fault := func(what, hint string) (vectorElem, error) {
		return 0, &Error{File: path, Msg: what, Hint: hint}
	}
	switch a.descr {
	case "<f4":
		return elemFloat32, nil
	case "<f8":
		return elemFloat64, nil
	case "|u1":
		return elemUint8, nil
	case "|i1":
		return elemInt8, nil
	case "<i4":
		return elemInt32, nil
	case "<i8":
		return elemInt64, nil
	case "":
		return fault("the array is structured (its values have named fields)", "save the vectors alone, as float32")
	}
	switch {
	case strings.HasPrefix(a.descr, "|O"):
		return fault("the array holds pickled Python objects, which are never loaded", "save it as numbers: numpy.save(path, numpy.stack(a).astype('float32'))")
	case strings.HasPrefix(a.descr, ">"):
		return fault(fmt.Sprintf("the values are big-endian (%s)", a.descr), "save them as little-endian: numpy.save(path, a.astype('<f4'))")
	}
	return fault(fmt.Sprintf("values of the type %q are not read", a.descr),
		"save the array as float32, float64, uint8, int8 or int32, for example numpy.save(path, a.astype('float32'))")
}

// joinShape writes a shape as Python does.
func joinShape(shape []uint64) string {
	var b strings.Builder
	for i, n := range shape {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatUint(n, 10))
	}
	if len(shape) == 1 {
		b.WriteByte(',')
	}
	return b.String()
}
