package truth

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"frontier/datasets"

	"github.com/gofrs/flock"
)

const (
	stateFile = "state"
	lockFile  = "lock"
	// saveShare is the most of the time that saving may take: after a save of t, none follows for saveShare x t.
	saveShare = 20
)

// checkpoint keeps the state of a search in a folder of its own, which no other process uses meanwhile.
type checkpoint struct {
	dir   string
	lock  *flock.Flock
	every time.Duration
	now   func() time.Time
	next  time.Time // when to save
}

// openCheckpoint makes the folder, or takes over what a search left there.
func openCheckpoint(dir string, every time.Duration, now func() time.Time) (*checkpoint, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("a folder for unfinished work: %w", err)
	}
	c := &checkpoint{dir: dir, lock: flock.New(filepath.Join(dir, lockFile)), every: every, now: now, next: now().Add(every)}
	ok, err := c.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	if !ok {
		return nil, fmt.Errorf("%s is in use: another process searches for the same output; wait for it, or write elsewhere", dir)
	}
	// A process that was killed while it saved has left what it had written by then.
	for _, left := range temporary(dir) {
		if err := os.Remove(left); err != nil {
			return nil, errors.Join(fmt.Errorf("what a killed process left: %w", err), c.lock.Close())
		}
	}
	return c, nil
}

// temporary are the unfinished files of saves.
func temporary(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+stateFile+".") && strings.HasSuffix(e.Name(), ".tmp") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}

func (c *checkpoint) path() string { return filepath.Join(c.dir, stateFile) }

// peek says whether something was saved, and gives the audit in it. What was saved for another search is an error that
// says what differs.
func (c *checkpoint) peek(want Header) (audit *Audit, begun bool, err error) {
	state, err := openState(c.path(), stateBuffer)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if changes := differences(state.Header, want); len(changes) > 0 {
		err = &ChangedError{Dir: c.dir, Changes: changes}
	}
	return state.Audit, true, errors.Join(err, state.Close())
}

// begin saves that an audit was made, before any row was compared.
func (c *checkpoint) begin(h Header) error {
	h.Done, h.Held = h.From, 0
	if err := writeState(c.path(), h, func(int) []neighbor { return nil }); err != nil {
		return fmt.Errorf("saving the audit: %w", err)
	}
	return nil
}

// resume takes up what was saved, if anything was, and says how many rows are done.
func (c *checkpoint) resume(want Header, s *Scanner) (done int, err error) {
	state, err := openState(c.path(), stateBuffer)
	if errors.Is(err, os.ErrNotExist) {
		return want.From, nil
	}
	if err != nil {
		return 0, err
	}
	defer state.Close()
	for q := 0; ; q++ {
		row, err := state.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		s.restore(q, row)
	}
	s.rows = int64(state.Done - state.From)
	return state.Done, nil
}

// due says whether it is time to save.
func (c *checkpoint) due() bool { return !c.now().Before(c.next) }

// save writes what the Scanner has found in the rows up to done.
func (c *checkpoint) save(h Header, s *Scanner) error {
	start := c.now()
	h.Done, h.Held = h.From+int(s.Rows()), s.K()
	if err := writeState(c.path(), h, s.candidates); err != nil {
		return fmt.Errorf("saving what was found so far: %w", err)
	}
	end := c.now()
	c.next = end.Add(max(c.every, saveShare*end.Sub(start)))
	return nil
}

// close unlocks the folder. It stays, if there is a state in it and discard is false.
func (c *checkpoint) close(discard bool) error {
	_, err := os.Stat(c.path())
	if err == nil && !discard {
		return c.lock.Close()
	}
	// Only what is ours is deleted: with other files in it, the folder stays.
	for _, name := range []string{stateFile, lockFile} {
		if err := os.Remove(filepath.Join(c.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return errors.Join(err, c.lock.Close())
		}
	}
	_ = os.Remove(c.dir)
	return c.lock.Close()
}

// ChangedError says that a folder holds the unfinished work of another search.
type ChangedError struct {
	Dir     string
	Changes []string // each says what was and what is
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s holds the unfinished work of another search: %s; undo the change to go on with it, or delete the folder to begin anew",
		e.Dir, strings.Join(e.Changes, "; "))
}

// differences is what keeps a search from taking up the state of another.
func differences(was, is Header) []string {
	var all []string
	differ := func(what string, was, is any) {
		if was != is {
			all = append(all, fmt.Sprintf("%s was %v and is %v", what, was, is))
		}
	}
	differ("the metric", was.Metric, is.Metric)
	differ("k", was.K, is.K)
	differ("the part of the base", was.Shard, is.Shard)
	files := func(what string, was, is datasets.VectorFingerprint) {
		before := len(all)
		differ("the path of the "+what, was.Path, is.Path)
		differ("the type of the "+what, was.Type, is.Type)
		differ("the dimension of the "+what, was.Dim, is.Dim)
		differ("the number of "+what, was.Rows, is.Rows)
		differ("the size in bytes of the "+what, was.Size, is.Size)
		if was.Digest != is.Digest {
			all = append(all, "the content of the "+what+" has changed")
		}
		if was.Modified != is.Modified && len(all) == before {
			differ("the time at which the file of "+what+" was written", time.Unix(0, was.Modified).UTC(), time.Unix(0, is.Modified).UTC())
		}
	}
	files("base rows", was.Base, is.Base)
	files("queries", was.Queries, is.Queries)
	return all
}
