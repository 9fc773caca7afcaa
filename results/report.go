package results

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
)

//go:embed report.html
var reportHTML string

// reportRows is how many rows the report lists at most; browsers choke on more, and the Parquet file has them all.
const reportRows = 2000

// ReportRuns writes one self-contained HTML page: what was measured, for each data set the frontier as picture and
// table and all points, failures and warnings with their remedies, how costs were computed, and how to trace each
// number. sources describe the runs that the rows come from; rows of a run that none describes tell what they hold
// themselves.
func ReportRuns(w io.Writer, rows []Row, sources []Source, objs []Objective) error {
	page, err := newPage(rows, sources, objs)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	t, err := template.New("report").Parse(reportHTML)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := out.WriteTo(w); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// page is what the template shows.
type page struct {
	Title      string
	Mixed      []MixWarning // what must not be compared
	Objectives string
	Sections   []*section // one a data set, at least one
	Runs       []run
	Failures   []Failure
	Warnings   []warning
	Cost       []string
}

type fact struct{ Name, Value string }

// Long says that the fact needs a line of its own.
func (f fact) Long() bool { return len(f.Value) > 80 }

type trace struct{ What, Query string }

func newPage(rows []Row, sources []Source, objs []Objective) (*page, error) {
	if err := checkObjectives(objs); err != nil {
		return nil, err
	}
	groups := Groups(rows)
	if len(groups) == 0 {
		groups = []Group{{}}
	}
	p := &page{Title: titleOf(sources), Objectives: objectivesText(objs), Mixed: MixWarnings(groups)}
	for i, g := range groups {
		s, err := newSection(g, objs, reportRows/len(groups))
		if err != nil {
			return nil, err
		}
		if err := s.addSlices(g, objs, sources); err != nil {
			return nil, err
		}
		s.Anchor = "data-" + strconv.Itoa(i+1)
		p.Sections = append(p.Sections, s)
	}
	p.Runs = runsOf(rows, sources)
	p.Failures = failuresOf(rows, sources)
	p.Warnings = warningsOf(rows, sources)
	p.Cost = costText(rows, sources)
	return p, nil
}

// titleOf joins the names of the runs, each once.
func titleOf(sources []Source) string {
	var names []string
	for _, s := range sources {
		if n := s.Manifest.Name; n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "Retrieval sweep"
	}
	return strings.Join(names, ", ")
}

func objectivesText(objs []Objective) string {
	var parts []string
	for _, o := range objs {
		if o.Direction == Higher {
			parts = append(parts, "high "+heading(o.Column))
		} else {
			parts = append(parts, "low "+heading(o.Column))
		}
	}
	return strings.Join(parts, ", ")
}

func svg(rows []Row, objs []Objective) (template.HTML, error) {
	if _, _, err := axes(objs); err != nil {
		return "", nil // a single objective of time: the tables say all
	}
	var b bytes.Buffer
	err := Plot(&b, rows, objs, "svg")
	if errors.Is(err, ErrNothingToPlot) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text := b.String()
	start := strings.Index(text, "<svg")
	if start < 0 {
		return "", errors.New("the picture is not SVG")
	}
	return template.HTML(text[start:]), nil // drawn by us; the canvas escapes its texts
}
