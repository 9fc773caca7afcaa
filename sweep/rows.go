package sweep

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"time"

	"frontier/chunkers"
	"frontier/internal/cas"
	"frontier/internal/param"
	"frontier/results"
	"frontier/sweep/file"
)

// parameterRow is what is known of a point before it is measured: what it is, of what data, with which parameters.
func (r *runner) parameterRow(c *cellPlan, p pointPlan, started time.Time) results.Row {
	row := results.Row{
		"run_id": r.runID, "point_id": p.id, "cell_id": c.id, "started_at": started, "status": statusOK,
		"k": int64(r.maxK()), "depth": int64(r.file.Measure.Depth),
		"load_mode": p.load.Mode,
	}
	if p.load.Mode == file.Closed {
		row["concurrency"] = int64(p.load.Clients)
	} else {
		row["in_flight"], row["arrivals"] = int64(p.load.Clients), p.load.Arrivals
	}
	switch p.load.Mode {
	case file.Open:
		row["target_qps"] = p.load.Rate
	case file.SLO:
		row["slo"] = p.load.String()
	}
	if r.file.Name != "" {
		row["name"] = r.file.Name
	}
	params := map[string]any{}
	r.dataColumns(row, c)
	chunkColumns(row, params, c)
	embedColumns(row, params, c)
	indexColumns(row, params, c, p)
	if f := p.filter; f != nil {
		row["filter"], row["filter_mode"] = strings.Join(r.file.Filters[f.Filter].Fields, ","), f.Mode
		if f.Mode == file.FilterBoost {
			row["filter_boost"] = f.Boost
		}
	}
	if raw, err := json.Marshal(params); err == nil { // values of parameters always have a JSON form
		row["params"] = string(raw)
	}
	r.buildColumns(row, c)
	r.machineColumns(row, c)
	return row
}

func (r *runner) dataColumns(row results.Row, c *cellPlan) {
	m := r.file.Measure
	row["dataset_digest"] = r.dataDigest()
	if r.corpus == nil {
		row["dataset"] = r.vectorsName()
		row["vectors"], row["dim"] = int64(r.vectors.stats.N), int64(r.vectors.stats.Dim)
		row["metric"] = string(r.vectors.metric)
		return
	}
	row["dataset"] = r.file.Dataset.Corpus
	if r.corpus.subset != nil {
		row["subset"] = r.corpus.subset.Rule
	}
	if split := commonSplit(r.corpus.golden.Cases); split != "" {
		row["split"] = split
	}
	row["title_mode"] = r.file.Dataset.Title
	row["documents"] = int64(r.corpus.stats.Documents)
	row["chunks"] = int64(c.input.chunking.stats.Chunks)
	row["unit"], row["relevance_min"] = m.Unit, int64(m.RelevanceMin)
	if m.ContextTokens > 0 {
		row["context_tokens"] = int64(m.ContextTokens)
	}
	if m.Unit != unitDocument || r.corpus.narrow(m.RelevanceMin) { // else a document counts as a whole
		row["evidence_rule"] = m.Evidence
	}
	if e := c.input.embedding; e != nil {
		row["vectors"], row["dim"], row["metric"] = int64(e.stats.N), int64(e.stats.Dim), string(e.metric)
	}
}

// dataDigest changes with anything that an answer is found in or scored against.
func (r *runner) dataDigest() string {
	if r.corpus == nil {
		return string(cas.Hash(string(r.vectors.key) + string(r.queriesKey()) + string(r.vectors.truthKey)))
	}
	return string(cas.Hash(string(r.corpus.digest) + string(r.queriesKey()) + r.judgements))
}

func (r *runner) vectorsName() string {
	if r.file.Vectors.Synthetic != nil {
		return "synthetic"
	}
	return r.file.Vectors.Base
}

func chunkColumns(row results.Row, params map[string]any, c *cellPlan) {
	ch := c.input.chunking
	if ch == nil {
		return
	}
	row["chunker"] = ch.kind.Name
	row["chunk_chars_mean"], row["chunk_chars_p95"] = ch.stats.CharactersMean, ch.stats.CharactersP95
	if ch.stats.Expansion > 0 {
		row["chunk_expansion"] = ch.stats.Expansion
	}
	setColumns(row, ch.kind.Params, ch.params)
	if param.Find(ch.kind.Params, "overlap") != nil {
		row["chunk_overlap"] = int64(chunkers.Overlap(ch.params)) // percentages in units
	}
	params["chunker"] = ch.params
}

