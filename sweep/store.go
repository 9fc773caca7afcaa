package sweep

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"frontier/internal/cas"
	"frontier/results"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"
)

// store is the results folder while a sweep writes to it: parts hold the rows of finished cells, each renamed into
// place whole, and results.parquet is made from them.
type store struct {
	dir   string
	runID string
	lock  *flock.Flock
	have  map[string]results.Row // by point
}

// parts and queries are folders of the results folder.
const (
	partsDir   = "parts"
	queriesDir = "queries"
	runFile    = "run_id"
	answersDir = ".answers-" // of the cell that is measured, and a random ending
)

// openStore opens the results folder dir, or makes it, for this sweep alone. It changes nothing of what is there.
func openStore(dir string) (*store, error) {
	dir, err := filepath.Abs(dir) // cells may run elsewhere
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open the results folder: %w; name a folder that can be written with --out", err)
	}
	s := &store{dir: dir, lock: flock.New(filepath.Join(dir, ".lock")), have: map[string]results.Row{}}
	free, err := s.lock.TryLock()
	if err != nil {
		return nil, s.explain(fmt.Errorf("lock the results folder: %w", err))
	}
	if !free {
		return nil, fmt.Errorf("another sweep is writing to %s; wait for it, or choose another folder with --out", dir)
	}
	return s, nil
}

// begin reads what was measured before. With fresh, that moves to superseded/ and a new run begins. What is damaged
// moves to damaged/, and the warnings say so.
func (s *store) begin(fresh bool) (warnings []string, err error) {
	if err := s.finishSupersede(); err != nil { // first, for sweepUp takes queries without their parts for leftovers
		return nil, err
	}
	if err := s.sweepUp(); err != nil {
		return nil, fmt.Errorf("clear away what a killed run left: %w", err)
	}
	old, err := os.ReadFile(filepath.Join(s.dir, runFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	s.runID = strings.TrimSpace(string(old))
	if fresh {
		if err := s.supersede(s.runID); err != nil {
			return nil, err
		}
		s.runID = ""
	}
	for _, sub := range []string{partsDir, queriesDir} {
		if err := os.MkdirAll(filepath.Join(s.dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	if warnings, err = s.load(); err != nil {
		return warnings, err
	}
	if s.runID != "" {
		return warnings, nil
	}
	if s.runID = s.latestRun(); s.runID == "" {
		s.runID = newRunID()
	}
	return warnings, replaceFile(filepath.Join(s.dir, runFile), func(w io.Writer) error {
		_, err := io.WriteString(w, s.runID+"\n")
		return err
	})
}

// latestRun is the run of the last row that was measured, for a folder that lost the file that names it; "" without rows.
func (s *store) latestRun() string {
	run, last := "", time.Time{}
	for _, row := range s.have {
		id, _ := row["run_id"].(string)
		if started, _ := row["started_at"].(time.Time); run == "" || started.After(last) {
			run, last = id, started
		}
	}
	return run
}

// sweepUp removes what a run that was killed left unfinished: files under temporary names, answers of a cell, and
// queries whose rows were not written any more, which would be there twice once the cell is measured again. The lock
// is held, so none of it belongs to a run.
func (s *store) sweepUp() error {
	var left []string
	for _, pattern := range []string{".*.tmp", answersDir + "*", filepath.Join(partsDir, ".*.tmp"), filepath.Join(queriesDir, ".*.tmp")} {
		found, err := filepath.Glob(filepath.Join(globQuote(s.dir), pattern))
		if err != nil {
			return err
		}
		left = append(left, found...)
	}
	queries, err := filepath.Glob(filepath.Join(globQuote(s.dir), queriesDir, "*.parquet"))
	if err != nil {
		return err
	}
	for _, path := range queries {
		_, err := os.Stat(filepath.Join(s.dir, partsDir, filepath.Base(path)))
		if errors.Is(err, os.ErrNotExist) {
			left = append(left, path)
		} else if err != nil {
			return err
		}
	}
	for _, path := range left {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

// globQuote makes a path a pattern that matches only itself.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// pending gives the cells with the points that are not measured yet, and how many points are.
func (s *store) pending(cells []*cellPlan) (todo []*cellPlan, kept int) {
	for _, c := range cells {
		left := *c
		left.points, left.done = nil, nil
		for _, p := range c.points {
			if row, ok := s.have[p.id]; ok && row["status"] == statusOK {
				left.done = append(left.done, p)
			} else {
				left.points = append(left.points, p)
			}
		}
		kept += len(left.done)
		if len(left.points) > 0 {
			todo = append(todo, &left)
		}
	}
	return todo, kept
}

// commit writes the rows of one visit to a cell. The queries go first: a row without them could not be traced.
func (s *store) commit(c *cellPlan, rows []results.Row, queries []results.QueryRow) error {
	name := fmt.Sprintf("%s-%s.parquet", c.id, hexTime(time.Now()))
	if len(queries) > 0 {
		if err := results.WriteQueries(filepath.Join(s.dir, queriesDir, name), queries); err != nil {
			return fmt.Errorf("write the queries of a cell: %w", err)
		}
	}
	if err := results.WriteRows(filepath.Join(s.dir, partsDir, name), rows); err != nil {
		return fmt.Errorf("write the rows of a cell: %w", err)
	}
	for _, row := range rows {
		s.add(row)
	}
	return nil
}

// queriesOf are the rows of the questions that an earlier visit to a cell asked at one of its points.
func (s *store) queriesOf(c *cellPlan, p pointPlan) ([]results.QueryRow, error) {
	parts, err := filepath.Glob(filepath.Join(globQuote(s.dir), queriesDir, c.id+"-*.parquet"))
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	rows, err := results.ReadQueries(context.Background(), parts...)
	return slices.DeleteFunc(rows, func(q results.QueryRow) bool { return q.PointID != p.id }), err
}

// rows are the rows of all points of the plan that have one, in plan order.
func (s *store) rows(cells []*cellPlan) []results.Row {
	var rows []results.Row
	for _, c := range cells {
		for _, p := range c.points {
			if row, ok := s.have[p.id]; ok {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// explain adds to an error that a full disk caused where room is needed and what to do. The cache does so for itself.
func (s *store) explain(err error) error {
	if err == nil || !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	var known *cas.StorageError
	if errors.As(err, &known) {
		return err
	}
	free := "little"
	var st unix.Statfs_t
	if unix.Statfs(s.dir, &st) == nil {
		free = fmt.Sprintf("%d KiB", uint64(st.Bavail)*uint64(st.Bsize)>>10) //nolint:unconvert // the types differ between systems
	}
	return fmt.Errorf("the disk of the results folder %s is full (%s free): %w; nothing that was measured is lost: make room, or move the folder to another disk and name it with --out, and run the same command again", s.dir, free, err)
}

func (s *store) close() { _ = s.lock.Unlock() } // the lock ends with the process in any case

// newRunID is a name that sorts by time and differs between runs that start together.
func newRunID() string {
	var random [4]byte
	_, _ = rand.Read(random[:]) // crypto/rand.Read does not fail
	return time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(random[:])
}

// hexTime tells apart the files of several visits to one cell.
func hexTime(t time.Time) string { return fmt.Sprintf("%x", t.UnixNano()) }
