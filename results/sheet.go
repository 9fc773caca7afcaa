package results

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sheet is a table made ready for people: headings with units, scaled numbers, notes below.
type sheet struct {
	Head  []string
	Right []bool // the column is numeric
	Wrap  []bool // the column holds texts that are worth breaking
	Rows  [][]string
	Notes []string // texts that cells refer to by [number], from 1
}

// newSheet lays out columns of rows. A numeric cell with an interval shows it; warnings become notes.
func newSheet(rows []Row, columns []string, derived ...Column) (*sheet, error) {
	return newNarrowSheet(rows, columns, columns, derived...)
}

// newNarrowSheet shows intervals in some of the columns only.
func newNarrowSheet(rows []Row, columns, intervals []string, derived ...Column) (*sheet, error) {
	s := &sheet{Rows: make([][]string, len(rows))}
	c := newCatalogue(derived...)
	for i := range s.Rows {
		s.Rows[i] = make([]string, len(columns))
	}
	for j, name := range columns {
		i, _, ok := c.find(name)
		if !ok {
			return nil, c.unknown(name)
		}
		col := c.columns[i]
		numeric := col.Type == Int || col.Type == Float
		s.Right = append(s.Right, numeric)
		s.Wrap = append(s.Wrap, name == "index_spec" || name == "params")
		head := heading(name)
		if numeric {
			label := s.numbers(rows, name, col, j, slices.Contains(intervals, name))
			if label != "" {
				head += " (" + label + ")"
			}
		} else {
			for r, row := range rows {
				s.Rows[r][j] = s.text(name, row[name])
			}
		}
		s.Head = append(s.Head, head)
	}
	return s, nil
}

// Class is the CSS class of column j in the report, "" for none.
func (s *sheet) Class(j int) string {
	switch {
	case s.Right[j]:
		return "n"
	case s.Wrap[j]:
		return "wrap"
	}
	return ""
}

// prepend puts a column of texts before all others.
func (s *sheet) prepend(head string, cells []string) {
	s.Head = slices.Insert(s.Head, 0, head)
	s.Right = slices.Insert(s.Right, 0, false)
	s.Wrap = slices.Insert(s.Wrap, 0, false)
	for i, cell := range cells {
		s.Rows[i] = slices.Insert(s.Rows[i], 0, cell)
	}
}

// numbers fills column j, with intervals if asked for, and returns the unit.
func (s *sheet) numbers(rows []Row, name string, col Column, j int, intervals bool) string {
	var values []float64
	for _, r := range rows {
		if v, ok := r.Number(name); ok {
			values = append(values, v)
		}
	}
	scale := scalingOf(col, values)
	for i, r := range rows {
		v, ok := r.Number(name)
		if !ok {
			s.Rows[i][j] = "-"
			continue
		}
		s.Rows[i][j] = scale.format(v)
		if low, high, ok := r.Interval(name); ok && intervals {
			s.Rows[i][j] += " [" + scale.format(low) + "–" + scale.format(high) + "]" // a comma would drown among separators of thousands
		}
	}
	return scale.label
}

func (s *sheet) text(name string, v any) string {
	switch v := v.(type) {
	case nil:
		if name == "warnings" || name == "error" {
			return ""
		}
		return "-"
	case string:
		if name == "error" {
			return s.note(v)
		}
		return v
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05Z")
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	case []string:
		if name != "warnings" {
			return strings.Join(v, "; ")
		}
		marks := make([]string, len(v))
		for i, w := range v {
			marks[i] = s.note(w)
		}
		return strings.Join(marks, " ")
	case map[string]float64:
		return s.entries(name, v)
	}
	return fmt.Sprint(v)
}

func (s *sheet) entries(name string, m map[string]float64) string {
	col, _ := Lookup(name)
	var parts []string
	for _, key := range sortedKeys(m) {
		scale := scalingOf(col, []float64{m[key]})
		parts = append(parts, key+" "+strings.TrimSpace(scale.format(m[key])+" "+scale.label))
	}
	return strings.Join(parts, ", ")
}

// note is the mark of a text among the notes; equal texts share one.
func (s *sheet) note(text string) string {
	i := slices.Index(s.Notes, text)
	if i < 0 {
		i = len(s.Notes)
		s.Notes = append(s.Notes, text)
	}
	return "[" + strconv.Itoa(i+1) + "]"
}

// plain is a value in base units for machines: "" for null.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case []string:
		return strings.Join(v, "; ")
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// DefaultColumns are the columns that tell these rows apart and judge them: the parameters that differ between measured
// rows and not just with the engine, the objectives, the common measures, and errors and warnings where there are any. The index in the
// engine's own words, which is long and says again what other columns say, stands behind the numbers.
func DefaultColumns(rows []Row, objs []Objective) []string {
	columns := []string{"engine"}
	measured := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Text("status") != "ok" })
	addVarying := func(names ...string) {
		for _, name := range names {
			if tellsApart(measured, name) {
				columns = append(columns, name)
			}
		}
	}
	addVarying(
		"chunker", "chunk_size", "chunk_overlap", "chunk_unit", "embedder", "embedder_model", "dim",
		"m", "ef_construction", "nlist", "pq_m", "sq_bits", "ef_search", "nprobe", "fusion", "fusion_param", "fusion_norm", "analyzer", "bm25_k1", "bm25_b", "filter", "filter_mode", "filter_boost", "filter_decision",
		"build_threads", "load_mode", "concurrency", "target_qps",
	)
	add := func(name string) {
		if !slices.Contains(columns, name) && slices.ContainsFunc(rows, func(r Row) bool { return r[name] != nil }) {
			columns = append(columns, name)
		}
	}
	for _, o := range objs {
		if !slices.Contains(columns, o.Column) {
			columns = append(columns, o.Column)
		}
	}
	for _, name := range commonMeasures() {
		add(name)
	}
	if slices.ContainsFunc(measured, func(r Row) bool { return r["index_spec"] == nil }) {
		addVarying("index_kind") // else the spec says it
	}
	addVarying("index_spec")
	add("error")
	add("warnings")
	if slices.ContainsFunc(rows, func(r Row) bool { return r.Text("status") != "ok" }) {
		columns = append([]string{"status"}, columns...)
	}
	return columns
}

// commonMeasures are what people want to know of any point.
func commonMeasures() []string {
	return []string{"latency_p50_seconds", "latency_p99_seconds", "qps", "index_bytes", "build_seconds"}
}

// ReportMeasures are the measured columns that a report shows beside its objectives.
func ReportMeasures() []string { return append(commonMeasures(), "cost_usd_per_month") }

// tellsApart says whether a parameter differs between rows in a way that their engines do not: between two rows of one
// engine, or between two values. That ef_construction is 100 for all HNSW indexes and null for the others tells nothing.
func tellsApart(rows []Row, column string) bool {
	var value any
	ofEngine := map[string]any{}
	for _, r := range rows {
		v := r[column]
		if old, seen := ofEngine[r.Text("engine")]; seen && old != v {
			return true
		}
		ofEngine[r.Text("engine")] = v
		if v == nil {
			continue
		}
		if value != nil && value != v {
			return true
		}
		value = v
	}
	return false
}
