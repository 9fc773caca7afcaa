package embedders

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"frontier/internal/param"

	"gonum.org/v1/gonum/blas/blas32"
)

const (
	// smallSample is the number of fitted texts below which a term of one text is kept too.
	smallSample = 100
	// maxRankSearch is the size of the smaller side of the term matrix up to which the exact rank is worth computing for
	// an error message.
	maxRankSearch = 1024
)

// lsa is latent semantic analysis (Deerwester et al., JASIS 1990): with X the rows of the fitted texts and X = U S V', a
// text with weights x is embedded as x V, so that fitted texts are the rows of U S and the cosine is the usual one.
type lsa struct {
	analysis
	dim     int
	params  string
	terms   []string // ascending
	place   map[string]int32
	idf     []float32 // by term
	basis   []float32 // V: terms x dim, row-major
	scratch sync.Pool
}

type lsaScratch struct {
	analyzer analyzer
	places   []int32
}

func newLSA(p param.Values) *lsa {
	l := &lsa{analysis: analysis{stem: p.Bool("stem"), ngrams: p.Int("char_ngrams")}, dim: p.Int("dim"), params: p.Canonical()}
	l.scratch.New = func() any { return &lsaScratch{analyzer: analyzer{analysis: l.analysis}} }
	return l
}

func fitLSA(ctx context.Context, p param.Values, seed uint64, texts Texts) (Embedder, error) {
	l := newLSA(p)
	counts, err := l.count(ctx, texts, p.Int("fit_sample"), seed)
	if err != nil {
		return nil, fmt.Errorf("fit lsa: %w", err)
	}
	minDF := p.Int("min_df")
	if counts.rows < smallSample {
		minDF = 1
	}
	x := l.weigh(counts, minDF, p.Int("max_features"))
	smaller := min(x.rows, x.cols)
	if l.dim > smaller && smaller > maxRankSearch {
		return nil, &param.Error{Param: "dim", Msg: fmt.Sprintf("%d is more than the rank of the fitted texts, which is at most %d (%d texts, %d terms)",
			l.dim, smaller, x.rows, x.cols)}
	}
	if smaller == 0 {
		return nil, &param.Error{Param: "dim", Msg: fmt.Sprintf("no basis of any dimension can be fitted on %d texts with %d terms that min_df and max_features keep",
			counts.rows, x.cols)}
	}
	v, values, err := rightSingular(ctx, x, min(l.dim, smaller), seed)
	if err != nil {
		return nil, fmt.Errorf("fit lsa: singular vectors of %d texts x %d terms: %w", x.rows, x.cols, err)
	}
	rank := 0
	for rank < len(values) && values[rank] > rankTolerance*values[0] {
		rank++
	}
	if l.dim > rank {
		return nil, &param.Error{Param: "dim", Msg: fmt.Sprintf("%d is more than the rank of the fitted texts; the largest possible is %d (%d texts, %d terms)",
			l.dim, rank, x.rows, x.cols)}
	}
	l.basis = make([]float32, x.cols*l.dim)
	for i := range x.cols {
		for j := range l.dim {
			l.basis[i*l.dim+j] = float32(v[i*len(values)+j])
		}
	}
	return l, nil
}

// count gives the term counts of a sample of the texts. The terms, in order of first appearance, go to l.terms; columns
// ascend in each row.
func (l *lsa) count(ctx context.Context, texts Texts, most int, seed uint64) (*sparse, error) {
	positions, n, err := sampled(ctx, texts, most, seed)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fmt.Errorf("there are no texts to learn from")
	}
	l.place = make(map[string]int32)
	x := &sparse{start: []int{0}}
	s := l.scratch.Get().(*lsaScratch)
	defer l.scratch.Put(s)
	at := 0
	for text, err := range texts() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("text %d: %w", at, err)
		}
		if x.rows == len(positions) {
			break
		}
		if at++; at-1 != positions[x.rows] {
			continue
		}
		s.places = s.places[:0]
		s.analyzer.each(text, func(term []byte) {
			place, known := l.place[string(term)]
			if !known {
				place = int32(len(l.terms))
				name := string(term)
				l.place[name] = place
				l.terms = append(l.terms, name)
			}
			s.places = append(s.places, place)
		})
		slices.Sort(s.places)
		for place, tf := range runs(s.places) {
			x.col, x.val = append(x.col, place), append(x.val, float32(tf))
		}
		x.start = append(x.start, len(x.col))
		x.rows++
	}
	if x.rows != len(positions) {
		return nil, fmt.Errorf("text %d: the texts ended, but there were %d the first time", at, n)
	}
	x.cols = len(l.terms)
	return x, nil
}

