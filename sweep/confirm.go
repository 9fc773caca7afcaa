package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"frontier/results"
)

// releaseSplit is what a choice that was made on devSplit is confirmed on. It also names the folder of what came of it,
// in that of the run.
const releaseSplit = "release"

// ConfirmOptions say which point of a run on split dev is confirmed on split release.
type ConfirmOptions struct {
	Dir        string   // results folder of the run
	Point      string   // its point_id; "" takes the best by Objectives
	Objectives []string // as results.ParseObjective reads them; nil takes those of the run
	Root       string   // folder that relative paths of the sweep file are taken from; "" takes that of the file
	Again      bool     // also if another point was confirmed before
	Run        Options  // how it is measured; Out and Like are set here
}

// Confirmation is one point on both splits.
type Confirmation struct {
	Chosen     results.Row         // on dev
	Measured   []results.Row       // on release
	Objectives []results.Objective // that Chosen is the best by
	Summary    Summary             // of the measurement
}

// Confirm measures one point of a run on split dev, and no other, on split release, into a folder of its own in that of the
// run. The best of many points looks better on the questions that it was chosen by than it is. Release cases say so once:
// who measures one point after the other on them tunes on them, so that a second point is an OptionError without Again.
func Confirm(ctx context.Context, o ConfirmOptions) (*Confirmation, error) {
	m, err := results.ReadManifest(o.Dir)
	if err != nil {
		return nil, wrongOption("%s is not the results folder of a sweep: %w", o.Dir, err)
	}
	rows, err := results.ReadRows(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	if len(o.Objectives) == 0 {
		o.Objectives = m.Objectives
	}
	c := &Confirmation{}
	if c.Objectives, err = results.ParseObjectives(o.Objectives); err != nil {
		return nil, &OptionError{err}
	}
	if c.Chosen, err = choose(rows, o.Point, c.Objectives); err != nil {
		return nil, wrongOption("%s: %w", o.Dir, err)
	}
	f, err := ReadSweepOf(m, o.Run.Registry, o.Root)
	if err != nil {
		return nil, fmt.Errorf("read the sweep in the manifest of %s: %w", o.Dir, err)
	}
	for _, w := range f.DropAbsent(o.Run.Registry) {
		if o.Run.Progress != nil {
			o.Run.Progress(Event{Stage: "warning", Detail: w})
		}
	}
	if f.Dataset == nil {
		return nil, wrongOption("%s is of a sweep over vectors, whose queries have no splits", o.Dir)
	}
	f.Dataset.Split = releaseSplit
	o.Run.Out, o.Run.Like = filepath.Join(o.Dir, releaseSplit), c.Chosen
	if !o.Again {
		if err := onlyOnce(ctx, o.Run.Out, c.Chosen); err != nil {
			return nil, err
		}
	}
	if c.Summary, err = Run(ctx, f, o.Run); err != nil {
		return c, err
	}
	c.Measured, err = results.ReadRows(ctx, o.Run.Out)
	return c, err
}

// choose is the row to confirm: that of the point, or the best.
func choose(rows []results.Row, point string, objectives []results.Objective) (results.Row, error) {
	for _, row := range rows {
		if row.Text("split") != devSplit {
			return nil, errors.New("it was not measured on split dev; run the sweep with --set dataset.split=dev first")
		}
	}
	if point != "" {
		i := slices.IndexFunc(rows, func(row results.Row) bool { return row.Text("point_id") == point })
		if i < 0 {
			return nil, fmt.Errorf("it has no point %q", point)
		}
		return rows[i], nil
	}
	// A failed row may have a value that makes it the first, as one whose answers leak does.
	measured := slices.DeleteFunc(slices.Clone(rows), func(row results.Row) bool { return row.Text("status") != statusOK })
	order := results.ByObjectives(measured, objectives)
	if len(order) == 0 {
		return nil, errors.New("it has no point that was measured")
	}
	best := measured[order[0]]
	if _, ok := best.Number(objectives[0].Column); !ok {
		return nil, fmt.Errorf("none of its points has a value of %s, so that there is no best; name another objective, or a point", objectives[0].Column)
	}
	return best, nil
}

// onlyOnce refuses to measure a second choice on the cases that are there to judge the first. A point that failed on them
// told nothing.
func onlyOnce(ctx context.Context, out string, chosen results.Row) error {
	// The parts, for results.parquet has the points of the last confirmation alone.
	parts, err := filepath.Glob(filepath.Join(globQuote(out), partsDir, "*.parquet"))
	if err != nil || len(parts) == 0 {
		return err
	}
	before, err := results.ReadRows(ctx, parts...)
	if err != nil {
		return fmt.Errorf("see whether another point was confirmed before: %w; --again does not look", err)
	}
	columns := slices.DeleteFunc(choiceColumns(), func(name string) bool {
		c, _ := results.Lookup(name)
		return c.Group == "load" // of the same answers
	})
	for _, row := range before {
		if row.Text("status") == statusOK && keyOf(row, columns) != keyOf(chosen, columns) {
			return wrongOption("%s holds another point that was confirmed on split %s (%s): who tries one after the other tunes on them; --again does it all the same",
				out, releaseSplit, results.Describe(row))
		}
	}
	return nil
}

// choiceColumns are what measured points are a choice among by, whichever questions they were measured on.
func choiceColumns() []string {
	columns := slices.DeleteFunc(identityColumns(), func(name string) bool {
		return slices.Contains([]string{"subset", "split", "queries_answerable"}, name)
	})
	return append(columns, "params") // all of them, also those without a column
}
