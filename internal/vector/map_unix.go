//go:build unix

package vector

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFloats maps the first size bytes of f and returns what follows the header as float32. Every platform that this
// builds for is little-endian, as the file is.
func mapFloats(f *os.File, size int) ([]float32, func() error, error) {
	raw, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	body := raw[fbinHeader:]
	return unsafe.Slice((*float32)(unsafe.Pointer(&body[0])), len(body)/4), func() error { return unix.Munmap(raw) }, nil
}
