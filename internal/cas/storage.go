package cas

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// StorageError means that the folder of the cache could not be used: its disk is full, it cannot be written, or it is
// not there. What the cache holds is whole nevertheless.
type StorageError struct {
	Root  string // the cache's folder
	Doing string // what could not be done
	Free  int64  // bytes that can still be written there; -1 if unknown
	Total int64  // size of the file system in bytes
	Err   error
}

func (e *StorageError) Error() string {
	space := ""
	if e.Free >= 0 {
		space = fmt.Sprintf(" (%s of %s are free there)", FormatBytes(e.Free), FormatBytes(e.Total))
	}
	return fmt.Sprintf("cannot %s in the cache %s%s: %v; %s", e.Doing, e.Root, space, e.Err, e.remedy())
}

func (e *StorageError) Unwrap() error { return e.Err }

func (e *StorageError) remedy() string {
	switch {
	case isFull(e.Err):
		return "make room with `frontier cache gc`, or name a folder on another disk with --cache"
	case isForbidden(e.Err):
		return "make it writable, or name a folder that can be written with --cache"
	case errors.Is(e.Err, unix.EMFILE), errors.Is(e.Err, unix.ENFILE):
		return "allow more open files (ulimit -n): each artifact in use needs one"
	case e.Free >= 0 && e.Free < littleSpace:
		return "the disk is all but full: make room with `frontier cache gc`, or name a folder on another disk with --cache"
	default:
		return "check the disk, or name another folder with --cache"
	}
}

// littleSpace is so little that a failure is likely for want of space, even where the error does not say so, as those
// of libraries often do not.
const littleSpace = 1 << 20

func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

func isForbidden(err error) bool {
	return errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)
}

// storageError adds to an error of the cache's own files which folder it is, how much room it has, and what to do.
func (c *Cache) storageError(doing string, err error) error {
	free, total := c.space()
	return &StorageError{Root: c.root, Doing: doing, Free: free, Total: total, Err: err}
}

// buildError does the same for an error of a caller's build function, if it comes from the cache's disk.
func (c *Cache) buildError(s Stage, err error) error {
	var at *fs.PathError
	inside := errors.As(err, &at) && strings.HasPrefix(at.Path, c.root+string(filepath.Separator))
	if free, _ := c.space(); isFull(err) || inside && isForbidden(err) || free >= 0 && free < littleSpace {
		return c.storageError("make the artifact of "+s.Describe(), err)
	}
	return err
}

func (c *Cache) space() (free, total int64) {
	var st unix.Statfs_t
	if unix.Statfs(c.root, &st) != nil {
		return -1, -1
	}
	return int64(uint64(st.Bavail) * uint64(st.Bsize)), int64(uint64(st.Blocks) * uint64(st.Bsize)) //nolint:unconvert // the types differ between systems
}

// FormatBytes is a number of bytes for people, in units of 1024: 1.5 MiB.
func FormatBytes(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= unit && prefix < len("KMGTPE")-1 {
		value /= unit
		prefix++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTPE"[prefix])
}
