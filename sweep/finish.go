package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"frontier/bench/cost"
	"frontier/bench/machine"
	"frontier/results"
	"frontier/sweep/file"
)

// scorerVersion changes when the same answers would be scored differently.
const scorerVersion = "3"

// aggregationRule is how questions become one number.
const aggregationRule = "Quality is the mean over answerable questions, each with the same weight; a failed question scores zero. Intervals are 95% bootstraps (BCa) over questions, Wilson's where each question has 0 or 1. ANN recall is the mean over all queries that have a vector."

// objectives are those of the file that the results can know.
func (r *runner) objectives() ([]results.Objective, error) {
	var objs []results.Objective
	for _, o := range r.file.Objectives {
		d := results.Lower
		if o.Max {
			d = results.Higher
		}
		if _, ok := results.Lookup(o.Column); !ok {
			return nil, fault(r.file, o.Pos, "objectives", fmt.Sprintf("there is no column %q", o.Column), "did you mean "+results.Nearest(o.Column)+"?")
		}
		objs = append(objs, results.Objective{Column: o.Column, Direction: d})
	}
	return objs, nil
}

// markFrontier fills on_frontier and dominated_by, which only all rows together can tell.
func markFrontier(rows []results.Row, objs []results.Objective) error {
	on, by, err := results.Frontier(rows, objs)
	if err != nil {
		return err
	}
	for i, row := range rows {
		row["on_frontier"] = on[i]
		delete(row, "dominated_by")
		if by[i] != "" {
			row["dominated_by"] = by[i]
		}
	}
	return nil
}

// manifest describes the run to whoever reads its rows.
func (r *runner) manifest(rows []results.Row, cells []*cellPlan, complete bool) *results.Manifest {
	m := r.file.Measure
	man := &results.Manifest{
		RunID: r.runID, Name: r.file.Name, Hypothesis: r.file.Hypothesis, Started: r.started.UTC(), Seed: r.file.Seed, BuildThreads: r.threads,
		K: m.K, Unit: m.Unit, Depth: m.Depth,
		AggregationRule: aggregationRule,
		Protocol: fmt.Sprintf("Each index is loaded in a process of its own and measured with nothing else of the sweep running: %d interleaved visits to each point of at least %v after %v of warm-up, every query asked at least once, and more visits within max_time where p99 lacks samples%s%s. Latency is the whole way from query, or its scheduled arrival, to ranked list; percentiles come from all samples of all visits that count.",
			m.Rounds, m.MinTime, m.Warmup, noisyText(m.Noisy), untilText(m.Until)),
		ScorerVersion: scorerVersion, Frontier: r.opt.Version, Engines: map[string]string{}, Machine: machineMap(r.machine),
		Assumptions: r.assumptions(), Warnings: r.summary.Warnings,
		Digests: map[string]string{},
	}
	if text, err := r.file.Canonical(); err == nil { // a file that was parsed has a canonical form
		man.Sweep = string(text)
	}
	if path, err := filepath.Abs(r.file.Path); err == nil {
		man.SweepFile = path
	}
	for _, o := range r.file.Objectives {
		direction := ":min"
		if o.Max {
			direction = ":max"
		}
		man.Objectives = append(man.Objectives, o.Column+direction)
	}
	r.describeData(man)
	builds, points := map[*built]bool{}, 0
	for _, c := range cells {
		points += len(c.points)
		for _, p := range c.parts {
			builds[p] = true
			man.Engines[p.engine.Name] = p.engine.Version()
		}
	}
	man.Plan = map[string]int{"cells": len(cells), "points": points, "builds": len(builds)}
	man.Failures = failures(rows)
	if complete {
		now := time.Now().UTC()
		man.Finished = &now
	}
	return man
}