// weigh settles the vocabulary and turns counts into rows of unit length over it. Texts without a term are left out.
func (l *lsa) weigh(counts *sparse, minDF, maxFeatures int) *sparse {
	df := make([]int, counts.cols)
	for _, c := range counts.col {
		df[c]++
	}
	var kept []int32
	for i, d := range df {
		if d >= minDF {
			kept = append(kept, int32(i))
		}
	}
	slices.SortFunc(kept, func(a, b int32) int {
		if df[a] != df[b] {
			return df[b] - df[a]
		}
		return strings.Compare(l.terms[a], l.terms[b])
	})
	kept = kept[:min(len(kept), maxFeatures)]
	slices.SortFunc(kept, func(a, b int32) int { return strings.Compare(l.terms[a], l.terms[b]) })

	renumber := make([]int32, counts.cols)
	for i := range renumber {
		renumber[i] = -1
	}
	terms := make([]string, len(kept))
	l.idf = make([]float32, len(kept))
	for i, old := range kept {
		renumber[old] = int32(i)
		terms[i] = l.terms[old]
		l.idf[i] = float32(idf(counts.rows, df[old]))
	}
	l.setTerms(terms)

	x := &sparse{cols: len(kept), start: []int{0}}
	type entry struct {
		col int32
		val float32
	}
	var row []entry
	for i := range counts.rows {
		row = row[:0]
		norm := 0.0
		for e := counts.start[i]; e < counts.start[i+1]; e++ {
			if c := renumber[counts.col[e]]; c >= 0 {
				w := l.weight(c, int(counts.val[e]))
				norm += float64(w) * float64(w)
				row = append(row, entry{c, w})
			}
		}
		if len(row) == 0 {
			continue
		}
		slices.SortFunc(row, func(a, b entry) int { return int(a.col - b.col) })
		scale := float32(1 / math.Sqrt(norm))
		for _, e := range row {
			x.col, x.val = append(x.col, e.col), append(x.val, e.val*scale)
		}
		x.start = append(x.start, len(x.col))
		x.rows++
	}
	return x
}

func (l *lsa) setTerms(terms []string) {
	l.terms, l.place = terms, make(map[string]int32, len(terms))
	for i, t := range terms {
		l.place[t] = int32(i)
	}
}

func (l *lsa) weight(place int32, tf int) float32 { return float32(damped(tf)) * l.idf[place] }

// Dim is the number of components.
func (l *lsa) Dim() int { return l.dim }

// Embed fills dst with the vector of text. Terms outside the vocabulary count for nothing.
func (l *lsa) Embed(text string, dst []float32) error {
	if len(dst) != l.dim {
		return fmt.Errorf("lsa: a vector of %d values for an embedding of %d", len(dst), l.dim)
	}
	clear(dst)
	s := l.scratch.Get().(*lsaScratch)
	defer l.scratch.Put(s)
	s.places = s.places[:0]
	s.analyzer.each(text, func(term []byte) {
		if place, known := l.place[string(term)]; known {
			s.places = append(s.places, place)
		}
	})
	slices.Sort(s.places)
	x, y := blas32.Vector{N: l.dim, Inc: 1}, blas32.Vector{N: l.dim, Inc: 1, Data: dst}
	for place, tf := range runs(s.places) {
		x.Data = l.basis[int(place)*l.dim : (int(place)+1)*l.dim]
		blas32.Axpy(l.weight(place, tf), x, y)
	}
	normalize(dst)
	return nil
}

// runs yields each value of the sorted s with the number of times that it is there.
func runs(s []int32) func(yield func(int32, int) bool) {
	return func(yield func(int32, int) bool) {
		for i := 0; i < len(s); {
			from := i
			for i < len(s) && s[i] == s[from] {
				i++
			}
			if !yield(s[from], i-from) {
				return
			}
		}
	}
}
