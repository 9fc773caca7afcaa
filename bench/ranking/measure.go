package ranking

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Measure is one of trec_eval's measures, or one of those that it lacks: recip_rank_cut_k and judged_k.
type Measure struct {
	family int     // index into families
	k      int     // cut-off, of families that have one
	level  float64 // recall level of iprec_at_recall
}

// family is a measure, or many that differ by cut-off.
type family struct {
	name   string
	about  string
	kind   kind
	cuts   []int // the usual cut-offs; nil if it has none
	total  total
	digits int // after the point
	silent bool
}

type kind int

const (
	runID kind = iota
	numQueries
	numRetrieved
	numRelevant
	numRelevantRetrieved
	averagePrecisionKind
	rPrecision
	binaryPreference
	reciprocalRank
	interpolatedPrecision
	precisionAt
	recallAt
	ndcgKind
	successAt
	judgedAt
)

// total is how the figure of all queries comes from theirs.
type total int

const (
	mean total = iota
	sum
	geometricMean
	noTotal
)

var (
	trecEvalCuts = []int{5, 10, 15, 20, 30, 100, 200, 500, 1000}
	successCuts  = []int{1, 5, 10}
)

// families are in the order in which trec_eval prints them; those that it lacks come last. silent ones have no figure
// for a single query.
var families = []family{
	{name: "runid", about: "the tag of the run", kind: runID, total: noTotal, silent: true},
	{name: "num_q", about: "queries that the figures are over", kind: numQueries, total: sum, silent: true},
	{name: "num_ret", about: "documents retrieved", kind: numRetrieved, total: sum},
	{name: "num_rel", about: "relevant documents", kind: numRelevant, total: sum},
	{name: "num_rel_ret", about: "relevant documents retrieved", kind: numRelevantRetrieved, total: sum},
	{name: "map", about: "mean average precision", kind: averagePrecisionKind, digits: 4},
	{name: "gm_map", about: "geometric mean of average precision, each at least 0.00001", kind: averagePrecisionKind, total: geometricMean, digits: 4, silent: true},
	{name: "Rprec", about: "precision at R, the number of relevant documents", kind: rPrecision, digits: 4},
	{name: "bpref", about: "binary preference: judged documents only", kind: binaryPreference, digits: 4},
	{name: "recip_rank", about: "reciprocal rank of the first relevant document", kind: reciprocalRank, digits: 4},
	{name: "iprec_at_recall", about: "interpolated precision at a recall, such as iprec_at_recall_0.10", kind: interpolatedPrecision, digits: 4},
	{name: "P", about: "precision within the first k", kind: precisionAt, cuts: trecEvalCuts, digits: 4},
	{name: "recall", about: "recall within the first k", kind: recallAt, cuts: trecEvalCuts, digits: 4},
	{name: "ndcg", about: "nDCG: gain is the grade, discount log2(rank+1)", kind: ndcgKind, digits: 4},
	{name: "ndcg_cut", about: "nDCG within the first k", kind: ndcgKind, cuts: trecEvalCuts, digits: 4},
	{name: "map_cut", about: "average precision within the first k", kind: averagePrecisionKind, cuts: trecEvalCuts, digits: 4},
	{name: "success", about: "1 if any of the first k is relevant", kind: successAt, cuts: successCuts, digits: 4},
	{name: "recip_rank_cut", about: "reciprocal rank, 0 if it is beyond k (not in trec_eval)", kind: reciprocalRank, cuts: trecEvalCuts, digits: 4},
	{name: "judged", about: "share of the first k that was judged (not in trec_eval)", kind: judgedAt, cuts: trecEvalCuts, digits: 4},
}

// official are the families that trec_eval prints by default.
var official = []string{"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"}

// recallLevels are those of iprec_at_recall.
const recallLevels = 11

// Name is trec_eval's name, such as ndcg_cut_10.
func (m Measure) Name() string {
	f := m.of()
	switch {
	case f.kind == interpolatedPrecision:
		return fmt.Sprintf("%s_%.2f", f.name, m.level)
	case f.cuts != nil:
		return f.name + "_" + strconv.Itoa(m.k)
	}
	return f.name
}

func (m Measure) of() family { return families[m.family] }

// PerQuery says whether the measure has a figure for a single query.
func (m Measure) PerQuery() bool { return !m.of().silent }

// IsTag says that the measure is the tag of the run, which has no figure.
func (m Measure) IsTag() bool { return m.of().kind == runID }

