package results

import (
	"math"
	"slices"
)

// boxes are points with an interval in each objective, turned so that smaller is better: [objective][point].
type boxes struct {
	low, cost, high [][]float64
	bare            []bool // objectives with a value that has no interval
	rows            []int  // the row of each point, ascending
}

func newBoxes(objectives int) *boxes {
	return &boxes{low: make([][]float64, objectives), cost: make([][]float64, objectives), high: make([][]float64, objectives), bare: make([]bool, objectives)}
}

// add appends the interval of the next point in objective j, as the row stores it: low and high are values, not costs.
// The widening comes later, when it is known how many intervals there are.
func (b *boxes) add(j int, o Objective, cost, low, high float64, has bool) {
	if o.Direction == Higher {
		low, high = -high, -low
	}
	// An interval that does not hold its value is no interval of it: rounding may leave the value at the very end.
	if !has || math.IsNaN(low) || math.IsNaN(high) {
		low, high = cost, cost
	}
	low, high = min(low, cost), max(high, cost)
	b.low[j], b.cost[j], b.high[j] = append(b.low[j], low), append(b.cost[j], cost), append(b.high[j], high)
	b.bare[j] = b.bare[j] || !has
}

// place widens the intervals and finds the place of each point that is wanted; nil is all. The others are Off.
func (b *boxes) place(objs []Objective, c Certainty, wanted func(point int) bool) *Placing {
	if c.Level == 0 {
		c.Level = storedLevel
	}
	p := &Placing{Level: c.Level, Widening: 1, boxes: b}
	for j, o := range objs {
		col, _ := Lookup(o.Column)
		if c.FixedQuestions && col.Exact {
			copy(b.low[j], b.cost[j])
			copy(b.high[j], b.cost[j])
			continue
		}
		if b.bare[j] && !col.Exact {
			p.Bare = append(p.Bare, o.Column)
		}
		for k := range b.cost[j] {
			if b.low[j][k] < b.high[j][k] {
				p.Intervals++
			}
		}
	}
	if p.Intervals > 0 {
		p.Widening = twoSided(1-(1-c.Level)/float64(p.Intervals)) / twoSided(storedLevel)
		for j, o := range objs {
			col, _ := Lookup(o.Column)
			for k, cost := range b.cost[j] {
				b.low[j][k], b.high[j][k] = widened(o, col, cost, b.low[j][k], b.high[j][k], p.Widening)
			}
		}
	}
	p.Places = b.places(wanted)
	return p
}

// twoSided is how many standard deviations on each side of a normal value hold it with the probability.
func twoSided(probability float64) float64 { return math.Sqrt2 * math.Erfinv(probability) }

// widened stretches both sides of an interval. What is positive by nature keeps its sign and is stretched in
// proportion; a fraction ends at 0 and 1.
func widened(o Objective, col Column, cost, low, high, factor float64) (float64, float64) {
	if o.Direction == Higher {
		cost, low, high = -cost, -high, -low
	}
	switch {
	case col.Unit == "fraction":
		low, high = max(0, cost-(cost-low)*factor), min(1, cost+(high-cost)*factor)
		low, high = min(low, cost), max(high, cost)
	case logarithmic(col) && low > 0:
		low, high = cost*math.Pow(low/cost, factor), cost*math.Pow(high/cost, factor)
	default:
		low, high = cost-(cost-low)*factor, cost+(high-cost)*factor
	}
	if o.Direction == Higher {
		return -high, -low
	}
	return low, high
}

// logarithmic says whether ratios of the column mean more than differences: times, sizes, rates and money.
func logarithmic(col Column) bool {
	switch col.Unit {
	case "seconds", "bytes", "usd", "queries/s":
		return true
	}
	return false
}

// places compares each point with the few that decide: the best of all upper ends, and the two best layers of lower
// ends. Whatever else may beat a point, one of these does, and it may be the point itself only in one of two layers.
func (b *boxes) places(wanted func(point int) bool) []Place {
	n := len(b.cost[0])
	all := make([]int, n)
	for k := range all {
		all[k] = k
	}
	beaters := nondominated(b.high, all)
	first := nondominated(b.low, all)
	inFirst := make([]bool, n)
	for _, k := range first {
		inFirst[k] = true
	}
	second := nondominated(b.low, slices.DeleteFunc(all, func(k int) bool { return inFirst[k] }))
	reachers := slices.Concat(first, second)
	places := make([]Place, n)
	for k := range places {
		if wanted != nil && !wanted(k) {
			continue
		}
		if slices.ContainsFunc(beaters, func(a int) bool { return b.beats(a, k) }) {
			continue
		}
		places[k] = Certain
		if slices.ContainsFunc(reachers, func(a int) bool { return a != k && b.mayBeat(a, k) }) {
			places[k] = Possible
		}
	}
	return places
}

// beats says that a at its worst is as good as k at its best in all objectives, and better in one.
func (b *boxes) beats(a, k int) bool { return dominatesAt(b.high, a, b.low, k) }

// mayBeat says that a at its best is as good as k at its worst in all objectives, and better in one.
func (b *boxes) mayBeat(a, k int) bool { return dominatesAt(b.low, a, b.high, k) }

func (b *boxes) overlap(a, k int) bool {
	for j := range b.cost {
		if b.low[j][a] > b.high[j][k] || b.low[j][k] > b.high[j][a] {
			return false
		}
	}
	return true
}

func dominatesAt(x [][]float64, a int, y [][]float64, k int) bool {
	better := false
	for j := range x {
		switch {
		case x[j][a] > y[j][k]:
			return false
		case x[j][a] < y[j][k]:
			better = true
		}
	}
	return better
}

// nondominated are those of the points that no other of them dominates, of equal ones all. In lexicographic order.
func nondominated(costs [][]float64, points []int) []int {
	return frontAmong(costs, survivors(costs, points))
}

func frontAmong(costs [][]float64, points []int) []int {
	candidates := make([]candidate, len(points))
	for i, k := range points {
		c := make([]float64, len(costs))
		for j := range costs {
			c[j] = costs[j][k]
		}
		candidates[i] = candidate{k, c}
	}
	var out []int
	frontOf(candidates, func(c candidate, _ int, dominated bool) {
		if !dominated {
			out = append(out, c.row)
		}
	})
	return out
}
