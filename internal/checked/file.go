// Package checked remembers errors of writing that libraries lose.
package checked

import "os"

// File writes to a file and keeps the first error. Some encoders, arrow's for Parquet among them, go on after a failed
// write and report success, so that a full disk would leave half a file that is believed to be whole: ask Err before
// the file is relied on.
type File struct {
	f   *os.File
	err error
}

// New writes to f, which the caller syncs and closes.
func New(f *os.File) *File { return &File{f: f} }

// Write writes to the file. After the first error it writes nothing more.
func (c *File) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.f.Write(p)
	c.err = err
	return n, err
}

// Seek moves in the file, for encoders that ask where they are.
func (c *File) Seek(offset int64, whence int) (int64, error) { return c.f.Seek(offset, whence) }

// Err is the first error of a write, nil if there was none.
func (c *File) Err() error { return c.err }
