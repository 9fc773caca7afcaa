package compare

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontier/results"
)

// Series is one metric of one point over runs, in the order of time. Times, rates and memory of different machines, and
// quality on different data, are series of their own.
type Series struct {
	Point   string
	Metric  Metric
	Apart   string // what sets it apart from other series of the point and metric: a machine or data; "" if nothing does
	Runs    []RunValue
	Changes []Change
}

// RunValue is the value that a run measured.
type RunValue struct {
	Run     string    `json:"run"`
	Started time.Time `json:"started"`
	Value   float64   `json:"value"`
}

// Change is a place from which on values are others. Before and After are the medians of the stretches that meet there.
type Change struct {
	Run    string    `json:"run"` // the first one after it
	When   time.Time `json:"when"`
	Before float64   `json:"before"`
	After  float64   `json:"after"`
	P      float64   `json:"p"` // 0 of values that repeat exactly
}

// HistoryOptions say what History looks at.
type HistoryOptions struct {
	Metrics []string // empty for DefaultMetrics
	Match   []string // empty for DefaultMatch
	// Alpha is the share of series without a change in which one would be found, over all series together; 0 for 0.05.
	Alpha float64
}

// History puts the runs of all rows in the order of time and finds the changes of each metric.
func History(rows []results.Row, o HistoryOptions) ([]Series, error) {
	if o.Alpha == 0 {
		o.Alpha = 0.05
	}
	if !(o.Alpha > 0 && o.Alpha < 1) {
		return nil, fmt.Errorf("an error rate of %g is not between 0 and 1", o.Alpha)
	}
	rows = slices.DeleteFunc(slices.Clone(rows), failed)
	runs := runsOf(rows)
	if len(runs) < 2 {
		return nil, fmt.Errorf("there are measured rows of %d run; a history needs several", len(runs))
	}
	columns := o.Match
	if len(columns) == 0 {
		columns = DefaultMatch()
	} else if err := results.CheckColumns(columns); err != nil {
		return nil, fmt.Errorf("match: %w", err)
	}
	all := New("the runs", rows, nil, nil)
	names := o.Metrics
	if len(names) == 0 {
		names = DefaultMetrics(all, all)
	}
	var metrics []Metric
	for _, name := range names {
		m, err := LookupMetric(name)
		if err != nil {
			return nil, err
		}
		metrics = append(metrics, m)
	}
	series, err := seriesOf(runs, columns, metrics)
	var same *AmbiguousError
	if errors.As(err, &same) && len(o.Match) == 0 { // as Match does
		columns = append(columns, exactParameters...)
		series, err = seriesOf(runs, columns, metrics)
	}
	if err != nil {
		return nil, err
	}
	labelSeries(series, rows, columns)
	find(series, o.Alpha)
	return series, nil
}

type run struct {
	id      string
	started time.Time
	rows    []results.Row
}

// runsOf are the runs by the time of their first measurement.
func runsOf(rows []results.Row) []run {
	at := map[string]int{}
	var runs []run
	for _, r := range rows {
		id := r.Text("run_id")
		started, _ := r["started_at"].(time.Time)
		i, known := at[id]
		if !known {
			i = len(runs)
			at[id] = i
			runs = append(runs, run{id: id, started: started})
		}
		if started.Before(runs[i].started) {
			runs[i].started = started
		}
		runs[i].rows = append(runs[i].rows, r)
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Or(a.started.Compare(b.started), strings.Compare(a.id, b.id)) })
	return runs
}

