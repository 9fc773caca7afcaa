package sweep

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"frontier/bench/cost"
	"frontier/bench/recall"
	"frontier/internal/param"
	"frontier/results"
	"frontier/results/arrowfile"
	"frontier/sweep/file"
)

// scoreCell turns what was measured of a cell into rows.
func (r *runner) scoreCell(run *cellRun) ([]results.Row, []results.QueryRow, error) {
	c := run.plan
	var j *judge
	if r.corpus != nil {
		var err error
		if j, err = newJudge(r.file.Measure, r.corpus, c.input.chunking); err != nil {
			return nil, nil, err
		}
	}
	check, err := r.buildCheck(run)
	if err != nil {
		return nil, nil, err
	}
	var rows []results.Row
	var queries []results.QueryRow
	for i, p := range c.points {
		measured := run.points[i]
		if measured.cut {
			continue
		}
		answers, err := arrowfile.ReadAnswers(measured.answers)
		if err != nil {
			return nil, nil, err
		}
		row := r.parameterRow(c, p, run.started)
		if check != nil {
			row["build_check_recall"] = *check
		}
		if err := r.loadedColumns(row, run, i); err != nil {
			return nil, nil, err
		}
		if err := r.visitColumns(row, run, measured); err != nil {
			return nil, nil, err
		}
		perQuery, err := r.answerColumns(row, c, p, j, answers, measured.stages)
		if err != nil {
			return nil, nil, err
		}
		if err := sloColumns(row, measured); err != nil {
			return nil, nil, err
		}
		if err := row.Check(); err != nil {
			return nil, nil, err
		}
		rows, queries = append(rows, row), append(queries, perQuery...)
	}
	return rows, queries, nil
}

// loadedColumns fills what loading the index told.
func (r *runner) loadedColumns(row results.Row, run *cellRun, i int) error {
	loaded, c := run.loaded, run.plan
	row["load_seconds"] = loaded.LoadSeconds
	if loaded.ServingBytes != nil {
		row["memory_serving_bytes"], row["memory_mapped_bytes"] = *loaded.ServingBytes, *loaded.MappedBytes
	}
	if loaded.IndexBytes > 0 {
		row["index_bytes"] = loaded.IndexBytes
	}
	if err := effectiveColumns(row, c, loaded.Points[i].Effective); err != nil {
		return err
	}
	if mode := loaded.Points[i].FilterMode; mode != "" {
		row["filter_mode"] = mode
	}
	if same := loaded.Points[i].SameAs; same != i {
		addWarnings(row, "has the same parameters in effect as the point "+c.points[same].id+": the two were measured as one")
	}
	addWarnings(row, loaded.Points[i].Warnings...)
	if e := c.input.embedding; e != nil {
		addWarnings(row, e.warnings...)
	}
	return nil
}

// effectiveColumns fills the search parameters as they were in effect.
func effectiveColumns(row results.Row, c *cellPlan, effective []param.Values) error {
	for name, values := range searchColumns(c, effective) {
		delete(row, name)
		if len(values) > 1 {
			continue // both parts of a hybrid have it: params tells which has which
		}
		n, err := (&param.Spec{Type: param.Int, Min: math.MinInt32}).Check(values[0])
		if err != nil {
			return fmt.Errorf("%s in effect: %w", name, err)
		}
		row[name] = n
	}
	return nil
}

// searchColumns are the columns of search parameters with the value of each part that has one.
func searchColumns(c *cellPlan, values []param.Values) map[string][]any {
	columns := map[string][]any{}
	for i, part := range c.parts {
		single := results.Row{}
		setColumns(single, part.engine.Search, values[i])
		for name, v := range single {
			columns[name] = append(columns[name], v)
		}
	}
	return columns
}

