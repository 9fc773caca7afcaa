package sweep

import (
	"fmt"

	"frontier/indexes"
	"frontier/indexes/hybrid"
	"frontier/internal/cas"
	"frontier/internal/param"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// input is what indexes are built from: the chunks of one chunking, or the vectors of one embedding.
type input struct {
	chunking  *chunking  // nil for vector files
	embedding *embedding // nil for lexical engines
}

func (in input) key() cas.Key {
	if in.embedding != nil {
		return in.embedding.key
	}
	return in.chunking.key
}

func (in input) rows() int {
	if in.embedding != nil {
		return in.embedding.stats.N
	}
	return in.chunking.stats.Chunks
}

func (in input) dim() int {
	if in.embedding != nil {
		return in.embedding.stats.Dim
	}
	return -1
}

func (in input) source() cell.Source {
	var s cell.Source
	if in.embedding != nil {
		s.Vectors, s.Metric = in.embedding.base, in.embedding.metric
	} else {
		s.Chunks = in.chunking.path
	}
	return s
}

// built is one index: how it is made and, once it is, where it lies.
type built struct {
	engine *indexes.Engine
	params param.Values
	input  input
	stage  cas.Stage
	dir    string
	report buildRecord
	err    error
}

// cellPlan is one cell: the indexes that are loaded together, and the points that are measured on them.
type cellPlan struct {
	id     string
	engine string // "hybrid" for two parts
	input  input  // of the part with vectors, if there is one
	parts  []*built
	points []pointPlan
	done   []pointPlan // that an earlier run has measured, and are not among points
}

type pointPlan struct {
	id       string
	searches []param.Values // of each part
	fusion   hybrid.Fusion
	load     file.Load
	filter   *file.FilterSetting // nil without a predicate
}

// planCells lists the cells of all inputs. Whatever is impossible is an error here, before anything is built.
func (r *runner) planCells(inputs []input) ([]*cellPlan, error) {
	var cells []*cellPlan
	known := map[string]*cellPlan{}
	var problems []error
	r.builds = map[cas.Key]*built{}
	for i := range r.file.Indexes {
		item := &r.file.Indexes[i]
		for _, in := range inputs {
			if lexical(item, r.opt.Registry.Engines) != (in.embedding == nil) {
				continue
			}
			made, err := r.itemCells(item, in)
			if err != nil {
				problems = append(problems, err)
				break // the same fault on every other input says nothing new
			}
			for _, c := range made {
				if one := known[c.id]; one != nil { // in another entry, or of another expression of the same value
					one.add(c.points)
					continue
				}
				known[c.id] = c
				cells = append(cells, c)
			}
		}
	}
	return cells, firstProblems(problems)
}

// add adds the points that the cell does not have.
func (c *cellPlan) add(points []pointPlan) {
	known := map[string]bool{}
	for _, p := range c.points {
		known[p.id] = true
	}
	for _, p := range points {
		if !known[p.id] {
			c.points = append(c.points, p)
		}
	}
}

func (r *runner) itemCells(item *file.Index, in input) ([]*cellPlan, error) {
	items := []*file.Index{item}
	fusions := []hybrid.Fusion{{}}
	if item.Engine == hybridEngine {
		items, fusions = nil, nil
		for i := range item.Parts {
			items = append(items, &item.Parts[i])
		}
		for _, f := range item.Fusion {
			fusions = append(fusions, hybrid.Fusion{Kind: f.Kind, Param: f.Param, Norm: f.Norm})
		}
	}
	if err := r.checkParts(item); err != nil {
		return nil, err
	}
	sets := [][]variant{}
	inputs := []input{}
	for _, part := range items {
		partInput := in
		if lexical(part, r.opt.Registry.Engines) {
			partInput.embedding = nil
		}
		variants, err := resolver{r.file, r.opt.Registry.Engines, partInput.rows(), partInput.dim()}.variants(part)
		if err != nil {
			return nil, err
		}
		if err := r.checkMetric(part, variants, partInput); err != nil {
			return nil, err
		}
		sets, inputs = append(sets, variants), append(inputs, partInput)
	}
	var cells []*cellPlan
	for _, chosen := range product(sets) {
		c := &cellPlan{engine: item.Engine, input: in}
		for i, v := range chosen {
			c.parts = append(c.parts, r.index(v, inputs[i]))
		}
		c.id = shortID(c.identity(r))
		r.addPoints(c, chosen, fusions)
		cells = append(cells, c)
	}
	return cells, nil
}

func (r *runner) checkMetric(item *file.Index, variants []variant, in input) error {
	if in.embedding == nil || len(variants) == 0 {
		return nil
	}
	engine := variants[0].engine
	for _, m := range engine.Metrics {
		if m == in.embedding.metric {
			return nil
		}
	}
	return fault(r.file, item.Pos, "engine", fmt.Sprintf("%s does not know the metric %s, only %v", engine.Name, in.embedding.metric, engine.Metrics), "")
}

// checkParts refuses a hybrid of two BM25 indexes: bleve keeps k1 and b for the whole process.
func (r *runner) checkParts(item *file.Index) error {
	if len(item.Parts) == 2 && item.Parts[0].Engine == "bleve" && item.Parts[1].Engine == "bleve" {
		return fault(r.file, item.Parts[1].Pos, "of", "bleve cannot be both parts of a hybrid: it has one k1 and b in a process", "take a vector engine as one of the two")
	}
	return nil
}

// product is the combinations that take one of each set, the last set fastest.
func product[T any](sets [][]T) [][]T {
	all := [][]T{nil}
	for _, set := range sets {
		var longer [][]T
		for _, prefix := range all {
			for _, v := range set {
				longer = append(longer, append(prefix[:len(prefix):len(prefix)], v))
			}
		}
		all = longer
	}
	return all
}

// index is the one index that v gives on in, shared by all cells that load it.
func (r *runner) index(v variant, in input) *built {
	b := &built{engine: v.engine, params: v.build, input: in}
	b.stage = cas.Stage{
		Name: buildStage, Version: buildVersion,
		Params: fmt.Sprintf("%s %s %s seed=%d threads=%d %s", v.engine.Name, v.engine.Version(), v.build.Canonical(), r.file.Seed, r.threads, r.machine.InstructionSet),
		Inputs: []cas.Key{in.key()},
	}
	if in.embedding != nil {
		b.stage.Params += " " + string(in.embedding.metric)
	}
	if r.opt.BuildMark != "" {
		b.stage.Params += " by=" + r.opt.BuildMark
	}
	key := b.stage.Key()
	if known, ok := r.builds[key]; ok {
		return known
	}
	r.builds[key] = b
	return b
}

// identity is a text that is equal for equal cells: the same data, indexes and queries.
func (c *cellPlan) identity(r *runner) string {
	text := c.engine + " " + string(r.queriesKey())
	for _, p := range c.parts {
		text += " " + string(p.stage.Key())
	}
	return text
}

func (r *runner) addPoints(c *cellPlan, chosen []variant, fusions []hybrid.Fusion) {
	searches := make([][]param.Values, len(chosen))
	for i, v := range chosen {
		searches[i] = v.searches
	}
	seen := map[string]bool{}
	filters := r.file.FilterSettings()
	for _, setting := range product(searches) {
		for _, fusion := range fusions {
			for i := range filters {
				for _, l := range r.file.Measure.Load {
					p := pointPlan{searches: setting, fusion: fusion, load: l}
					text := fmt.Sprintf("%s %s %s %s", c.id, fusionText(fusion), l.Canonical(), r.protocol())
					for _, s := range setting {
						text += " " + s.Canonical()
					}
					if filters[i].Filter >= 0 {
						p.filter = &filters[i]
						text += " " + filterText(r.file, filters[i])
					}
					if p.id = shortID(text); !seen[p.id] {
						seen[p.id] = true
						c.points = append(c.points, p)
					}
				}
			}
		}
	}
}

// fusionText is equal for equal fusions.
func fusionText(f hybrid.Fusion) string {
	if f.Norm != "" {
		return fmt.Sprintf("{%s %v %s}", f.Kind, f.Param, f.Norm)
	}
	return fmt.Sprintf("{%s %v}", f.Kind, f.Param)
}

// protocol is a text that is equal for measurements that mean the same.
func (r *runner) protocol() string {
	m := r.file.Measure
	truth := cas.Key("")
	if r.vectors != nil {
		truth = r.vectors.truthKey
	}
	return fmt.Sprintf("%s %s %v %d %s %s %d %d %g %d %v %v %v %v %s %v %s", scorerVersion, truth, m.K, m.Depth, m.Unit, m.Evidence, m.RelevanceMin, m.ContextTokens, m.WithheldMax,
		m.Rounds, m.MinTime, m.Warmup, m.MaxTime, m.Until, m.Noisy, r.file.Limits.Query, r.judgements) + map[bool]string{true: " ann-benchmarks"}[m.AnnBenchmarks]
}

// shortID is 16 hexadecimal digits of a hash of text: among a billion points the chance of a clash is under 3%.
func shortID(text string) string { return string(cas.Hash(text))[:16] }

// fault is a problem of the sweep file at pos.
func fault(f *file.File, pos file.Pos, name, msg, hint string) error {
	return f.At(pos, name, msg, hint)
}
