package hybrid

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"frontier/indexes"
)

// The kinds of fusion.
const (
	KindRRF    = "rrf"    // reciprocal rank fusion; Param is its constant k
	KindConvex = "convex" // weighted sum of scores; Param is the weight of the first list
)

// Fusion is one way to make one ranking of two.
type Fusion struct {
	Kind  string
	Param float64
}

// Validate refuses kinds and parameters that mean nothing.
func (f Fusion) Validate() error {
	switch f.Kind {
	case KindRRF:
		if !(f.Param > 0) || math.IsInf(f.Param, 0) {
			return fmt.Errorf("rrf: the constant is %v and must be above 0; 60 is usual", f.Param)
		}
	case KindConvex:
		if !(f.Param >= 0 && f.Param <= 1) {
			return fmt.Errorf("convex: the weight of the first list is %v and must be from 0 to 1", f.Param)
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

// Convex fuses two rankings by weight*first + (1-weight)*second, where the scores of each list are scaled to [0, 1] by
// its own minimum and maximum; a row that a list does not have gets 0 from it, like the last row of that list, and a
// list of equal scores gives 1 to all its rows. Order, ties and errors are as for RRF.
func Convex(weight float64, first, second []indexes.Hit) ([]indexes.Hit, error) {
	return NewFuser().Convex(nil, weight, first, second)
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
		return u.Convex(dst, f.Param, first, second)
	case KindRRF:
		return u.RRF(dst, f.Param, first, second)
	}
	return dst[:0], f.Validate()
}

// RRF is the function RRF, appending to dst[:0], which must be none of the lists.
func (u *Fuser) RRF(dst []indexes.Hit, k float64, lists ...[]indexes.Hit) ([]indexes.Hit, error) {
	if err := (Fusion{KindRRF, k}).Validate(); err != nil {
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
func (u *Fuser) Convex(dst []indexes.Hit, weight float64, first, second []indexes.Hit) ([]indexes.Hit, error) {
	if err := (Fusion{KindConvex, weight}).Validate(); err != nil {
		return dst[:0], err
	}
	clear(u.sums)
	for i, list := range [2][]indexes.Hit{first, second} {
		share := weight
		if i == 1 {
			share = 1 - weight
		}
		low, high := math.Inf(1), math.Inf(-1)
		for _, hit := range list {
			low, high = min(low, float64(hit.Score)), max(high, float64(hit.Score))
		}
		for _, hit := range list {
			scaled := 1.0
			if high > low {
				scaled = (float64(hit.Score) - low) / (high - low)
			}
			if err := u.add(i, hit.ID, share*scaled); err != nil {
				return dst[:0], err
			}
		}
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