// answerColumns scores the answers of one point and gives the row of each query.
func (r *runner) answerColumns(row results.Row, c *cellPlan, p pointPlan, j *judge, answers []arrowfile.Answer, stages []string) ([]results.QueryRow, error) {
	ks := r.file.Measure.K
	row["queries"], row["queries_expected"] = int64(len(answers)), int64(len(answers))
	failed, late, deepest, deeper := 0, 0, 0, 0
	times := make([][]int64, len(stages))
	for _, a := range answers {
		deepest = max(deepest, int(a.Depth))
		if int(a.Depth) > r.file.Measure.Depth {
			deeper++
		}
		if a.Error != "" {
			failed++
		}
		if a.TimedOut {
			late++
		}
		for i, ns := range a.Stages {
			times[i] = append(times[i], ns)
		}
	}
	row["queries_failed"], row["queries_timed_out"], row["depth_effective"] = int64(failed), int64(late), int64(deepest)
	if 10*deeper > len(answers) {
		// An engine that was asked for more looks at more than its search parameters say.
		addWarnings(row, "over a tenth of the questions needed more than measure.depth rows to find enough documents, and engines raise ef to what they are asked for: raise depth, or read depth_effective beside ef_search")
	}
	if len(stages) > 0 {
		stageColumns(row, stages, times)
	}
	var ann [][]recall.ANN
	sieve := newSieve(r.corpus, j, p)
	if c.input.embedding != nil && len(c.parts) == 1 && !(sieve != nil && sieve.boost) {
		var theirs [][]float64
		if r.file.Measure.AnnBenchmarks {
			theirs = make([][]float64, len(ks))
		}
		exactly, err := sieve.exactly(c.input.embedding, len(answers), ks[len(ks)-1])
		if err != nil {
			return nil, err
		}
		if ann, err = annScores(c.input.embedding, exactly, ks, answers, theirs); err != nil {
			return nil, err
		}
		annColumns(row, ks, ann, r.file.Seed)
		for i, values := range theirs {
			values = slices.DeleteFunc(values, math.IsNaN)
			if len(values) > 0 {
				row[fmt.Sprintf("ann_recall_annbenchmarks_at_%d", ks[i])] = sum(values) / float64(len(values))
			}
		}
	}
	quality := perQuery{}
	lost, facts, err := r.textScorers(c, j, sieve, answers)
	if err != nil {
		return nil, err
	}
	rows := make([]results.QueryRow, len(answers))
	for q, a := range answers {
		rows[q] = results.QueryRow{
			RunID: r.runID, PointID: p.id, CellID: c.id, QueryID: strconv.Itoa(q), Error: a.Error,
			LatencySeconds: time.Duration(a.Nanoseconds).Seconds(), Scores: a.Scores, Depth: int(a.Depth), Metrics: map[string]float64{},
		}
		for i, k := range ks {
			if ann != nil && !math.IsNaN(ann[i][q].ByID) {
				rows[q].Metrics[fmt.Sprintf("ann_recall_at_%d", k)] = ann[i][q].ByID
				rows[q].Metrics[fmt.Sprintf("ann_recall_dist_at_%d", k)] = ann[i][q].ByDistance
			}
		}
		if j == nil {
			for _, id := range a.IDs {
				rows[q].IDs = append(rows[q].IDs, strconv.FormatInt(id, 10))
			}
			continue
		}
		if err := r.judgeQuery(&rows[q], j, q, a, lost, quality); err != nil {
			return nil, errors.Join(fmt.Errorf("query %s: %w", r.corpus.golden.Cases[q].ID, err), lost.close())
		}
		if facts != nil && !math.IsNaN(facts[q]) {
			rows[q].Metrics[factRecall] = facts[q]
			quality.add(factRecall, facts[q])
		}
	}
	if j == nil {
		return rows, nil
	}
	if err := sieve.columns(row, r.corpus, r.file.Measure, answers); err != nil {
		return nil, errors.Join(err, lost.close())
	}
	quality.summarize(row, r.file.Seed)
	row["queries_answerable"] = int64(len(quality["mrr"]))
	if err := r.abstentionColumns(row, rows, answers); err != nil {
		return nil, errors.Join(err, lost.close())
	}
	if len(quality["mrr"]) > 0 {
		err = lost.columns(row, row["evidence_recall"].(float64))
	}
	return rows, errors.Join(err, lost.close())
}

// factRecall is the column of the expected facts.
const factRecall = "fact_recall_at_budget"

// textScorers are what a text sweep scores beyond single answers: where evidence was lost, and the facts in the context
// of each question.
func (r *runner) textScorers(c *cellPlan, j *judge, s *sieve, answers []arrowfile.Answer) (lost *losses, facts []float64, err error) {
	if j == nil {
		return nil, nil, nil
	}
	if expected := r.facts(); expected != nil {
		if facts, err = j.factRecall(expected, answers); err != nil {
			return nil, nil, err
		}
	}
	lost, err = newLosses(c, j, s)
	return lost, facts, err
}

