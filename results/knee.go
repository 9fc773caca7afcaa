package results

import (
	"errors"
	"fmt"
	"math"
)

// ErrNoKnee says that a frontier has no knee.
var ErrNoKnee = errors.New("there is no knee")

// Knee is the row of the frontier beyond which more of one objective costs more of the other than before: the one
// farthest from the chord between the two ends of the frontier, on the side of the better, once each objective is
// stretched to [0, 1] between them (after Das, Structural Optimization 18, 1999, for a plane). Times, sizes, rates and
// prices are stretched on a log scale where all are positive, for their ratios are what users feel. Of equally far rows
// it is the first in order of the objectives.
//
// It is defined for two objectives; the error is ErrNoKnee for a frontier of fewer than three different points, and for
// one that bends the other way everywhere.
func Knee(rows []Row, objs []Objective) (int, error) {
	if len(objs) != 2 {
		return 0, fmt.Errorf("the knee is where a curve bends, which takes two objectives, not %d; choose two with --objective", len(objs))
	}
	on, _, err := Frontier(rows, objs)
	if err != nil {
		return 0, err
	}
	var front []int
	for _, i := range ByObjectives(rows, objs) {
		if on[i] {
			front = append(front, i)
		}
	}
	stretched := [2][]float64{stretch(rows, front, objs[0]), stretch(rows, front, objs[1])}
	// The frontier runs from (0, 1), best in the first objective, to (1, 0): the chord is x + y = 1.
	best, distance, different := 0, 1e-9, 0
	for k, i := range front {
		x, y := stretched[0][k], stretched[1][k]
		if k == 0 || x != stretched[0][k-1] || y != stretched[1][k-1] {
			different++
		}
		if d := (1 - x - y) / math.Sqrt2; d > distance {
			best, distance = i, d
		}
	}
	switch {
	case different < 3:
		return 0, fmt.Errorf("%w: the frontier has %s, and a bend takes three", ErrNoKnee, count(different, "different point"))
	case distance <= 1e-9:
		return 0, fmt.Errorf("%w: no point of the frontier lies on the better side of the chord between its ends", ErrNoKnee)
	}
	return best, nil
}

// stretch gives the costs of rows in o, moved to [0, 1].
func stretch(rows []Row, indices []int, o Objective) []float64 {
	out := make([]float64, len(indices))
	col, _ := Lookup(o.Column)
	log := logarithmic(col)
	for k, i := range indices {
		out[k], _ = o.cost(rows[i])
		log = log && out[k] != 0
	}
	low, high := math.Inf(1), math.Inf(-1)
	for k, v := range out {
		if log && o.Direction == Higher {
			v = -math.Log(-v)
		} else if log {
			v = math.Log(v)
		}
		out[k] = v
		low, high = min(low, v), max(high, v)
	}
	for k, v := range out {
		out[k] = 0
		if high > low {
			out[k] = (v - low) / (high - low)
		}
	}
	return out
}
