package cas

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Condition is what a listing knows about an artifact without reading its content.
type Condition string

const (
	// Whole artifacts have all files, with their sizes.
	Whole Condition = "whole"
	// OtherFormat artifacts come from another version of this program, and are made again when they are needed.
	OtherFormat Condition = "other format"
	// Broken artifacts lack files or have some of another size, and are made again when they are needed.
	Broken Condition = "damaged"
)

// Entry is an artifact in a listing.
type Entry struct {
	Key       Key
	Meta      Meta // as far as it could be read; the Stage also of other formats
	Dir       string
	Condition Condition
	Faults    []Fault // if Broken
	Bytes     int64   // of all files, as they are
	LastUsed  time.Time
}

// List finds the artifacts of the cache, the one that was not used for longest first. It compares sizes, not checksums.
// What cannot be read is left out, and is the error.
func (c *Cache) List(ctx context.Context) ([]Entry, error) {
	keys, err := c.keys()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	var failed []error
	for _, k := range keys {
		e, ok, err := c.entry(ctx, k)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed = append(failed, c.storageError("read the artifact "+string(k), err))
		} else if ok {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.LastUsed.Compare(b.LastUsed), cmp.Compare(a.Key, b.Key))
	})
	return entries, errors.Join(failed...)
}

// keys finds the folders that are named as artifacts are, whatever they hold.
func (c *Cache) keys() ([]Key, error) {
	objects := filepath.Join(c.root, "objects")
	groups, err := readDir(objects)
	if err != nil {
		return nil, c.storageError("list the artifacts", err)
	}
	var keys []Key
	for _, group := range groups {
		names, err := readDir(filepath.Join(objects, group.Name()))
		if err != nil {
			return nil, c.storageError("list the artifacts", err)
		}
		for _, d := range names {
			if k := Key(d.Name()); k.valid() && strings.HasPrefix(d.Name(), group.Name()) {
				keys = append(keys, k)
			}
		}
	}
	return keys, nil
}

// readDir is os.ReadDir, except that what is not there, or is no folder, is empty.
func readDir(path string) ([]os.DirEntry, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// entry describes an artifact; it is not ok if it is gone or going.
func (c *Cache) entry(ctx context.Context, k Key) (e Entry, ok bool, err error) {
	f, err := c.inspect(ctx, k, sizesOnly)
	if err != nil {
		return Entry{}, false, err
	}
	defer f.unpin()
	e = Entry{Key: k, Meta: f.meta, Dir: c.dir(k), Faults: f.faults}
	switch f.state {
	case absent, leaving:
		return Entry{}, false, nil
	case whole:
		e.Condition = Whole
	case otherFormat:
		e.Condition = OtherFormat
	case damaged:
		e.Condition = Broken
	}
	if e.Bytes, err = treeBytes(e.Dir); err != nil {
		return Entry{}, false, err
	}
	for _, path := range []string{filepath.Join(e.Dir, metaFile), e.Dir} {
		if info, err := os.Lstat(path); err == nil {
			e.LastUsed = info.ModTime()
			return e, true, nil
		}
	}
	return Entry{}, false, nil
}

// treeBytes is the size of all files below path.
func treeBytes(path string) (int64, error) {
	files, err := listFiles(path, true)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var sum int64
	for _, size := range files {
		sum += max(size, 0)
	}
	return sum, err
}
