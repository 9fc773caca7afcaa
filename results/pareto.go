package results

import (
	"fmt"
	"slices"
)

// Frontier finds the rows that no other row dominates: none is better in one objective and at least as good in all.
// Equal rows stay together. For each row that is dominated, dominatedBy is the point_id of a row on the frontier that
// dominates it. Rows whose status is not ok, and rows that are null in an objective, are off the frontier with an empty
// dominatedBy.
//
// It takes O(n log n) for up to three objectives and O(n f) beyond, for f rows on the frontier.
func Frontier(rows []Row, objs []Objective) (on []bool, dominatedBy []string, err error) {
	if err := checkObjectives(objs); err != nil {
		return nil, nil, err
	}
	on, dominatedBy = make([]bool, len(rows)), make([]string, len(rows))
	candidates := make([]candidate, 0, len(rows))
	for i, r := range rows {
		if r.Text("status") != "ok" {
			continue
		}
		costs, ok := costsOf(r, objs)
		if !ok {
			continue
		}
		if r.Text("point_id") == "" {
			return nil, nil, fmt.Errorf("row %d has no point_id", i)
		}
		candidates = append(candidates, candidate{i, costs})
	}
	frontOf(candidates, func(c candidate, by int, dominated bool) {
		on[c.row] = !dominated
		if dominated {
			dominatedBy[c.row] = rows[by].Text("point_id")
		}
	})
	return on, dominatedBy, nil
}

// frontOf sorts candidates, which have the same number of objectives, and tells of each whether it is dominated, and by
// which row of the frontier.
func frontOf(candidates []candidate, tell func(c candidate, by int, dominated bool)) {
	if len(candidates) == 0 {
		return
	}
	// In lexicographic order a row is dominated by earlier ones only, and if by any then by one on the frontier.
	slices.SortStableFunc(candidates, func(a, b candidate) int { return slices.Compare(a.costs, b.costs) })
	var front dominators = &everyRow{}
	if len(candidates[0].costs) <= 3 {
		front = newStaircase(candidates)
	}
	for start := 0; start < len(candidates); {
		end := start + 1
		for end < len(candidates) && slices.Equal(candidates[end].costs, candidates[start].costs) {
			end++
		}
		by, dominated := front.dominator(candidates[start].costs)
		for _, c := range candidates[start:end] {
			tell(c, by, dominated)
		}
		if !dominated {
			front.add(candidates[start])
		}
		start = end
	}
}

// candidate is a row that can be compared, with its objectives turned so that smaller is better.
type candidate struct {
	row   int
	costs []float64
}

func costsOf(r Row, objs []Objective) ([]float64, bool) {
	costs := make([]float64, len(objs))
	for i, o := range objs {
		var ok bool
		if costs[i], ok = o.cost(r); !ok {
			return nil, false
		}
	}
	return costs, true
}

// dominators is the part of the frontier that has been found. Costs come in lexicographic order, each once.
type dominators interface {
	dominator(costs []float64) (row int, found bool)
	add(c candidate)
}

// staircase answers for up to three objectives. The first is settled by the order; a Fenwick tree over the ranks of
// the second holds the smallest third cost among all with a second cost of at most that rank.
type staircase struct {
	seconds []float64 // distinct, ascending
	best    []candidate
}

func newStaircase(candidates []candidate) *staircase {
	s := &staircase{}
	for _, c := range candidates {
		s.seconds = append(s.seconds, at(c.costs, 1))
	}
	slices.Sort(s.seconds)
	s.seconds = slices.Compact(s.seconds)
	s.best = make([]candidate, len(s.seconds)+1)
	return s
}

// at is the cost of objective i; with fewer objectives all rows are equal in the missing ones.
func at(costs []float64, i int) float64 {
	if i < len(costs) {
		return costs[i]
	}
	return 0
}

func (s *staircase) rank(costs []float64) int {
	i, _ := slices.BinarySearch(s.seconds, at(costs, 1))
	return i + 1
}

func (s *staircase) dominator(costs []float64) (row int, found bool) {
	third := 0.0
	for i := s.rank(costs); i > 0; i -= i & -i {
		b := s.best[i]
		if b.costs != nil && (!found || at(b.costs, 2) < third) {
			row, third, found = b.row, at(b.costs, 2), true
		}
	}
	return row, found && third <= at(costs, 2)
}

func (s *staircase) add(c candidate) {
	for i := s.rank(c.costs); i < len(s.best); i += i & -i {
		if b := s.best[i]; b.costs == nil || at(c.costs, 2) < at(b.costs, 2) {
			s.best[i] = c
		}
	}
}

// everyRow compares with every row of the frontier.
type everyRow struct{ front []candidate }

func (s *everyRow) dominator(costs []float64) (row int, found bool) {
	for _, f := range s.front {
		if noneAbove(f.costs, costs) {
			return f.row, true
		}
	}
	return 0, false
}

func (s *everyRow) add(c candidate) { s.front = append(s.front, c) }

func noneAbove(a, b []float64) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}
