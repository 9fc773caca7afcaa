package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"frontier/bench/load"
	"frontier/datasets"
	"frontier/internal/cas"
	"frontier/results"
	"frontier/sweep/file"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// TraceOptions say how the answers of another system are scored.
type TraceOptions struct {
	Traces, Golden, Qrels string
	Corpus                string // "" if no evidence is a section or a literal text
	Out                   string // results folder, which must hold no results
	Name                  string
	Measure               file.Measure // K, Unit, Evidence and RelevanceMin
	Seed                  uint64
	Version               string
}

// TraceSummary is what scoring came to.
type TraceSummary struct {
	Configs  int
	Missing  int // cases without an answer, over all configurations
	Warnings []string
}

// externalEngine is the engine of rows that were not measured here.
const externalEngine = "external"

// ScoreTraces scores the answers of another system and writes them as a results folder: a row a configuration. A case that
// a configuration has no answer to scores zero and counts as failed.
func ScoreTraces(ctx context.Context, o TraceOptions) (TraceSummary, error) {
	var sum TraceSummary
	if _, err := os.Stat(filepath.Join(o.Out, "results.parquet")); err == nil {
		return sum, fmt.Errorf("%s holds results already; choose another folder", o.Out)
	}
	traces, err := datasets.ReadTraces(ctx, o.Traces)
	if err != nil {
		return sum, err
	}
	t := &traceScorer{options: o, started: time.Now().UTC(), summary: &sum}
	if err := t.prepare(ctx, traces); err != nil {
		return sum, err
	}
	configs, err := t.byConfig(traces)
	if err != nil {
		return sum, err
	}
	rows, queries, err := t.score(configs)
	if err != nil {
		return sum, err
	}
	sum.Configs = len(rows)
	return sum, t.write(rows, queries)
}

// traceScorer is ScoreTraces on its way.
type traceScorer struct {
	options TraceOptions
	started time.Time
	runner  *runner
	judge   *judge
	numbers map[string]int   // of documents
	lengths []int            // of documents, in code points; nil without a corpus
	places  map[places]int64 // of what was retrieved, to its row in the judge
	summary *TraceSummary
}

// places is a retrieved chunk.
type places struct{ doc, start, end int }

// wholeEnd ends a whole document whose length is not known.
const wholeEnd = math.MaxInt32

// prepare reads what the answers are scored against, and numbers all that was retrieved.
func (t *traceScorer) prepare(ctx context.Context, traces []datasets.Trace) error {
	o := t.options
	golden, err := datasets.ReadGolden(o.Golden, o.Qrels)
	if err != nil {
		return err
	}
	t.summary.Warnings = append(t.summary.Warnings, golden.Warnings...)
	c := &corpus{golden: golden, fields: furtherFields(golden)}
	t.numbers = map[string]int{}
	if o.Corpus != "" {
		err = t.resolve(ctx, c)
	} else {
		err = t.resolveAlone(c)
	}
	if err != nil {
		return err
	}
	known := len(c.ids)
	t.judge = &judge{measure: o.Measure, judged: golden.Judged, partial: true}
	t.places = map[places]int64{}
	strangers := 0
	for _, trace := range traces {
		for _, r := range trace.Retrieved {
			p := t.place(c, r)
			if _, ok := t.places[p]; ok {
				continue
			}
			if o.Corpus != "" && p.doc >= known {
				strangers++
			}
			t.places[p] = int64(len(t.judge.docs))
			t.judge.docs = append(t.judge.docs, int32(p.doc))
			t.judge.starts, t.judge.ends = append(t.judge.starts, int32(p.start)), append(t.judge.ends, int32(p.end))
			t.judge.lengthless = t.judge.lengthless || p.end == wholeEnd
		}
	}
	if strangers > 0 {
		t.warn("%d results are of documents that the corpus does not have; they count as not relevant", strangers)
	}
	t.runner = &runner{file: &file.File{Measure: o.Measure, Seed: o.Seed, Name: o.Name}, corpus: c, runID: newRunID()}
	if t.runner.judgements, err = judgementDigest(t.runner.file, c); err != nil {
		return err
	}
	return t.judge.prepare(c)
}

func (t *traceScorer) warn(format string, args ...any) {
	t.summary.Warnings = append(t.summary.Warnings, fmt.Sprintf(format, args...))
}

// number is the number of a document, a new one if it was not seen before.
func (t *traceScorer) number(c *corpus, id string) int {
	n, ok := t.numbers[id]
	if !ok {
		n = len(c.ids)
		t.numbers[id] = n
		c.ids = append(c.ids, id)
	}
	return n
}