// seriesOf are the series of each metric.
func seriesOf(runs []run, columns []string, metrics []Metric) ([]Series, error) {
	var out []Series
	for _, m := range metrics {
		some, err := seriesOfMetric(runs, columns, m)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func seriesOfMetric(runs []run, columns []string, m Metric) ([]Series, error) {
	apart := "machine_digest"
	switch {
	case m.Quality():
		apart = "dataset_digest"
	case !m.MachineBound():
		apart = ""
	}
	type id struct{ key, apart string }
	at := map[id]int{}
	var out []Series
	for _, one := range runs {
		seen := map[id]bool{}
		for _, r := range one.rows {
			v, ok := r.Number(m.Name)
			if !ok {
				continue
			}
			k := id{key: keyOf(r, columns)}
			if apart != "" {
				k.apart = r.Text(apart)
			}
			if seen[k] {
				return nil, &AmbiguousError{Side: "run " + one.id, Match: columns, Points: 2, Label: describe(r, columns), Apart: exactParameters}
			}
			seen[k] = true
			i, known := at[k]
			if !known {
				i = len(out)
				at[k] = i
				out = append(out, Series{Point: k.key, Metric: m, Apart: k.apart})
			}
			out[i].Runs = append(out[i].Runs, RunValue{one.id, one.started, v})
		}
	}
	return out, nil
}

// labelSeries turns keys into labels, and leaves out what sets nothing apart.
func labelSeries(series []Series, rows []results.Row, columns []string) {
	m := &Matching{Columns: columns}
	at := map[string]int{}
	for _, r := range rows {
		key := keyOf(r, columns)
		if _, known := at[key]; !known {
			at[key] = len(m.Pairs)
			m.Pairs = append(m.Pairs, Pair{Key: keyRow(r, columns)})
		}
	}
	m.label()
	count := map[string]int{}
	for i := range series {
		series[i].Point = m.Pairs[at[series[i].Point]].Label
		count[series[i].Point+series[i].Metric.Name]++
	}
	for i := range series {
		if count[series[i].Point+series[i].Metric.Name] == 1 {
			series[i].Apart = ""
		}
	}
}

// find fills in the changes, each series at its share of alpha.
func find(series []Series, alpha float64) {
	for i := range series {
		s := &series[i]
		values := make([]float64, len(s.Runs))
		for j, r := range s.Runs {
			values[j] = r.Value
		}
		var points []changePoint
		if s.Metric.Column.Exact && !s.Metric.PerQuery() {
			points = steps(values)
		} else {
			points = changePoints(values, alpha/float64(len(series)), uint64(i))
		}
		for j, c := range points {
			from, to := 0, len(values)
			if j > 0 {
				from = points[j-1].at
			}
			if j+1 < len(points) {
				to = points[j+1].at
			}
			s.Changes = append(s.Changes, Change{s.Runs[c.at].Run, s.Runs[c.at].Started, median(values[from:c.at]), median(values[c.at:to]), c.p})
		}
	}
}

func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// WriteHistory writes series in a format of results.Formats.
func WriteHistory(w io.Writer, series []Series, format string) error {
	if err := results.CheckFormat(format); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case "json":
		err = historyJSON(out, series)
	case "csv":
		err = historyCSV(out, series)
	default:
		s := &sheet{head: []string{"point", "metric", "apart", "runs", "first", "last", "changes"}, right: []bool{false, false, false, true, true, true, false}}
		for _, one := range series {
			var changes []string
			for _, c := range one.Changes {
				text := fmt.Sprintf("%s -> %s from %s (%s", one.Metric.Format(c.Before), one.Metric.Format(c.After), c.Run, c.When.Format(time.DateOnly))
				if c.P > 0 {
					text += fmt.Sprintf(", p %.2g", c.P)
				}
				changes = append(changes, text+")")
			}
			s.rows = append(s.rows, []string{
				one.Point, one.Metric.Name, one.Apart, strconv.Itoa(len(one.Runs)), one.Metric.Format(one.Runs[0].Value), one.Metric.Format(one.Runs[len(one.Runs)-1].Value), orElse(strings.Join(changes, "; "), "none"),
			})
		}
		if format == "markdown" {
			s.markdown(out)
		} else {
			s.text(out)
		}
	}
	if err != nil {
		return fmt.Errorf("write the history as %s: %w", format, err)
	}
	return out.Flush()
}

func historyJSON(w *bufio.Writer, series []Series) error {
	type seriesJSON struct {
		Point   string     `json:"point"`
		Metric  string     `json:"metric"`
		Apart   string     `json:"apart,omitempty"`
		Runs    []RunValue `json:"runs"`
		Changes []Change   `json:"changes"`
	}
	out := []seriesJSON{}
	for _, s := range series {
		out = append(out, seriesJSON{s.Point, s.Metric.Name, s.Apart, s.Runs, append([]Change{}, s.Changes...)})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

// historyCSV has a line for each value.
func historyCSV(w *bufio.Writer, series []Series) error {
	s := &sheet{head: []string{"point", "metric", "apart", "run", "started", "value", "change"}}
	for _, one := range series {
		for _, r := range one.Runs {
			changed := slices.ContainsFunc(one.Changes, func(c Change) bool { return c.Run == r.Run })
			s.rows = append(s.rows, []string{one.Point, one.Metric.Name, one.Apart, r.Run, r.Started.Format(time.RFC3339), strconv.FormatFloat(r.Value, 'g', -1, 64), strconv.FormatBool(changed)})
		}
	}
	return s.csv(w)
}