func embedColumns(row results.Row, params map[string]any, c *cellPlan) {
	e := c.input.embedding
	if e == nil || e.kind == nil {
		return
	}
	row["embedder"] = e.kind.Name
	row["embed_seconds"] = e.stats.Seconds
	row["embed_tokens"] = int64(e.chunking.stats.IndexedTokens)
	row["embed_params"] = e.params.Canonical()
	params["embedder"] = e.params
}

// indexColumns names the index. A hybrid has the columns of both its parts; where both have one, it would say too
// little, and only params has it.
func indexColumns(row results.Row, params map[string]any, c *cellPlan, p pointPlan) {
	row["engine"] = c.engine
	var kinds, specs, versions []string
	seen := map[string]int{}
	set := func(name string, v any) {
		if seen[name]++; seen[name] > 1 {
			delete(row, name)
			return
		}
		row[name] = v
	}
	for i, part := range c.parts {
		kind, spec, columns := part.engine.Describe(part.params)
		kinds, specs = append(kinds, kind), append(specs, spec)
		versions = append(versions, part.engine.Name+" "+part.engine.Version())
		for name, v := range columns {
			set(name, v)
		}
		single := results.Row{}
		setColumns(single, part.engine.Params, part.params)
		setColumns(single, part.engine.Search, p.searches[i])
		for name, v := range single {
			if _, described := columns[name]; !described && name != "index_spec" {
				set(name, v)
			}
		}
		name := "index"
		if len(c.parts) > 1 {
			name = fmt.Sprintf("index_%d_%s", i+1, part.engine.Name)
		}
		params[name], params[name+"_search"] = part.params, p.searches[i]
	}
	row["index_kind"], row["index_spec"] = kinds[0], specs[0]
	row["engine_version"] = strings.Join(versions, ", ")
	if len(c.parts) > 1 {
		row["index_kind"], row["index_spec"] = hybridEngine, strings.Join(specs, " + ")
		row["fusion"], row["fusion_param"] = p.fusion.Kind, p.fusion.Param
		fusion := map[string]any{p.fusion.Kind: p.fusion.Param}
		if p.fusion.Norm != "" {
			row["fusion_norm"], fusion["norm"] = p.fusion.Norm, p.fusion.Norm
		}
		params["fusion"] = fusion
	}
}

// setColumns fills the columns that the tables name for the parameters. A search parameter of 0 stands for the engine's
// own default, which Set tells once it is in effect.
func setColumns(row results.Row, specs []param.Spec, values param.Values) {
	for _, s := range specs {
		if s.Column == "" {
			continue
		}
		if v, ok := values[s.Name]; ok && v != int64(0) {
			row[s.Column] = v
		}
	}
}

// buildColumns says what making the indexes took; of a hybrid, both together.
func (r *runner) buildColumns(row results.Row, c *cellPlan) {
	var seconds, cpu, train float64
	var index, memory, disk int64
	trained, shared := false, false
	var warnings []string
	for _, p := range c.parts {
		if p.dir == "" {
			return // it could not be built
		}
		b := p.report
		seconds, cpu = seconds+b.Seconds, cpu+b.CPUSeconds
		index += b.IndexBytes
		if b.MemoryBytes != nil {
			memory = max(memory, *b.MemoryBytes)
		}
		disk += dirBytes(p.dir)
		if b.TrainSeconds != nil {
			train, trained = train+*b.TrainSeconds, true
		}
		shared = shared || b.Shared
		warnings = append(warnings, b.Warnings...)
		if !p.engine.Deterministic {
			warnings = append(warnings, p.engine.Name+" gives other answers on every build, whatever the seed: a second run of this sweep will differ")
		}
	}
	row["build_seconds"], row["build_cpu_seconds"] = seconds, cpu
	row["build_threads"], row["build_shared"] = int64(r.threads), shared
	row["index_bytes"], row["disk_bytes"] = index, disk
	if memory > 0 {
		row["memory_build_bytes"] = memory
	}
	if trained {
		row["train_seconds"] = train
	}
	addWarnings(row, warnings...)
}

func (r *runner) machineColumns(row results.Row, c *cellPlan) {
	m := r.machine
	row["machine_digest"], row["cpu"], row["cores"] = m.Digest(), m.CPU, int64(m.Cores)
	row["instruction_set"], row["go_version"] = m.InstructionSet, runtime.Version()
	if r.opt.Commit != "" {
		row["commit"] = r.opt.Commit
	}
}

func addWarnings(row results.Row, warnings ...string) {
	if len(warnings) == 0 {
		return
	}
	old, _ := row["warnings"].([]string)
	row["warnings"] = append(old[:len(old):len(old)], warnings...)
}