// Digits are those behind the point that trec_eval prints; 0 for counts.
func (m Measure) Digits() int { return m.of().digits }

// ParseMeasures reads names of measures: one with its cut-off (ndcg_cut_10, or ndcg_cut.10 as trec_eval's option has
// it), a family for all its usual cut-offs (ndcg_cut), or official for what trec_eval prints by default. A bare number is one more
// cut-off of the name before it, so that P.5,10 can be split at its comma. A measure that is named twice counts once.
func ParseMeasures(names []string) ([]Measure, error) {
	var all []Measure
	previous := -1
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name == "official" {
			previous = -1
			for _, n := range official {
				m, _, err := parseMeasure(n)
				if err != nil {
					return nil, err
				}
				all = append(all, m...)
			}
			continue
		}
		full := name
		if _, err := strconv.ParseFloat(name, 64); err == nil && previous >= 0 {
			full = families[previous].name + "." + name
		}
		m, family, err := parseMeasure(full)
		if err != nil {
			return nil, err
		}
		all, previous = append(all, m...), family
	}
	seen := map[Measure]bool{}
	all = slices.DeleteFunc(all, func(m Measure) bool {
		again := seen[m]
		seen[m] = true
		return again
	})
	if len(all) == 0 {
		return nil, fmt.Errorf("no measure is named; there are %s", strings.Join(familyNames(), ", "))
	}
	return all, nil
}

// parseMeasure reads one name, and says of which family it is.
func parseMeasure(name string) ([]Measure, int, error) {
	best := -1
	for i, f := range families {
		if rest, ok := strings.CutPrefix(name, f.name); ok && (rest == "" || rest[0] == '_' || rest[0] == '.') &&
			(best < 0 || len(f.name) > len(families[best].name)) {
			best = i
		}
	}
	if best < 0 {
		return nil, 0, fmt.Errorf("there is no measure %q; there are %s", name, strings.Join(familyNames(), ", "))
	}
	f := families[best]
	parameter := strings.TrimPrefix(name, f.name)
	if parameter == "" {
		return f.usual(best), best, nil
	}
	parameter = parameter[1:]
	switch {
	case f.kind == interpolatedPrecision:
		level, err := strconv.ParseFloat(parameter, 64)
		if err != nil || !(level >= 0 && level <= 1) {
			return nil, 0, fmt.Errorf("measure %q: the recall level must be a number from 0 to 1, as in %s_0.10", name, f.name)
		}
		return []Measure{{family: best, level: level}}, best, nil
	case f.cuts == nil:
		hint := ""
		if i := slices.IndexFunc(families, func(g family) bool { return g.name == f.name+"_cut" }); i >= 0 {
			hint = fmt.Sprintf("; with a cut-off it is called %s_cut_%s", f.name, parameter)
		}
		return nil, 0, fmt.Errorf("there is no measure %q: %s has no cut-off%s", name, f.name, hint)
	}
	k, err := strconv.Atoi(parameter)
	if err != nil || k < 1 {
		return nil, 0, fmt.Errorf("measure %q: the cut-off must be a whole number of at least 1, as in %s_10", name, f.name)
	}
	return []Measure{{family: best, k: k}}, best, nil
}

// usual are the members of the family at index i.
func (f family) usual(i int) []Measure {
	var all []Measure
	switch {
	case f.kind == interpolatedPrecision:
		for l := range recallLevels {
			all = append(all, Measure{family: i, level: float64(l) / (recallLevels - 1)})
		}
	case f.cuts != nil:
		for _, k := range f.cuts {
			all = append(all, Measure{family: i, k: k})
		}
	default:
		all = []Measure{{family: i}}
	}
	return all
}

// SortAsTrecEval puts measures into the order in which trec_eval prints them, whichever way they were asked for.
func SortAsTrecEval(measures []Measure) {
	slices.SortFunc(measures, func(a, b Measure) int {
		return cmp.Or(cmp.Compare(a.family, b.family), cmp.Compare(a.k, b.k), cmp.Compare(a.level, b.level))
	})
}

func familyNames() []string {
	var names []string
	for _, f := range families {
		if f.cuts != nil {
			names = append(names, f.name+"_k")
		} else {
			names = append(names, f.name)
		}
	}
	return names
}

// MeasureHelp is a line for each measure that there is: its name, and what it is.
func MeasureHelp() []string {
	var lines []string
	for i, name := range familyNames() {
		lines = append(lines, fmt.Sprintf("%-16s %s", name, families[i].about))
	}
	return lines
}
