package results

import (
	"fmt"
	"math"
	"strings"
)

// Place says how sure it is that a point belongs on the frontier.
type Place int

// The places. A point that is null in an objective, or was not measured, is Off.
const (
	Off      Place = iota // another point beats it, beyond the noise of both
	Possible              // it may be on the frontier: no other point certainly beats it, and one may
	Certain               // no other point can beat it
)

// String is off, possible or certain.
func (p Place) String() string { return [...]string{"off", "possible", "certain"}[p] }

// Certainty says how sure places are to be, and of what.
type Certainty struct {
	// Level is the probability, at least, that all places of one frontier hold at once; 0.95 if it is 0.
	Level float64
	// FixedQuestions takes the questions as all that will ever be asked, so that the columns that repeat to the digit
	// (Column.Exact) have no width. Otherwise their intervals say what other questions of the kind would give.
	FixedQuestions bool
}

// storedLevel is that of the intervals in the rows.
const storedLevel = 0.95

// Placing is where rows belong.
type Placing struct {
	Places []Place // of each row
	Level  float64
	// Intervals are how many values have an interval, and Widening by how much each was widened so that all of them
	// hold at once.
	Intervals int
	Widening  float64
	// Bare are the objectives that vary from run to run and have no interval in some row: those values are taken as
	// they are.
	Bare []string

	boxes *boxes
	point []int // of each row among the boxes; -1 for those that do not take part
}

// Places finds which rows are certainly on the frontier, and which may be.
//
// Each value stands for the interval that its row stores, widened from 95% for one to Level for all N of them at once
// (Bonferroni: each holds with 1 - (1-Level)/N, on the normal curve, each side for itself; seconds, rates, sizes and
// prices on a log scale). A value without an interval stands for itself. A point is Possible unless another one is better
// at its worst than this one at its best, in each objective or equal; it is Certain if no other one at its best reaches
// this one at its worst. As all true values lie in their intervals with probability Level, so does it hold with
// probability Level that every certain point is on the true frontier and every point of the true frontier is at least
// possible. Points of one run share their questions, which makes this rule careful, not bold, about quality.
//
// It takes O(n log n) and the frontier's size times n where points lie close.
func Places(rows []Row, objs []Objective, c Certainty) (*Placing, error) {
	if err := checkObjectives(objs); err != nil {
		return nil, err
	}
	if c.Level == 0 {
		c.Level = storedLevel
	}
	if c.Level <= 0 || c.Level >= 1 {
		return nil, fmt.Errorf("the level of confidence is %v; it lies between 0 and 1, such as 0.95", c.Level)
	}
	b := newBoxes(len(objs))
	var at []int // rows that take part
	for i, r := range rows {
		costs, ok := costsOf(r, objs)
		if !ok || r.Text("status") != "ok" {
			continue
		}
		at = append(at, i)
		for j, o := range objs {
			low, high, has := r.Interval(o.Column)
			b.add(j, o, costs[j], low, high, has)
		}
	}
	p := b.place(objs, c, nil)
	places := make([]Place, len(rows))
	p.point = make([]int, len(rows))
	for i := range p.point {
		p.point[i] = -1
	}
	for k, i := range at {
		places[i], p.point[i] = p.Places[k], k
	}
	p.Places = places
	p.boxes.rows = at
	return p, nil
}

// Rule says in a sentence what the places mean.
func (p *Placing) Rule() string {
	text := fmt.Sprintf("place: certain points are on the true frontier and all others of it are possible, with %s confidence for all at once (%d intervals, each widened %.1f-fold)",
		percent(p.Level), p.Intervals, p.Widening)
	if p.Intervals == 0 {
		text = "place: no value has an interval, so that each is taken as exact"
	}
	if len(p.Bare) > 0 {
		verbs := [2]string{"has", "is"}
		if len(p.Bare) > 1 {
			verbs = [2]string{"have", "are"}
		}
		text += fmt.Sprintf("; %s %s no interval in some rows and %s taken as measured", strings.Join(p.Bare, " and "), verbs[0], verbs[1])
	}
	return text
}

func percent(level float64) string { return fmt.Sprintf("%g%%", math.Round(level*1e6)/1e4) }

// Count is how many rows have the place.
func (p *Placing) Count(place Place) int {
	n := 0
	for _, q := range p.Places {
		if q == place {
			n++
		}
	}
	return n
}

// Compared says whether row i took part: it was measured, and has a value in each objective.
func (p *Placing) Compared(i int) bool { return p.point[i] >= 0 }

// Rivals are the rows that may beat row i for all that was measured, in their order.
func (p *Placing) Rivals(i int) []int {
	if !p.Compared(i) {
		return nil
	}
	var out []int
	for other, row := range p.boxes.rows {
		if other != p.point[i] && p.boxes.mayBeat(other, p.point[i]) {
			out = append(out, row)
		}
	}
	return out
}

// Alike says whether the intervals of two rows overlap in every objective, or are equal: nothing that was measured tells
// the two apart.
func (p *Placing) Alike(i, j int) bool {
	return p.Compared(i) && p.Compared(j) && p.boxes.overlap(p.point[i], p.point[j])
}

// AlikeGroups gathers, for rows of first one after the other, the rows of first and of more that cannot be told from it.
// A row is in one group at most, and one that differs from all others in none. After limit groups it stops.
func (p *Placing) AlikeGroups(first, more []int, limit int) [][]int {
	var out [][]int
	taken := map[int]bool{}
	for n, i := range first {
		if taken[i] {
			continue
		}
		group := []int{i}
		for _, rest := range [][]int{first[n+1:], more} {
			for _, j := range rest {
				if !taken[j] && p.Alike(i, j) {
					group = append(group, j)
					taken[j] = true
				}
			}
		}
		if len(group) == 1 {
			continue
		}
		if out = append(out, group); len(out) == limit {
			break
		}
	}
	return out
}
