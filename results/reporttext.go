package results

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// run is what the report says of how rows came about.
type run struct {
	Name     string // of the run, where the report is of several
	Path     string // of the manifest, "" if it comes from no file
	Subtitle string
	Facts    []fact
	Machine  []fact
	Protocol string
	Sweep    string
}

// name is what people call the run.
func (s Source) name() string {
	if s.Manifest.Name != "" {
		return s.Manifest.Name
	}
	return "run " + s.Manifest.RunID
}

// runsOf describes the runs of rows: from the manifests, and where none belongs to a row from the row. A single
// manifest is taken to describe rows that name no run.
func runsOf(rows []Row, sources []Source) []run {
	var out []run
	known := map[string]bool{"": len(sources) == 1}
	for _, s := range sources {
		known[s.Manifest.RunID] = true
		out = append(out, describeManifest(s))
	}
	orphans := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return known[r.Text("run_id")] })
	if len(orphans) > 0 {
		r := describeRows(orphans)
		if len(out) > 0 {
			r.Name, r.Subtitle = "other rows", "There is no manifest for "+count(len(orphans), "row")+"; this is what they hold themselves."
		}
		out = append(out, r)
	}
	return out
}

func describeManifest(s Source) run {
	m := s.Manifest
	r := run{Name: s.name(), Path: s.Path, Protocol: m.Protocol, Sweep: m.Sweep}
	r.Subtitle = "Run " + m.RunID + ", " + m.Started.UTC().Format("2006-01-02 15:04 UTC")
	if m.Finished == nil {
		r.Subtitle += ", not finished"
	} else {
		r.Subtitle += ", took " + m.Finished.Sub(m.Started).Round(time.Second).String()
	}
	add := func(name, value string) {
		if value != "" && value != "0" {
			r.Facts = append(r.Facts, fact{name, value})
		}
	}
	add("Data", m.Dataset)
	for _, name := range sortedKeys(m.Digests) {
		add("Digest of "+name, m.Digests[name])
	}
	add("Queries", queriesText(m))
	add("Subset", subsetText(m.Subset))
	add("k counts", unitText(m))
	add("Depth", depthText(m.Depth))
	add("Evidence", evidenceText(m))
	add("Titles", titleText(m.TitleMode))
	add("Mean", m.AggregationRule)
	r.Facts = append(r.Facts, fact{"Seed", strconv.FormatUint(m.Seed, 10)}) // 0 is a seed
	add("Scorer", "version "+m.ScorerVersion)
	add("frontier", m.Frontier)
	for _, name := range sortedKeys(m.Engines) {
		add("Engine "+name, m.Engines[name])
	}
	for _, name := range sortedKeys(m.Machine) {
		if value := machineValue(name, m.Machine[name]); value != "" {
			r.Machine = append(r.Machine, fact{strings.TrimSuffix(strings.ReplaceAll(name, "_", " "), " bytes"), value})
		}
	}
	return r
}

// subsetText says which questions were asked, "" for all.
func subsetText(s *Subset) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s: %d of %d questions. Decide on the whole set, or on a split that nothing was chosen on.", s.Rule, s.Cases, s.Of)
}

// machineValue is a fact of the machine for people, "" for one that says nothing: no limit, or what the system does not
// tell.
func machineValue(name, value string) string {
	if value == "0" {
		return ""
	}
	if name == "memory_bytes" || name == "memory_limit" {
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			s := scalingOf(Column{Unit: "bytes", Type: Int}, []float64{n})
			return s.format(n) + " " + s.label
		}
	}
	return value
}

// describeRows tells what the rows themselves hold.
func describeRows(rows []Row) run {
	var r run
	for _, f := range []struct{ name, column string }{
		{"Data", "dataset"}, {"Run", "run_id"}, {"k counts", "unit"}, {"Evidence", "evidence_rule"},
	} {
		if v := distinct(rows, f.column); v != "" {
			r.Facts = append(r.Facts, fact{f.name, v})
		}
	}
	for _, column := range []string{"cpu", "cores", "instruction_set", "go_version"} {
		if v := distinct(rows, column); v != "" {
			r.Machine = append(r.Machine, fact{heading(column), v})
		}
	}
	return r
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

// costText says how dollars came about, or that there are none. What several runs assume alike is said once.
func costText(rows []Row, sources []Source) []string {
	var out []string
	for _, s := range sources {
		for _, text := range s.Manifest.Assumptions {
			if !slices.Contains(out, text) {
				out = append(out, text)
			}
		}
	}
	if len(out) == 0 && slices.ContainsFunc(rows, func(r Row) bool { return r["cost_usd_per_month"] != nil }) {
		return []string{"The assumptions stand in the manifest.json of each run."}
	}
	return out
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
	// Not all cells have all metrics, so the files differ in their columns.
	from := " from read_parquet('queries/*.parquet', union_by_name => true) where point_id = " + id
	mean := "select avg(" + column + "), count(" + column + ")" + from
	return append(out,
		trace{"Its " + heading(column) + " again, from the single queries", mean},
		trace{"Its worst queries, with what was found", "select query_id, scenario, " + column + ", latency_seconds, ids" + from + " order by " + column + " limit 20"},
		trace{"The same by kind of question", "select scenario, avg(" + column + "), count(" + column + ")" + from + " group by all order by 2"},
	)
}