func (t *traceScorer) place(c *corpus, r datasets.Retrieved) places {
	p := places{doc: t.number(c, r.Document), start: r.Start, end: r.End}
	if r.HasSpan {
		return p
	}
	p.start, p.end = 0, wholeEnd
	if p.doc < len(t.lengths) && t.lengths[p.doc] > 0 {
		p.end = t.lengths[p.doc]
	}
	return p
}

// resolve finds the evidence in the corpus.
func (t *traceScorer) resolve(ctx context.Context, c *corpus) error {
	source, err := datasets.OpenCorpus(t.options.Corpus)
	if err != nil {
		return err
	}
	f := &file.File{}
	resolver, fields := datasets.NewResolver(c.golden), fieldsToKeep(f, c.golden)
	for doc, err := range source.Documents(ctx) {
		if err != nil {
			return err
		}
		if err := resolver.Add(t.number(c, doc.ID), doc); err != nil {
			return err
		}
		t.lengths = append(t.lengths, len([]rune(doc.Text)))
		fields.add(doc)
	}
	if c.units, err = resolver.Finish(); err != nil {
		return err
	}
	c.name = t.options.Corpus
	if c.access, err = newAccess(f, c, fields); err != nil || c.access == nil {
		return err
	}
	var emptied int
	if c.units, emptied = c.access.eligibleUnits(c.units); emptied > 0 {
		t.warn("of %d questions the caller may see none of the evidence, so they count as unanswerable", emptied)
	}
	return nil
}

// resolveAlone takes evidence that needs no text to be placed: whole documents and spans.
func (t *traceScorer) resolveAlone(c *corpus) error {
	c.units = make([][]datasets.Unit, len(c.golden.Cases))
	if slices.ContainsFunc(c.golden.Cases, func(k datasets.Case) bool { return len(k.Filter) > 0 }) {
		t.warn("cases say what their caller may see (\"filter\"), and only the documents know who that is: name the corpus with --corpus to have leaks counted")
	}
	for i, k := range c.golden.Cases {
		for _, e := range k.Evidence {
			if !e.HasSpan && (e.SectionID != "" || e.Text != "") {
				return &datasets.Error{
					File: k.File, Line: k.Line, Msg: fmt.Sprintf("case %q has evidence by section or by text, which only the corpus can place", k.ID),
					Hint: "name the corpus with --corpus",
				}
			}
			s := datasets.Span{Doc: t.number(c, e.DocumentID), Start: e.Start, End: e.End}
			c.units[i] = append(c.units[i], datasets.Unit{Spans: []datasets.Span{s}, Grade: max(e.Relevance, 0), Whole: !e.HasSpan})
		}
		c.units[i] = k.Merge(c.units[i])
	}
	return nil
}

func (t *traceScorer) score(configs []*config) (rows []results.Row, queries []results.QueryRow, err error) {
	for _, c := range configs {
		row, perCase, err := t.scoreConfig(c)
		if err != nil {
			return nil, nil, fmt.Errorf("configuration %q: %w", c.id, err)
		}
		rows, queries = append(rows, row), append(queries, perCase...)
		t.summary.Missing += c.missing
	}
	return rows, queries, nil
}

func (t *traceScorer) scoreConfig(c *config) (results.Row, []results.QueryRow, error) {
	r, m := t.runner, t.options.Measure
	row := results.Row{
		"run_id": r.runID, "started_at": t.started, "status": statusOK, "engine": externalEngine,
		"dataset": t.options.Golden, "dataset_digest": r.judgements, "queries": int64(len(c.answers)), "queries_expected": int64(len(c.answers)),
		"k": int64(r.maxK()), "unit": m.Unit, "relevance_min": int64(m.RelevanceMin), "depth": int64(c.depth),
	}
	for name, v := range map[string]string{"name": t.options.Name, "index_spec": c.index, "split": commonSplit(r.corpus.golden.Cases)} {
		if v != "" {
			row[name] = v
		}
	}
	if t.options.Corpus != "" {
		row["documents"] = int64(len(t.lengths))
	}
	if m.Unit != unitDocument || r.corpus.narrow(m.RelevanceMin) {
		row["evidence_rule"] = m.Evidence
	}
	params, err := json.Marshal(map[string]string{"config_id": c.id, "index_version": c.index})
	if err != nil {
		return nil, nil, err
	}
	row["params"] = string(params)
	row["cell_id"] = shortID(externalEngine + " " + c.id + " " + c.index)
	row["point_id"] = shortID(fmt.Sprint(row["cell_id"], " ", r.judgements, m.K, m.Unit, m.Evidence, m.RelevanceMin, m.WithheldMax, scorerVersion))
	p := pointPlan{id: row.Text("point_id")}
	quality := perQuery{}
	var perCase []results.QueryRow
	failed := 0
	for q, a := range c.answers {
		if a.Error != "" {
			failed++
		}
		one := results.QueryRow{
			RunID: r.runID, PointID: p.id, CellID: row.Text("cell_id"), Error: a.Error, Scores: a.Scores, Depth: int(a.Depth),
			LatencySeconds: math.NaN(), Metrics: map[string]float64{},
		}
		if a.Nanoseconds >= 0 {
			one.LatencySeconds = time.Duration(a.Nanoseconds).Seconds()
		}
		if err := r.judgeQuery(&one, t.judge, q, a, nil, quality); err != nil {
			return nil, nil, err
		}
		perCase = append(perCase, one)
	}
	if err := newSieve(r.corpus, t.judge, p).columns(row, r.corpus, m, c.answers); err != nil {
		return nil, nil, err
	}
	quality.summarize(row, t.options.Seed)
	if err := r.abstentionColumns(row, perCase, c.answers); err != nil {
		return nil, nil, err
	}
	row["queries_failed"], row["queries_answerable"] = int64(failed), int64(len(quality["mrr"]))
	if c.missing > 0 {
		addWarnings(row, fmt.Sprintf("%d of %d cases have no answer and score zero; they are among queries_failed", c.missing, len(c.answers)))
	}
	if err := traceLatency(row, c.seconds); err != nil {
		return nil, nil, err
	}
	return row, perCase, row.Check()
}

