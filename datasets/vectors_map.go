//go:build unix

package datasets

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapVectorFile maps the whole file read-only. It refuses empty files and pointers to large files.
func mapVectorFile(path string) (raw []byte, unmap func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe is refused, rather than waited for
	if err != nil {
		return nil, nil, fmt.Errorf("opening vectors: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("opening vectors: %w", err)
	}
	size := info.Size()
	switch {
	case !info.Mode().IsRegular():
		return nil, nil, &Error{File: path, Msg: "is not a regular file", Hint: "vector files are mapped, so pipes and folders cannot be read; write it to a file"}
	case size == 0:
		return nil, nil, &Error{File: path, Msg: "the file is empty", Hint: "was its download or export finished?"}
	case size > math.MaxInt:
		return nil, nil, &Error{File: path, Msg: fmt.Sprintf("%d bytes cannot be mapped on a 32-bit machine", size), Hint: "use a 64-bit machine"}
	}
	raw, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("mapping %s (%d bytes): %w", path, size, err)
	}
	unmap = func() error { return unix.Munmap(raw) }
	if err := refuseKinds(path, raw, pointerKinds); err != nil {
		return nil, nil, joinUnmap(err, unmap)
	}
	return raw, unmap, nil
}

func joinUnmap(err error, unmap func() error) error {
	if failed := unmap(); failed != nil {
		return errors.Join(err, failed)
	}
	return err
}
