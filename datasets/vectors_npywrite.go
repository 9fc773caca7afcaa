package datasets

import (
	"encoding/binary"
	"fmt"
)

// NpyHeader begins an npy file of rows x columns values of the type descr, such as "<f8", row by row: NumPy's format 1.0.
// It is the magic, the version, the length of what follows, and a Python dictionary that is padded so that the values
// start at a multiple of 64.
func NpyHeader(descr string, rows, columns int) []byte {
	const fixed, align = len(npyMagic) + 4, 64
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, rows, columns)
	length := (fixed+len(text)+1+align-1)/align*align - fixed
	b := binary.LittleEndian.AppendUint16([]byte(npyMagic+"\x01\x00"), uint16(length))
	return fmt.Appendf(b, "%-*s\n", length-1, text)
}