// assumptions say what the dollars of all rows rest on; none if no costs were asked for.
func (r *runner) assumptions() []string {
	if r.catalog == nil {
		return nil
	}
	s := cost.Assumptions(r.file.Cost.QPS, r.file.Cost.Replicas, r.catalog, cost.DefaultPolicy())
	return append(s, "Embedding is done on machines that are there anyway; the time that it takes is in embed_seconds.")
}

// machineMap is the fingerprint as text.
func machineMap(f machine.Fingerprint) map[string]string {
	raw, err := json.Marshal(f)
	if err != nil {
		return nil // a struct of strings and numbers always has a JSON form
	}
	var values map[string]any
	if json.Unmarshal(raw, &values) != nil {
		return nil
	}
	texts := map[string]string{}
	for name, v := range values {
		if n, ok := v.(float64); ok {
			texts[name] = strconv.FormatFloat(n, 'f', -1, 64)
			continue
		}
		texts[name] = fmt.Sprint(v)
	}
	return texts
}

func (r *runner) describeData(man *results.Manifest) {
	if r.corpus == nil {
		man.Dataset = r.vectorsName()
		man.Digests["base"], man.Digests["queries"] = string(r.vectors.key), string(r.queriesKey())
		if r.vectors.truthKey != "" {
			man.Digests["truth"] = string(r.vectors.truthKey)
		}
		if n, err := r.queryCount(); err == nil { // the file was read a moment ago
			man.Queries = n
		}
		return
	}
	man.Dataset = r.file.Dataset.Corpus
	man.Digests["corpus"], man.Digests["queries"], man.Digests["judgements"] = string(r.corpus.digest), string(r.corpus.queries.digest), r.judgements
	man.Queries, man.Subset = r.corpus.queries.count, r.corpus.subset
	man.Answerable = r.corpus.scorable(r.file.Measure.RelevanceMin)
	man.TitleMode, man.RelevanceMin = r.file.Dataset.Title, r.file.Measure.RelevanceMin
	man.ContextTokens, man.WithheldMax = r.file.Measure.ContextTokens, r.file.Measure.WithheldMax
	if r.file.Measure.Unit != unitDocument || r.corpus.narrow(r.file.Measure.RelevanceMin) {
		man.EvidenceRule = r.file.Measure.Evidence
	}
}

func failures(rows []results.Row) []results.Failure {
	var all []results.Failure
	at := map[string]int{}
	for _, row := range rows {
		status, _ := row["status"].(string)
		if status == statusOK {
			continue
		}
		id, _ := row["cell_id"].(string)
		if i, ok := at[id]; ok {
			all[i].Points++
			continue
		}
		text, _ := row["error"].(string)
		at[id] = len(all)
		all = append(all, results.Failure{CellID: id, Status: status, Error: text, Points: 1})
	}
	return all
}

// writeReport writes report.html and pareto.png beside the results.
func writeReport(dir string, rows []results.Row, m *results.Manifest, objs []results.Objective) error {
	err := replaceFile(filepath.Join(dir, "report.html"), func(w io.Writer) error {
		return results.ReportRuns(w, rows, []results.Source{{Manifest: m, Queries: filepath.Join(dir, queriesDir)}}, objs)
	})
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	err = replaceFile(filepath.Join(dir, "pareto.png"), func(w io.Writer) error { return results.Plot(w, rows, objs, "png") })
	if err != nil && !errors.Is(err, results.ErrNothingToPlot) {
		return fmt.Errorf("draw the frontier: %w", err)
	}
	return nil
}

// dirBytes is the size of the files in dir; what cannot be read counts nothing.
func dirBytes(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

func noisyText(noisy string) string {
	if noisy == noisyRepeat {
		return " or a visit was disturbed"
	}
	return ""
}

func untilText(until []file.Until) string {
	var parts []string
	for _, u := range until {
		parts = append(parts, fmt.Sprintf("%s is not known to %.3g%%", u.Stat, 100*u.Width))
	}
	if len(parts) == 0 {
		return ""
	}
	return " or " + strings.Join(parts, " or ")
}
