package hybrid

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"frontier/indexes"
)

// The kinds of fusion.
const (
	KindRRF    = "rrf"    // reciprocal rank fusion; Param is its constant k
	KindConvex = "convex" // weighted sum of scaled scores; Param is the weight of the first list, and Norm the scale
)

// The scales of a convex fusion. Each is of one list as it came, so it changes with how many hits were asked for.
const (
	NormMinMax = "min-max" // the list's lowest score becomes 0, its highest 1
	NormZScore = "z-score" // the list's mean becomes 0, its standard deviation 1
)

// Norms are the scales of a convex fusion, the default first.
func Norms() []string { return []string{NormMinMax, NormZScore} }

// Fusion is one way to make one ranking of two.
type Fusion struct {
	Kind  string
	Param float64
	Norm  string `json:",omitempty"` // of a convex fusion; "" for others
}

// Validate refuses kinds and parameters that mean nothing.
func (f Fusion) Validate() error {
	if f.Kind != KindConvex && f.Norm != "" {
		return fmt.Errorf("%s: scores are not looked at, and so not scaled by %q", f.Kind, f.Norm)
	}
	switch f.Kind {
	case KindRRF:
		if !(f.Param > 0) || math.IsInf(f.Param, 0) {
			return fmt.Errorf("rrf: the constant is %v and must be above 0; 60 is usual", f.Param)
		}
	case KindConvex:
		if !(f.Param >= 0 && f.Param <= 1) {
			return fmt.Errorf("convex: the weight of the first list is %v and must be from 0 to 1", f.Param)
		}
		if !slices.Contains(Norms(), f.Norm) {
			return fmt.Errorf("convex: unknown scale of scores %q: use %s", f.Norm, strings.Join(Norms(), " or "))
		}
	default:
		return fmt.Errorf("unknown fusion %q: use %s or %s", f.Kind, KindRRF, KindConvex)
	}
	return nil
}

// RRF fuses rankings, each best first, by reciprocal rank: a row scores the sum over lists of 1/(k + rank), rank from 1
// (Cormack, Clarke and Büttcher, SIGIR 2009). The scores of the lists are not looked at. All rows of all lists come
// back, best first; ties go to the smaller id. k must be above 0, and a row twice in one list is an error.
func RRF(k float64, lists ...[]indexes.Hit) ([]indexes.Hit, error) {
	return NewFuser().RRF(nil, k, lists...)
}

// Convex fuses two rankings by weight*first + (1-weight)*second, where the scores of each list are scaled by norm first.
// A row that a list does not have gets from it what the list's last row gets: 0 by min-max, and by z-score the lowest of
// the list. Where all scores of a list are equal, there is no such scale: what it has then stands 1 above what it has
// not, as 1 and 0 by min-max and as 0 and -1 by z-score. An empty list gives nothing to anyone. The deviation is that of
// the list itself, not an estimate from it. Order, ties and errors are as for RRF; a score that is not finite is an
// error as well.
func Convex(norm string, weight float64, first, second []indexes.Hit) ([]indexes.Hit, error) {
	return NewFuser().Convex(nil, norm, weight, first, second)
}

// Fuser is RRF and Convex that keep their memory from one call to the next. It serves one goroutine at a time.
type Fuser struct {
	sums  map[int64]sum
	order []ranked
}

// sum is the score of a row so far, and the last list that added to it, to tell duplicates.
type sum struct {
	score float64
	list  int
}

type ranked struct {
	id    int64
	score float64
}

// NewFuser is ready for use.
func NewFuser() *Fuser { return &Fuser{sums: map[int64]sum{}} }

// Fuse appends the fused ranking of first and second to dst[:0], by the fusion's kind and parameter.
func (f Fusion) Fuse(u *Fuser, dst, first, second []indexes.Hit) ([]indexes.Hit, error) {
	switch f.Kind {
	case KindConvex:
		return u.Convex(dst, f.Norm, f.Param, first, second)
	case KindRRF:
		return u.RRF(dst, f.Param, first, second)
	}
	return dst[:0], f.Validate()
}

// RRF is the function RRF, appending to dst[:0], which must be none of the lists.
func (u *Fuser) RRF(dst []indexes.Hit, k float64, lists ...[]indexes.Hit) ([]indexes.Hit, error) {
	if err := (Fusion{Kind: KindRRF, Param: k}).Validate(); err != nil {
		return dst[:0], err
	}
	clear(u.sums)
	for i, list := range lists {
		for rank, hit := range list {
			if err := u.add(i, hit.ID, 1/(k+float64(rank+1))); err != nil {
				return dst[:0], err
			}
		}
	}
	return u.ranking(dst), nil
}

// Convex is the function Convex, appending to dst[:0], which must be neither list.
func (u *Fuser) Convex(dst []indexes.Hit, norm string, weight float64, first, second []indexes.Hit) ([]indexes.Hit, error) {
	if err := (Fusion{KindConvex, weight, norm}).Validate(); err != nil {
		return dst[:0], err
	}
	clear(u.sums)
	base := 0.0 // what a row would score that neither list has
	for i, list := range [2][]indexes.Hit{first, second} {
		share := weight
		if i == 1 {
			share = 1 - weight
		}
		scale, err := scaleOf(norm, list)
		if err != nil {
			return dst[:0], fmt.Errorf("list %d: %w", i+1, err)
		}
		base += share * scale.missing
		for _, hit := range list {
			// Above what the list gives to rows that it has not, so that these need no visit.
			if err := u.add(i, hit.ID, share*(scale.of(hit.Score)-scale.missing)); err != nil {
				return dst[:0], err
			}
		}
	}
	for id, s := range u.sums {
		s.score += base
		u.sums[id] = s
	}
	return u.ranking(dst), nil
}

func (u *Fuser) add(list int, id int64, score float64) error {
	s, known := u.sums[id]
	if known && s.list == list {
		return fmt.Errorf("list %d holds row %d twice; a ranking must hold a row once", list+1, id)
	}
	u.sums[id] = sum{s.score + score, list}
	return nil
}

func (u *Fuser) ranking(dst []indexes.Hit) []indexes.Hit {
	u.order = u.order[:0]
	for id, s := range u.sums {
		u.order = append(u.order, ranked{id, s.score})
	}
	slices.SortFunc(u.order, func(a, b ranked) int {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
		return cmp.Compare(a.id, b.id)
	})
	dst = slices.Grow(dst[:0], len(u.order))
	for _, r := range u.order {
		dst = append(dst, indexes.Hit{ID: r.id, Score: float32(r.score)})
	}
	return dst
}
