package cas

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// GCOptions say what a collection deletes beside what is of no use: artifacts that are damaged or of another format,
// and what processes that died left behind. The zero value deletes no whole artifact.
type GCOptions struct {
	UnusedSince time.Time // whole artifacts that were not used since then; zero: none
	MaxBytes    *int64    // then as many of those not used for longest as are needed to have at most so many bytes left
	DryRun      bool      // find out only
}

// Reason is why an artifact is deleted.
type Reason string

const (
	ReasonBroken      Reason = "damaged"
	ReasonOtherFormat Reason = "other format"
	ReasonUnused      Reason = "not used for long"
	ReasonRoom        Reason = "room" // one of those not used for longest, and the cache was larger than allowed
)

// Deleted is an artifact that a collection deleted, or would delete.
type Deleted struct {
	Entry
	Reason Reason
}

// GCReport is what a collection did, or would do.
type GCReport struct {
	Deleted   []Deleted
	InUse     []Entry // would be deleted if no process used them
	Rest      int     // folders of damaged artifacts and of processes that died, deleted as well
	RestBytes int64
	KeptCount int   // artifacts that are left, of those that could be listed
	KeptBytes int64 // of them
}

// Freed is how many bytes were freed.
func (r GCReport) Freed() int64 {
	sum := r.RestBytes
	for _, d := range r.Deleted {
		sum += d.Bytes
	}
	return sum
}

// GC deletes artifacts, those first that were not used for longest, and never one that a process uses at the time. The
// report is valid also beside an error, which is about single artifacts.
func (c *Cache) GC(ctx context.Context, opt GCOptions) (GCReport, error) {
	var r GCReport
	var failed []error
	note := func(err error) {
		if err != nil {
			failed = append(failed, err)
		}
	}
	note(c.deleteRest(&r, opt))
	entries, err := c.List(ctx)
	note(err)
	r.KeptCount = len(entries)
	for _, e := range entries {
		r.KeptBytes += e.Bytes
	}
	// What is of no use goes before what is only old, so that room is not made with what is good.
	for _, useless := range []bool{true, false} {
		for _, e := range entries {
			if (e.Condition != Whole) != useless {
				continue
			}
			if err := ctx.Err(); err != nil {
				return r, errors.Join(append(failed, err)...)
			}
			reason := opt.reason(e, r.KeptBytes)
			if reason == "" {
				continue
			}
			gone, err := c.deleteArtifact(ctx, e, opt.DryRun)
			switch {
			case errors.Is(err, unix.EROFS): // so it would be with all others
				return r, c.storageError("delete artifacts", err)
			case err != nil:
				note(c.storageError("delete the artifact "+string(e.Key), err))
			case gone:
				r.Deleted = append(r.Deleted, Deleted{e, reason})
				r.KeptCount--
				r.KeptBytes -= e.Bytes
			default:
				r.InUse = append(r.InUse, e)
			}
		}
	}
	if !opt.DryRun {
		c.deleteLocks()
	}
	return r, errors.Join(failed...)
}

func (o GCOptions) reason(e Entry, left int64) Reason {
	switch {
	case e.Condition == Broken:
		return ReasonBroken
	case e.Condition == OtherFormat:
		return ReasonOtherFormat
	case !o.UnusedSince.IsZero() && e.LastUsed.Before(o.UnusedSince):
		return ReasonUnused
	case o.MaxBytes != nil && left > *o.MaxBytes:
		return ReasonRoom
	}
	return ""
}

// trashMark is in the name of an artifact's folder that is being deleted. A rename within a folder needs no room on the
// disk, and hides the artifact at one stroke.
const trashMark = ".trash-"

// deleteArtifact deletes an artifact that was listed as e, unless it is in use, is being made, or was used or replaced
// since then.
func (c *Cache) deleteArtifact(ctx context.Context, e Entry, dry bool) (gone bool, err error) {
	f, err := c.inspect(ctx, e.Key, sizesOnly)
	if err != nil {
		return false, err
	}
	defer f.unpin()
	switch {
	case f.state == absent:
		return true, nil // someone else was quicker
	case f.state == leaving:
		return false, nil
	case f.pin == nil:
		return c.deleteUnmarked(e, dry)
	}
	return c.deleteMarked(e, f, dry)
}

