package results

import (
	"fmt"
	"maps"
	"slices"
)

// CommonWarning is a warning that most measured rows have. It says more about the run than about any of them.
type CommonWarning struct {
	Text   string
	Points int // measured rows that have it
	Of     int // measured rows
}

// String is the warning as a sentence that counts.
func (w CommonWarning) String() string {
	return fmt.Sprintf("%d of %d points were measured under this warning: %s", w.Points, w.Of, w.Text)
}

// CommonWarnings are the warnings that more than half of the measured rows have, in the order in which they first come.
// A single row has none that are common.
func CommonWarnings(rows []Row) []CommonWarning {
	c := newWarningCount()
	for _, r := range rows {
		list, _ := r["warnings"].([]string)
		c.add(r.Text("status") == "ok", list)
	}
	return c.common()
}

// warningCount counts the measured rows that have a warning.
type warningCount struct {
	measured int
	number   map[string]int
	texts    []string
}

func newWarningCount() *warningCount { return &warningCount{number: map[string]int{}} }

func (c *warningCount) add(measured bool, list []string) {
	if !measured {
		return
	}
	c.measured++
	for i, text := range list {
		if slices.Contains(list[:i], text) {
			continue
		}
		if c.number[text] == 0 {
			c.texts = append(c.texts, text)
		}
		c.number[text]++
	}
}

func (c *warningCount) common() []CommonWarning {
	var common []CommonWarning
	for _, text := range c.texts {
		if n := c.number[text]; n > 1 && 2*n > c.measured {
			common = append(common, CommonWarning{text, n, c.measured})
		}
	}
	return common
}

// withoutWarnings are rows that do not repeat what is common.
func withoutWarnings(rows []Row, common []CommonWarning) []Row {
	if len(common) == 0 {
		return rows
	}
	isCommon := func(text string) bool {
		return slices.ContainsFunc(common, func(w CommonWarning) bool { return w.Text == text })
	}
	out := make([]Row, len(rows))
	for i, r := range rows {
		out[i] = r
		list, _ := r["warnings"].([]string)
		if !slices.ContainsFunc(list, isCommon) {
			continue
		}
		out[i] = maps.Clone(r)
		delete(out[i], "warnings")
		if rest := slices.DeleteFunc(slices.Clone(list), isCommon); len(rest) > 0 {
			out[i]["warnings"] = rest
		}
	}
	return out
}

// warning is a line of the report's list.
type warning struct {
	Text   string
	Points int // 0 if it is about a run
}

// warningsOf gathers the warnings of the runs and of their points, equal ones once.
func warningsOf(rows []Row, sources []Source) []warning {
	points := newWarningCount()
	for _, r := range rows {
		list, _ := r["warnings"].([]string)
		points.add(true, list)
	}
	var out []warning
	for _, s := range sources {
		for _, w := range s.Manifest.Warnings {
			if points.number[w] > 0 {
				continue // its points have it too
			}
			if len(sources) > 1 {
				w = s.name() + ": " + w
			}
			out = append(out, warning{Text: w})
		}
	}
	for _, text := range points.texts {
		out = append(out, warning{text, points.number[text]})
	}
	return out
}

// failuresOf are the cells that gave no measurement: of each run from its manifest, else from the rows. A single manifest
// is taken to describe rows that name no run.
func failuresOf(rows []Row, sources []Source) []Failure {
	var out []Failure
	told := map[string]bool{} // by run_id
	for _, s := range sources {
		if len(s.Manifest.Failures) > 0 {
			told[s.Manifest.RunID], told[""] = true, len(sources) == 1
			out = append(out, s.Manifest.Failures...)
		}
	}
	listed := len(out)
	for _, r := range rows {
		if r.Text("status") == "ok" || told[r.Text("run_id")] {
			continue
		}
		f := Failure{CellID: r.Text("cell_id"), Status: r.Text("status"), Error: r.Text("error"), Points: 1}
		i := slices.IndexFunc(out[listed:], func(o Failure) bool {
			return o.CellID == f.CellID && o.Status == f.Status && o.Error == f.Error
		})
		if i >= 0 {
			out[listed+i].Points++
			continue
		}
		out = append(out, f)
	}
	return out
}
