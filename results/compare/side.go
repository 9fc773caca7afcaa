// Package compare holds two runs of a sweep side by side: which points are the same, what else differs between them,
// how far each metric moved and how sure that is, and which questions changed. The gate decides on what it finds.
//
// Differences of quality are paired by question, so that a question's difficulty cancels. Latencies and rates have one
// interval for each run, of which the interval of the change is made. What is computed and not measured, such as the
// size of an index, is compared as it is.
package compare

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"frontier/results"
)

// Side is one of the two that are compared: the points of a run, or those of a recorded baseline.
type Side struct {
	Name     string // as it was given
	Points   []Point
	Cases    []Case // the questions; none where no metrics of single questions were found
	Sources  []results.Source
	Warnings []string

	recorded []string // the metrics that a baseline holds; nil for a run, which holds all
	index    map[string]int
}

// Case is one question and what kind of question it is.
type Case struct {
	ID string
	// Fields are scenario, difficulty, split, answerability and whatever else the golden set says. What it does not
	// say is absent.
	Fields map[string]string
	Tags   []string
}

// Point is one measured point.
type Point struct {
	Row results.Row

	values    map[string][]float64 // by metric, one for each of the side's cases; NaN is null
	estimates map[string]Estimate  // of a recorded baseline
}

// Read reads the results at path, which is what results.ReadRows takes, or a baseline that Record wrote. Of the metrics
// of single questions it keeps those named, or all if none is.
func Read(ctx context.Context, path string, metrics []string) (*Side, error) {
	if IsBaseline(path) {
		return readBaseline(path)
	}
	rows, err := results.ReadRows(ctx, path)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s holds no rows; has its sweep finished a cell?", path)
	}
	s := newSide(path, rows)
	if s.Sources, err = results.Sources(path); err != nil {
		return nil, err
	}
	files, err := queryFiles(path)
	if err != nil {
		return nil, err
	}
	for _, file := range files { // one after the other, so that only the metrics of all are held at once
		queries, err := results.ReadQueryMetrics(ctx, metrics, file)
		if err != nil {
			return nil, err
		}
		s.add(queries, metrics)
	}
	s.pad()
	return s, nil
}

// New is the side with these rows, and with the questions that belong to them. Of their metrics it keeps those named, or
// all if none is.
func New(name string, rows []results.Row, queries []results.QueryRow, metrics []string) *Side {
	s := newSide(name, rows)
	s.add(queries, metrics)
	s.pad()
	return s
}

func newSide(name string, rows []results.Row) *Side {
	s := &Side{Name: name, Points: make([]Point, len(rows)), index: map[string]int{}}
	for i, r := range rows {
		s.Points[i] = Point{Row: r, values: map[string][]float64{}}
	}
	return s
}

type pointKey struct{ run, point string }

// Where keeps the points for which the condition holds.
func (s *Side) Where(holds func(results.Row) (bool, error)) error {
	var kept []Point
	for i := range s.Points {
		ok, err := holds(s.Points[i].Row)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if ok {
			kept = append(kept, s.Points[i])
		}
	}
	s.Points = kept
	return nil
}

// Recorded says whether the side can have the metric at all: a baseline holds only those of the policy that it was
// recorded for.
func (s *Side) Recorded(metric string) bool {
	return s.recorded == nil || slices.Contains(s.recorded, metric)
}

// add notes what questions got at the side's points. Of two rows for one question at one point the later counts.
func (s *Side) add(queries []results.QueryRow, metrics []string) {
	points := map[pointKey]*Point{}
	for i := range s.Points {
		points[pointKey{s.Points[i].Row.Text("run_id"), s.Points[i].Row.Text("point_id")}] = &s.Points[i]
	}
	for i := range queries {
		q := &queries[i]
		p := points[pointKey{q.RunID, q.PointID}]
		if p == nil {
			continue // of a point that was measured again, or that is not in the sweep file any more
		}
		at, known := s.index[q.QueryID]
		if !known {
			at = len(s.Cases)
			s.index[q.QueryID] = at
			s.Cases = append(s.Cases, caseOf(q))
		}
		for name, v := range q.Metrics {
			if len(metrics) == 0 || slices.Contains(metrics, name) {
				p.values[name] = put(p.values[name], at, v)
			}
		}
	}
}

// pad gives each column a value for each question, once all were added.
func (s *Side) pad() {
	for i := range s.Points {
		for name, column := range s.Points[i].values {
			for len(column) < len(s.Cases) {
				column = append(column, math.NaN())
			}
			s.Points[i].values[name] = column
		}
	}
}

// put sets the value of a question, after nulls for those before it that have none.
func put(column []float64, at int, v float64) []float64 {
	for len(column) <= at {
		column = append(column, math.NaN())
	}
	column[at] = v
	return column
}

func caseOf(q *results.QueryRow) Case {
	c := Case{ID: q.QueryID, Fields: map[string]string{}, Tags: q.Tags}
	for name, v := range q.Fields {
		c.Fields[name] = v
	}
	for name, v := range map[string]string{"scenario": q.Scenario, "difficulty": q.Difficulty, "split": q.Split} {
		if v != "" {
			c.Fields[name] = v
		}
	}
	c.Fields["answerability"] = "unanswerable"
	if q.Answerable {
		c.Fields["answerability"] = "answerable"
	}
	return c
}

// queryFiles are the files of questions that belong to path as results.ReadRows takes it.
func queryFiles(path string) ([]string, error) {
	matches := []string{path}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if matches, err = filepath.Glob(path); err != nil {
			return nil, err
		}
	}
	var files []string
	for _, dir := range matches {
		info, err := os.Stat(dir)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			dir = filepath.Dir(dir)
		}
		if filepath.Base(dir) == "parts" {
			dir = filepath.Dir(dir)
		}
		entries, err := os.ReadDir(filepath.Join(dir, "queries"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			file := filepath.Join(dir, "queries", e.Name())
			if !strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".parquet") && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files, nil
}
