package results

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// describe says what was measured, how and where, from the manifest and where there is none from the rows.
func (p *page) describe(rows []Row, m *Manifest) {
	if m == nil {
		p.describeRows(rows)
		return
	}
	if m.Name != "" {
		p.Title = m.Name
	}
	p.Subtitle = "Run " + m.RunID + ", " + formatTime(m.Started)
	if m.Finished == nil {
		p.Subtitle += ", not finished"
	} else {
		p.Subtitle += ", took " + m.Finished.Sub(m.Started).Round(time.Second).String()
	}
	add := func(name, value string) {
		if value != "" && value != "0" {
			p.Facts = append(p.Facts, fact{name, value})
		}
	}
	add("Data", m.Dataset)
	for _, name := range sortedKeys(m.Digests) {
		add("Digest of "+name, m.Digests[name])
	}
	add("Queries", queriesText(m))
	add("k counts", unitText(m))
	add("Depth", depthText(m.Depth))
	add("Evidence", evidenceText(m))
	add("Titles", titleText(m.TitleMode))
	add("Mean", m.AggregationRule)
	add("Seed", strconv.FormatUint(m.Seed, 10))
	add("Scorer", "version "+m.ScorerVersion)
	add("frontier", m.Frontier)
	for _, name := range sortedKeys(m.Engines) {
		add("Engine "+name, m.Engines[name])
	}
	for _, name := range sortedKeys(m.Machine) {
		p.Machine = append(p.Machine, fact{strings.ReplaceAll(name, "_", " "), m.Machine[name]})
	}
	if m.Protocol != "" {
		p.Protocol = append(p.Protocol, m.Protocol)
	}
	p.Sweep = m.Sweep
}

// describeRows tells what the rows themselves hold.
func (p *page) describeRows(rows []Row) {
	for _, f := range []struct{ name, column string }{
		{"Data", "dataset"}, {"Run", "run_id"}, {"k counts", "unit"}, {"Evidence", "evidence_rule"},
	} {
		if v := distinct(rows, f.column); v != "" {
			p.Facts = append(p.Facts, fact{f.name, v})
		}
	}
	for _, column := range []string{"cpu", "cores", "instruction_set", "go_version"} {
		if v := distinct(rows, column); v != "" {
			p.Machine = append(p.Machine, fact{heading(column), v})
		}
	}
}

// distinct are the values of a column, at most five of them.
func distinct(rows []Row, column string) string {
	var values []string
	for _, r := range rows {
		v := plain(r[column])
		if v == "" || slices.Contains(values, v) {
			continue
		}
		if len(values) == 5 {
			return strings.Join(values, ", ") + ", ..."
		}
		values = append(values, v)
	}
	return strings.Join(values, ", ")
}

func queriesText(m *Manifest) string {
	text := grouped(strconv.Itoa(m.Queries))
	if m.Answerable > 0 {
		text += ", of which " + grouped(strconv.Itoa(m.Answerable)) + " have an answer"
	}
	return text
}

func unitText(m *Manifest) string {
	switch m.Unit {
	case "document":
		return "documents; a document ranks where its best chunk ranks"
	case "chunk":
		return "chunks"
	}
	return "vectors"
}

func depthText(depth int) string {
	if depth == 0 {
		return ""
	}
	return grouped(strconv.Itoa(depth)) + " answers asked of each engine"
}

func evidenceText(m *Manifest) string {
	text := ""
	switch m.EvidenceRule {
	case "overlap":
		text = "a chunk holds evidence that it overlaps"
	case "contain":
		text = "a chunk holds evidence that lies wholly in it"
	default:
		return m.EvidenceRule
	}
	if m.RelevanceMin > 0 {
		text += fmt.Sprintf("; relevant from grade %d", m.RelevanceMin)
	}
	return text
}

func titleText(mode string) string {
	switch mode {
	case "join":
		return "stand before each chunk of their document"
	case "omit":
		return "are left out"
	}
	return mode
}

// costText says how dollars came about, or that there are none.
func costText(rows []Row, m *Manifest) []string {
	if m != nil && len(m.Assumptions) > 0 {
		return m.Assumptions
	}
	if slices.ContainsFunc(rows, func(r Row) bool { return r["cost_usd_per_month"] != nil }) {
		return []string{"The assumptions stand in the manifest.json of each run."}
	}
	return nil
}

// traces are queries for DuckDB, run inside the results folder, that lead from the numbers above to the answers behind
// them.
func traces(front []Row, first Objective) []trace {
	out := []trace{
		{"All columns, with their types", "describe select * from 'results.parquet'"},
		{"The frontier as stored", "select point_id, " + first.Column + " from 'results.parquet' where on_frontier order by " + first.Column},
	}
	if len(front) == 0 {
		return out
	}
	id := "'" + strings.ReplaceAll(front[0].Text("point_id"), "'", "''") + "'"
	out = append(out, trace{"The first row of the frontier, with every parameter and every measure", "select * from 'results.parquet' where point_id = " + id})
	if !PerQuery(first.Column) {
		return out
	}
	column := first.Column
	mean := "select avg(" + column + "), count(" + column + ") from 'queries/*.parquet' where point_id = " + id
	return append(out,
		trace{"Its " + heading(column) + " again, from the single queries", mean},
		trace{"Its worst queries, with what was found", "select query_id, scenario, " + column + ", latency_seconds, ids from 'queries/*.parquet' where point_id = " + id + " order by " + column + " limit 20"},
		trace{"The same by kind of question", "select scenario, avg(" + column + "), count(*) from 'queries/*.parquet' where point_id = " + id + " group by all order by 2"},
	)
}
