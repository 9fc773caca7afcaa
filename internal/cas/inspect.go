package cas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// state is what lies in the folder of an artifact.
type state int

const (
	absent      state = iota
	otherFormat       // of another version of this program; it counts as absent
	damaged
	leaving // being deleted at this moment
	whole
)

// finding is the result of looking at an artifact.
type finding struct {
	state  state
	meta   Meta    // if it could be read
	faults []Fault // if damaged
	// pin is the opened artifact.json with a shared lock, for as long as which nobody deletes the artifact. It is nil if
	// there is none, or if the file system has no locks.
	pin *os.File
}

// unpin gives up the lock. It may be called twice.
func (f finding) unpin() {
	if f.pin != nil {
		_ = f.pin.Close() // it was only read
	}
}

// depth says how much of an artifact is looked at.
type depth int

const (
	sizesOnly depth = iota
	allBytes
)

// inspect looks at the artifact k. An error means that it cannot be told what is there. The caller must unpin the
// finding.
func (c *Cache) inspect(ctx context.Context, k Key, d depth) (finding, error) {
	dir := c.dir(k)
	pin, err := os.Open(filepath.Join(dir, metaFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		if _, err := os.Lstat(dir); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return finding{}, err
		}
		return finding{state: damaged, faults: []Fault{{metaFile, "is missing"}}}, nil
	}
	if err != nil {
		return finding{}, err
	}
	f := finding{pin: pin}
	what, err := lockOpened(pin, filepath.Join(dir, metaFile), unix.LOCK_SH)
	switch {
	case err != nil && !cannotLock(err):
		f.unpin()
		return finding{}, err
	case err == nil && what != locked:
		f.unpin()
		return finding{state: leaving}, nil
	}
	if err := f.judge(ctx, dir, k, d); err != nil {
		f.unpin()
		return finding{}, err
	}
	return f, nil
}

// judge fills in all but the pin.
func (f *finding) judge(ctx context.Context, dir string, k Key, d depth) error {
	raw, err := io.ReadAll(io.LimitReader(f.pin, maxMeta+1))
	if err == nil && len(raw) > maxMeta {
		err = fmt.Errorf("is longer than %d bytes", maxMeta)
	} else if err != nil && !isDamage(err) {
		return err
	}
	if err == nil {
		f.meta, err = decodeMeta(raw, k)
	}
	if errors.Is(err, errOtherFormat) {
		f.state = otherFormat
		return nil
	}
	if err != nil {
		f.state, f.faults = damaged, []Fault{{metaFile, err.Error()}}
		return nil
	}
	faults, err := checkNames(dir, f.meta)
	if err == nil && len(faults) == 0 && d == allBytes {
		faults, err = checkBytes(ctx, dir, f.meta)
	}
	if err != nil {
		return err
	}
	f.state, f.faults = whole, faults
	if len(faults) > 0 {
		f.state = damaged
	}
	return nil
}

// isDamage says whether an error of reading means that the file is lost, and not that it may not be read now.
func isDamage(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, unix.EIO) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOTDIR)
}

// checkNames finds files that are missing, have another size, or were not there when the artifact was written. Files
// whose names begin with a dot are ignored: file systems and desktops leave such.
func checkNames(dir string, m Meta) ([]Fault, error) {
	found, err := listFiles(dir, true)
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for _, name := range sortedKeys(m.Files) {
		size, ok := found[name]
		switch want := m.Files[name].Size; {
		case !ok:
			faults = append(faults, Fault{name, "is missing"})
		case size != want:
			faults = append(faults, Fault{name, fmt.Sprintf("has %d bytes, not %d", size, want)})
		}
	}
	for _, name := range sortedKeys(found) {
		_, known := m.Files[name]
		if !known && name != metaFile && !strings.HasPrefix(filepath.Base(name), ".") {
			faults = append(faults, Fault{name, "was not there when the artifact was made"})
		}
	}
	return faults, nil
}

// checkBytes finds files whose checksums are not those of the artifact.
func checkBytes(ctx context.Context, dir string, m Meta) ([]Fault, error) {
	sizes := map[string]int64{}
	for name, f := range m.Files {
		sizes[name] = f.Size
	}
	sums, failed := checksums(ctx, dir, sizes)
	var faults []Fault
	for _, name := range sortedKeys(m.Files) {
		want, got := m.Files[name].CRC32C, sums[name]
		switch err := failed[name]; {
		case err != nil && !isDamage(err):
			return nil, err
		case err != nil:
			faults = append(faults, Fault{name, "cannot be read: " + err.Error()})
		case want != got:
			at := firstDifference(want, got) * blockBytes
			faults = append(faults, Fault{name, fmt.Sprintf("has another content than was written, in the bytes %d to %d",
				at, min(at+blockBytes, sizes[name]))})
		}
	}
	return faults, nil
}