// judgeQuery scores the answer to one question and adds it to the means, if it can be answered at all.
func (r *runner) judgeQuery(row *results.QueryRow, j *judge, q int, a arrowfile.Answer, lost *losses, quality perQuery) error {
	k := r.corpus.golden.Cases[q]
	row.QueryID, row.Scenario, row.Difficulty, row.Split, row.Tags = k.ID, k.Scenario, k.Difficulty, k.Split, k.Tags
	for _, field := range r.corpus.fields {
		if v := k.Extra[field]; v != "" {
			if row.Fields == nil {
				row.Fields = map[string]string{}
			}
			row.Fields[field] = v
		}
	}
	sc, err := j.score(r.corpus.units[q], a)
	if err != nil {
		return err
	}
	for _, id := range a.IDs {
		row.IDs = append(row.IDs, j.name(r.corpus, id))
	}
	if j.measure.Unit == unitDocument {
		row.Documents = []string{}
		for _, i := range sc.ranked {
			row.Documents = append(row.Documents, r.corpus.ids[j.docs[a.IDs[i]]])
		}
	}
	values := qualityValues(sc.metrics, r.file.Measure.K, j.judged)
	row.Answerable = values != nil
	if g := j.golds[q]; g != nil {
		ranked, err := j.ranked(a.IDs)
		if err != nil {
			return err
		}
		if err := j.spanValues(values, g, ranked); err != nil {
			return err
		}
		fits, err := j.inContext(g, a.IDs, ranked)
		if err != nil {
			return err
		}
		contextValues(values, g, fits)
		if lost != nil {
			if row.LossStages, err = lost.add(q, g, a, fits, values); err != nil {
				return err
			}
		}
	}
	for name, v := range values {
		row.Metrics[name] = v
		quality.add(name, v)
	}
	return nil
}

// name is a chunk as results name it: its document and place, or the document alone where no more is known.
func (j *judge) name(c *corpus, id int64) string {
	document := c.ids[j.docs[id]]
	if j.ends[id] == wholeEnd {
		return document
	}
	return fmt.Sprintf("%s#%d-%d", document, j.starts[id], j.ends[id])
}

// costColumns prices the point by the catalogue that the sweep names. Costs follow from measured columns, so they are
// computed at the end for all rows, and a change of prices needs no new measurement. A point that cannot be priced has
// none, and a warning of the run says why.
func (r *runner) costColumns(row results.Row) {
	for _, name := range []string{"cost_usd_per_month", "cost_usd_per_million_queries", "machines", "machine_type"} {
		delete(row, name)
	}
	if r.catalog == nil || row["status"] != statusOK || row["load_mode"] == file.Open {
		return // what an open loop answers is what it was sent, and says little of what it could
	}
	value := func(name string) int64 {
		n, _ := row[name].(int64)
		return n
	}
	qps, _ := row["qps"].(float64)
	clients := value("concurrency")
	if row["load_mode"] == file.SLO {
		if met, _ := row["slo_met"].(bool); !met {
			return // no number of machines keeps the promise
		}
		qps, _ = row["target_qps"].(float64)
		clients = value("in_flight")
	}
	mapped := value("memory_mapped_bytes")
	estimate, err := cost.Estimate(cost.Input{
		QPS: r.file.Cost.QPS, Replicas: r.file.Cost.Replicas,
		MeasuredQPS: qps, Cores: r.machine.Cores, Concurrency: int(clients),
		// A structure that is smaller than what memory is counted in still takes its size.
		MemoryServing: max(value("memory_serving_bytes"), value("index_bytes")-mapped), MemoryMapped: mapped,
		DiskBytes: value("disk_bytes"),
	}, r.catalog)
	if err != nil {
		r.warn("some points have no cost: " + err.Error())
		return
	}
	// Fractions of a cent, as of a few kilobytes of disk, would put points on the frontier that nobody could tell apart.
	row["cost_usd_per_month"] = math.Round(100*estimate.USDPerMonth) / 100
	row["cost_usd_per_million_queries"] = estimate.USDPerMillionQueries
	row["machines"], row["machine_type"] = int64(estimate.Machines), estimate.Machine.Name
}
