package sweep

import (
	"fmt"
	"math"
	"slices"
	"time"

	"frontier/indexes"
	"frontier/sweep/file"
)

// Plan says what a sweep will do, in numbers that follow from the file alone. Points are counted, never listed, so a
// plan of millions of them costs nothing. Counts stop at the largest int.
type Plan struct {
	Chunkings   int // ways of chunking; 0 for vectors
	Embeddings  int // chunkings x embedders
	Builds      int // distinct indexes; with more than MaxPoints cells, as many as these
	Cells       int // indexes with their search settings; a hybrid is a cell of two indexes
	Points      int // measured rows
	NaiveStages int // stage runs of a loop that prepares everything anew for each point
	StageRuns   int // stage runs of this plan
	// MeasureTime is what measuring takes at least: the time that the file asks for, without loading.
	MeasureTime time.Duration
	// VectorBytes is what the vectors take on disk; 0 while the number of chunks is not known.
	VectorBytes int64
	Items       []PlanItem
	// Expressions are the values that expressions over n and dim come to, as far as n and dim are known: for vectors from
	// their files, for texts from the cache of an earlier run.
	Expressions []PlanExpression
}

// PlanExpression is one expression of the file on one input.
type PlanExpression struct {
	Pos    file.Pos
	Name   string
	Text   string
	N, Dim int
	Value  string
}

// PlanItem is one entry of indexes.
type PlanItem struct {
	Engine string
	Pos    file.Pos
	Cells  int
	Points int
}

// MakePlan counts the sweep that f describes. The cache in the folder cache is only looked at.
func MakePlan(f *file.File, reg file.Registry, cache string) (*Plan, error) {
	if err := checkLoads(f); err != nil {
		return nil, err
	}
	engines := reg.Engines
	p := &Plan{}
	chunkings, embeddings := 1, 1
	if f.Dataset != nil {
		chunkings = countItems(f.Chunkers)
		p.Chunkings = chunkings
		embeddings = times(chunkings, countItems(f.Embedders))
		p.Embeddings = embeddings
	}
	loads := len(f.Measure.Load) * len(f.FilterSettings())
	for i := range f.Indexes {
		item := &f.Indexes[i]
		inputs := embeddings
		if lexical(item, engines) {
			inputs = chunkings
		}
		builds, searches, err := countIndex(item)
		if err != nil {
			return nil, err
		}
		pi := PlanItem{Engine: item.Engine, Pos: item.Pos, Cells: times(inputs, builds), Points: times(inputs, builds, searches, loads)}
		p.Items = append(p.Items, pi)
		p.Cells = plus(p.Cells, pi.Cells)
		p.Points = plus(p.Points, pi.Points)
	}
	p.Builds = p.Cells
	if p.Cells <= MaxPoints {
		p.Builds = distinctBuilds(f, engines, chunkings, embeddings)
	}
	p.StageRuns = plus(p.Chunkings, p.Embeddings, p.Builds, p.Points)
	p.NaiveStages = times(2, p.Points) // build and search
	if f.Dataset != nil {
		p.NaiveStages = times(4, p.Points) // chunk, embed, build and search
	}
	m := f.Measure
	// As a float, for a plan may come to more than a Duration holds.
	p.MeasureTime = time.Duration(min(float64(p.Points)*float64(m.Rounds)*float64(m.MinTime+m.Warmup), math.MaxInt64/2))
	if p.Chunkings > MaxPoints {
		return p, nil // each would be looked for in the cache
	}
	sizes, err := knownSizes(f, reg, cache)
	if err != nil {
		return nil, err
	}
	for _, s := range sizes {
		if p.Points <= MaxPoints {
			if err := checkItems(f, engines, s); err != nil {
				return nil, err
			}
		}
		p.VectorBytes += int64(s.n) * int64(max(s.dim, 0)) * 4
	}
	p.Expressions, err = expressions(f, engines, sizes)
	return p, err
}

// MaxPoints is how many points one run measures. More would take years, and the rows would not fit into memory.
const MaxPoints = 1_000_000

// checkSize refuses a sweep of more points than one run measures.
func checkSize(f *file.File, reg file.Registry, cache string) error {
	plan, err := MakePlan(f, reg, cache)
	if err == nil && plan.Points > MaxPoints {
		err = fault(f, file.Pos{}, "indexes", fmt.Sprintf("the sweep has %d points, and one run measures at most %d", plan.Points, MaxPoints), "split the file")
	}
	return err
}

// times is the product of whole numbers from 0, or the largest int if it is larger.
func times(all ...int) int {
	product := 1
	for _, n := range all {
		if n > 0 && product > math.MaxInt/n {
			product = math.MaxInt
			continue
		}
		product *= n
	}
	return product
}

// plus is the sum of whole numbers from 0, or the largest int if it is larger.
func plus(all ...int) int {
	sum := 0
	for _, n := range all {
		sum += min(n, math.MaxInt-sum)
	}
	return sum
}

func countItems(items []file.Item) int {
	n := 0
	for _, item := range items {
		n = plus(n, file.Count(item.Axes))
	}
	return n
}

// countIndex counts the cells of an item on one input, and the search settings of each.
func countIndex(item *file.Index) (builds, searches int, err error) {
	if item.Engine != hybridEngine {
		return times(file.Count(item.Build), file.Count(item.Template)), file.Count(item.Search), nil
	}
	builds, searches = 1, len(item.Fusion)
	for i := range item.Parts {
		if item.Parts[i].Engine == hybridEngine {
			return 0, 0, fmt.Errorf("a hybrid of hybrids cannot be counted")
		}
		b, s, err := countIndex(&item.Parts[i])
		if err != nil {
			return 0, 0, err
		}
		builds, searches = times(builds, b), times(searches, s)
	}
	return builds, searches, nil
}

// distinctBuilds counts the indexes that differ, as far as the file tells: those of a hybrid are often built for
// themselves as well. Two expressions that will come to the same value count as two.
func distinctBuilds(f *file.File, engines []indexes.Engine, chunkings, embeddings int) int {
	seen := map[string]bool{}
	total := 0
	count := func(item *file.Index) {
		inputs := embeddings
		if lexical(item, engines) {
			inputs = chunkings
		}
		axes := slices.Concat(item.Build, item.Template)
		for combination := range file.Grid(axes) {
			if text := buildText(item, engines, axes, combination); !seen[text] {
				seen[text] = true
				total += inputs
			}
		}
	}
	for i := range f.Indexes {
		if f.Indexes[i].Engine != hybridEngine {
			count(&f.Indexes[i])
			continue
		}
		for j := range f.Indexes[i].Parts {
			count(&f.Indexes[i].Parts[j])
		}
	}
	return total
}

// buildText is equal for equal builds of one combination of axes, defaults filled in.
func buildText(item *file.Index, engines []indexes.Engine, axes []file.Axis, combination []file.Value) string {
	values := map[string]string{}
	if e := indexes.Find(engines, item.Engine); e != nil {
		for _, s := range e.Params {
			values[s.Name] = fmt.Sprint(s.Default)
		}
	}
	for i, axis := range axes {
		values[axis.Name] = combination[i].String()
	}
	return item.Engine + fmt.Sprint(values) // fmt prints maps in order of their keys
}

// lexical says whether an index reads texts only and is therefore not multiplied by embedders.
func lexical(item *file.Index, engines []indexes.Engine) bool {
	if item.Engine == hybridEngine {
		for i := range item.Parts {
			if !lexical(&item.Parts[i], engines) {
				return false
			}
		}
		return true
	}
	e := indexes.Find(engines, item.Engine)
	return e != nil && e.Lexical
}
