package cas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Locks are those of flock(2): the system releases them when the process that holds them ends, however it ends. They
// belong to an opened file, so that two callers in one process exclude each other as two processes do.

// tryFlock takes a lock without waiting: unix.LOCK_SH or unix.LOCK_EX.
func tryFlock(f *os.File, how int) (bool, error) {
	for {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		default:
			return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}

// cannotLock says whether a lock failed because the file system has none.
func cannotLock(err error) bool {
	for _, e := range []error{unix.ENOLCK, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOSYS} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// isAt says whether path still names the opened file f.
func isAt(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

// outcome is what came of locking an opened file.
type outcome int

const (
	locked outcome = iota
	busy           // somebody else has it locked
	gone           // its path names another file or none: it was deleted between opening and locking
)

// lockOpened locks the file f, which was opened as path, without waiting.
func lockOpened(f *os.File, path string, how int) (outcome, error) {
	ok, err := tryFlock(f, how)
	switch {
	case err != nil:
		return busy, err
	case !ok:
		return busy, nil
	case !isAt(f, path):
		return gone, nil
	}
	return locked, nil
}

// lockFile is a file that is locked exclusively. It holds the process id of its holder.
type lockFile struct{ f *os.File }

// tryLockFile locks the file path if nobody else has it locked; with create it makes the file if need be. Where it is
// locked, holder is the process that has it, or 0 if that cannot be told.
func tryLockFile(path string, create bool) (l *lockFile, holder int, err error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	for {
		f, err := os.OpenFile(path, flags, 0o666)
		if err != nil {
			return nil, 0, err
		}
		what, err := lockOpened(f, path, unix.LOCK_EX)
		if err == nil && what == locked {
			l := &lockFile{f}
			l.note()
			return l, 0, nil
		}
		holder := readHolder(f)
		_ = f.Close() // nothing was written
		if err != nil || what == busy {
			return nil, holder, err
		}
	}
}

// note writes the holder's process id, which is for messages only: a full disk does not keep the lock from working.
func (l *lockFile) note() {
	if err := l.f.Truncate(0); err == nil {
		_, _ = l.f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
}

func readHolder(f *os.File) int {
	buf := make([]byte, 20)
	n, _ := f.ReadAt(buf, 0) // an empty file has no holder's name, which is all that an error would tell
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		return 0
	}
	return pid
}

func (l *lockFile) unlock() { _ = l.f.Close() } // closing unlocks, whatever it returns

// remove deletes the file while it is locked, so that whoever opened it meanwhile sees that it is gone.
func (l *lockFile) remove() {
	_ = os.Remove(l.f.Name())
	l.unlock()
}

const (
	firstPoll = time.Millisecond
	lastPoll  = 50 * time.Millisecond
)

// poll calls try, with growing pauses, until it is done, fails or ctx ends.
func poll(ctx context.Context, try func(waited time.Duration) (bool, error)) error {
	start := time.Now()
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		done, err := try(time.Since(start))
		if done || err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// lock takes the lock under which the artifact of s is built, and reports a long wait.
func (c *Cache) lock(ctx context.Context, s Stage, k Key) (*lockFile, error) {
	var l *lockFile
	told := false
	err := poll(ctx, func(waited time.Duration) (done bool, err error) {
		var holder int
		l, holder, err = tryLockFile(c.lockPath(k), true)
		if !told && l == nil && err == nil && waited >= c.noticeAfter {
			told = true
			c.report(Notice{Kind: Waiting, Stage: s, Key: k, Holder: holder})
		}
		return l != nil, err
	})
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("%s: wait for the lock on the artifact: %w", s.Name, err)
	}
	return l, err
}