// traceLatency fills latencies as the traces state them: nothing is known of the load.
func traceLatency(row results.Row, seconds []float64) error {
	if len(seconds) == 0 {
		return nil
	}
	b := &load.Block{Histogram: hdrhistogram.New(1, int64(load.MaxLatency), 3), Samples: int64(len(seconds))}
	for _, s := range seconds {
		took := time.Duration(s * 1e9)
		b.Total += took
		b.Longest = max(b.Longest, took)
		if err := b.Histogram.RecordValue(int64(min(max(took, 1), load.MaxLatency))); err != nil {
			return err
		}
	}
	row["samples"] = b.Samples
	return latencyColumns(row, []*load.Block{b}, b)
}

// write writes the results folder.
func (t *traceScorer) write(rows []results.Row, queries []results.QueryRow) error {
	o, r := t.options, t.runner
	if err := os.MkdirAll(filepath.Join(o.Out, queriesDir), 0o755); err != nil {
		return err
	}
	objectives := []results.Objective{{Column: fmt.Sprintf("recall_at_%d", r.maxK()), Direction: results.Higher}}
	if !slices.ContainsFunc(rows, func(row results.Row) bool { return row["latency_p50_seconds"] == nil }) {
		objectives = append(objectives, results.Objective{Column: "latency_p50_seconds", Direction: results.Lower})
	}
	if err := markFrontier(rows, objectives); err != nil {
		return err
	}
	digest, err := fileDigest(o.Traces)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	m := &results.Manifest{
		RunID: r.runID, Name: o.Name, Started: t.started, Finished: &now, Seed: o.Seed, Dataset: o.Golden, Queries: len(r.corpus.golden.Cases),
		Digests: map[string]string{"judgements": r.judgements, "traces": digest, "cases": string(cas.Hash(fmt.Sprint(withoutPlaces(r.corpus.golden.Cases))))},
		K:       o.Measure.K, Unit: o.Measure.Unit, RelevanceMin: o.Measure.RelevanceMin, WithheldMax: o.Measure.WithheldMax, EvidenceRule: o.Measure.Evidence, AggregationRule: aggregationRule,
		Protocol:      "Answers and latencies are those that the traces of another system state; nothing was measured here.",
		ScorerVersion: scorerVersion, Frontier: o.Version, Warnings: t.summary.Warnings, Plan: map[string]int{"points": len(rows)},
	}
	for _, row := range rows {
		m.Answerable = int(row["queries_answerable"].(int64))
	}
	for _, obj := range objectives {
		m.Objectives = append(m.Objectives, obj.Column+map[results.Direction]string{results.Higher: ":max", results.Lower: ":min"}[obj.Direction])
	}
	// The rows last but the report, for a folder that has them counts as scored.
	if err := results.WriteQueries(filepath.Join(o.Out, queriesDir, r.runID+".parquet"), queries); err != nil {
		return err
	}
	if err := results.WriteManifest(o.Out, m); err != nil {
		return err
	}
	if err := results.WriteRows(filepath.Join(o.Out, "results.parquet"), rows); err != nil {
		return err
	}
	return writeReport(o.Out, rows, m, objectives)
}