// deleteMarked deletes the artifact e if it is still the one that f is about.
func (c *Cache) deleteMarked(e Entry, f finding, dry bool) (gone bool, err error) {
	seen, err := f.pin.Stat()
	if err != nil || seen.ModTime().After(e.LastUsed) {
		return false, err
	}
	f.unpin()          // its shared lock would exclude ours
	flags := os.O_RDWR // some network file systems want this for an exclusive lock
	if dry {
		flags = os.O_RDONLY
	}
	path := filepath.Join(e.Dir, metaFile)
	marker, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist), ignore(err, fs.ErrNotExist)
	}
	defer marker.Close()
	what, err := lockOpened(marker, path, unix.LOCK_EX)
	if err != nil || what != locked { // without locks nobody knows who uses it
		return false, err
	}
	if now, err := marker.Stat(); err != nil || !os.SameFile(seen, now) {
		return false, err
	}
	if dry {
		return true, nil
	}
	return true, c.discard(e)
}

func ignore(err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}

// deleteUnmarked deletes an artifact that has no artifact.json to lock. Its maker's lock keeps another from taking its
// place meanwhile.
func (c *Cache) deleteUnmarked(e Entry, dry bool) (gone bool, err error) {
	if dry {
		return true, nil
	}
	lock, _, err := tryLockFile(c.lockPath(e.Key), true)
	if lock == nil {
		return false, err
	}
	defer lock.unlock()
	if _, err := os.Lstat(filepath.Join(e.Dir, metaFile)); err == nil {
		return false, nil
	}
	return true, c.discard(e)
}

func (c *Cache) discard(e Entry) error {
	trash := e.Dir + trashMark + nonce()
	if err := c.fs.rename(e.Dir, trash); err != nil {
		return err
	}
	return c.fs.removeAll(trash)
}

// deleteRest deletes what is no artifact: damaged ones that were moved aside, and what is left of processes that died,
// unfinished work only if nobody went on with it for long.
func (c *Cache) deleteRest(r *GCReport, opt GCOptions) error {
	dry := opt.DryRun
	var paths []string
	moved, err := readDir(filepath.Join(c.root, "damaged"))
	if err != nil {
		return c.storageError("list what was moved aside", err)
	}
	for _, d := range moved {
		paths = append(paths, filepath.Join(c.root, "damaged", d.Name()))
	}
	trash, err := filepath.Glob(filepath.Join(globEscape(c.root), "objects", "*", "*"+trashMark+"*"))
	if err != nil {
		return c.storageError("list what is half deleted", err)
	}
	paths = append(paths, trash...)
	var failed []error
	remove := func(path string) bool {
		bytes, err := treeBytes(path)
		if err == nil && !dry {
			err = c.fs.removeAll(path)
		}
		if err != nil {
			failed = append(failed, c.storageError("delete "+path, err))
			return false
		}
		r.Rest++
		r.RestBytes += bytes
		return true
	}
	for _, path := range paths {
		remove(path)
	}
	c.eachStale(func(dir string, owner *lockFile) {
		if remove(dir) && owner != nil && !dry {
			_ = os.Remove(owner.f.Name()) // it is tried again the next time
		}
	})
	abandoned := opt.UnusedSince
	if abandoned.IsZero() {
		abandoned = time.Now().Add(-unfinishedFor)
	}
	if err := c.eachAbandoned(abandoned, func(dir string) { remove(dir) }); err != nil {
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// deleteLocks deletes the lock files that nobody holds. Whoever waits for one notices, and makes it again.
func (c *Cache) deleteLocks() {
	entries, err := readDir(filepath.Join(c.root, "locks"))
	if err != nil {
		return
	}
	for _, d := range entries {
		if !Key(d.Name()).valid() {
			continue
		}
		if l, _, err := tryLockFile(c.lockPath(Key(d.Name())), false); err == nil && l != nil {
			l.remove()
		}
	}
}
