package results

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// WriteRows writes rows to path as Parquet, atomically: a reader sees the old file or the whole new one. All columns
// of Columns are there, null where no row has them, with one column for each cut-off k that any row has. Each row must
// pass Check. Rows that fill more than one row group are stored by engine and recall, others in their order.
func WriteRows(path string, rows []Row) error { return writeRowGroups(path, rows, rowGroupRows) }

// writeRowGroups writes row groups of so many rows.
func writeRowGroups(path string, rows []Row, size int) error {
	c := newCatalogue()
	names := map[string]bool{}
	for i, r := range rows {
		if err := c.check(r); err != nil {
			return fmt.Errorf("writing %s: row %d (point %q): %w", path, i, r.Text("point_id"), err)
		}
		for name := range r {
			names[name] = true
		}
	}
	fields := c.expand(cutoffsOf(names))
	order, value := storageOrder(rows, size), cellsOf(rows, fields)
	return writeBatches(path, fields, batchesOf(len(rows), size, func(row, f int) any { return value(order[row], f) }))
}

// expand gives the columns for the cut-offs ks. All columns of a family's group stand together for one k before the
// next.
func (c *catalogue) expand(ks []int) []field {
	var out []field
	for i := 0; i < len(c.columns); {
		if !strings.Contains(c.columns[i].Name, "_at_K") {
			out = append(out, field{c.columns[i].Name, c.columns[i].Type})
			i++
			continue
		}
		end := i
		for end < len(c.columns) && strings.Contains(c.columns[end].Name, "_at_K") {
			end++
		}
		for _, k := range ks {
			for _, col := range c.columns[i:end] {
				out = append(out, field{withCutoff(col.Name, k), col.Type})
			}
		}
		i = end
	}
	return out
}

// ReadRows reads the rows of all paths, in their order. A path is a Parquet file, a results folder (its
// results.parquet, else its parts/*.parquet), or a glob. Columns that this version does not know are left out and each
// row says so among its warnings; columns that a file lacks are null. Of two rows of one point of one run, as parts have
// them where a point failed and was tried again, only one is kept (see Replaces). A damaged file is an error that names it.
func ReadRows(ctx context.Context, paths ...string) ([]Row, error) {
	return readRows(ctx, nil, paths)
}

// ReadRowsWith is ReadRows without most of what was measured: rows say what the points are and how they ended, and have of
// the measured columns those named, each with its interval and for all cut-offs. It takes a part of the memory.
func ReadRowsWith(ctx context.Context, measured []string, paths ...string) ([]Row, error) {
	c := newCatalogue()
	families := map[string]bool{}
	for _, name := range measured {
		low, high := IntervalColumns(name)
		for _, one := range []string{name, low, high} {
			family, _ := splitCutoff(one)
			families[family] = true
		}
	}
	groups := []string{"completeness", "ann", "quality", "spans", "context", "loss", "abstention", "latency", "stages", "frontier", "cost"}
	return readRows(ctx, func(name string) bool {
		i, _, known := c.find(name)
		return known && slices.Contains(groups, c.columns[i].Group) && !families[c.columns[i].Name]
	}, paths)
}

func readRows(ctx context.Context, skip func(name string) bool, paths []string) ([]Row, error) {
	files, err := folder{whole: "results.parquet", parts: "parts"}.resolve(paths)
	if err != nil {
		return nil, err
	}
	c := newCatalogue()
	var all []Row
	for _, path := range files {
		rows, err := c.readFile(ctx, path, skip)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		all = append(all, rows...)
	}
	return latest(all), nil
}

// latest leaves out rows whose point was measured again in the same run.
func latest(rows []Row) []Row {
	type identity struct{ run, point string }
	last := map[identity]int{}
	superseded := map[int]bool{}
	for i, row := range rows {
		run, _ := row["run_id"].(string)
		point, _ := row["point_id"].(string)
		if _, timed := row["started_at"].(time.Time); run == "" || point == "" || !timed {
			continue
		}
		id := identity{run, point}
		old, known := last[id]
		switch {
		case !known:
			last[id] = i
		case Replaces(row, rows[old]):
			superseded[old], last[id] = true, i
		default:
			superseded[i] = true
		}
	}
	kept := rows[:0]
	for i, row := range rows {
		if !superseded[i] {
			kept = append(kept, row)
		}
	}
	return kept
}

// Replaces says whether row counts in place of old, another row of the same point of the same run: a measured one rather
// than a failed one, for a clock may have been set back in between, and of two alike the one that began later, or that
// comes later where both began at the same instant.
func Replaces(row, old Row) bool {
	if is, was := row.Text("status") == "ok", old.Text("status") == "ok"; is != was {
		return is
	}
	started, _ := row["started_at"].(time.Time)
	before, _ := old["started_at"].(time.Time)
	return !started.Before(before)
}

func (c *catalogue) readFile(ctx context.Context, path string, skip func(name string) bool) ([]Row, error) {
	var rows []Row
	unknown, err := readParquet(ctx, path, tableReader{
		columnType: func(name string) (Type, bool) {
			i, _, ok := c.find(name)
			if !ok {
				return 0, false
			}
			return c.columns[i].Type, true
		},
		skip:     skip,
		required: "point_id",
		grow: func(n int) {
			for range n {
				rows = append(rows, Row{})
			}
		},
		set: func(row int, name string, v any) { rows[row][name] = v },
	})
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		for _, r := range rows {
			r["warnings"] = withUnknown(r["warnings"], unknown)
		}
	}
	return rows, nil
}

// withUnknown are the warnings of a row, which may be null, and one for each column that was left out.
func withUnknown(warnings any, unknown []string) []string {
	had, _ := warnings.([]string)
	for _, name := range unknown {
		w := fmt.Sprintf("column %q is of another version of frontier and was left out; read the file with that version", name)
		if !slices.Contains(had, w) {
			had = append(had, w)
		}
	}
	return had
}
