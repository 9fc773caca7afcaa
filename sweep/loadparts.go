package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"frontier/results"
)

// damagedDir is where parts go that cannot be used, with their queries.
const damagedDir = "damaged"

// load reads the parts. One that is damaged, or whose queries are gone so that its numbers cannot be traced, moves to
// damaged/ with a warning, and its cell is measured again; all others count.
func (s *store) load() (warnings []string, err error) {
	paths, err := filepath.Glob(filepath.Join(globQuote(s.dir), partsDir, "*.parquet"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		rows, err := results.ReadRows(context.Background(), path)
		why := ""
		switch {
		case err != nil:
			why = err.Error()
		case s.untraceable(path, rows):
			why = fmt.Sprintf("%s is gone, from which its numbers could be computed again", filepath.Join(queriesDir, filepath.Base(path)))
		}
		if why == "" {
			for _, row := range rows {
				s.add(row)
			}
			continue
		}
		if err := s.moveDamaged(filepath.Base(path)); err != nil {
			return warnings, fmt.Errorf("move %s to %s: %w", path, damagedDir, err)
		}
		warnings = append(warnings, fmt.Sprintf("what %s holds is measured again, and the file is in %s now: %s", filepath.Join(partsDir, filepath.Base(path)), damagedDir, why))
	}
	return warnings, nil
}

// untraceable says whether the part at path has measured rows, but no queries beside it.
func (s *store) untraceable(path string, rows []results.Row) bool {
	if !slices.ContainsFunc(rows, func(row results.Row) bool { return row["status"] == statusOK }) {
		return false // failed points have no queries
	}
	_, err := os.Stat(filepath.Join(s.dir, queriesDir, filepath.Base(path)))
	return errors.Is(err, os.ErrNotExist)
}

func (s *store) moveDamaged(name string) error {
	for _, sub := range []string{partsDir, queriesDir} {
		to := filepath.Join(s.dir, damagedDir, sub)
		if err := os.MkdirAll(to, 0o755); err != nil {
			return err
		}
		err := os.Rename(filepath.Join(s.dir, sub, name), filepath.Join(to, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// add takes a row in. Of two of one point a measured one counts more than a failed one, whatever the clock said, and of
// two alike the later.
func (s *store) add(row results.Row) {
	id, _ := row["point_id"].(string)
	if old, known := s.have[id]; known && !results.Replaces(row, old) {
		return
	}
	s.have[id] = row
}
