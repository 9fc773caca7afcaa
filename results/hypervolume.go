package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Side is an edge of the box that a hypervolume is a share of: one objective from its ideal to its reference.
type Side struct {
	Objective
	Ideal float64 // 1 or 0 of a fraction, 0 of anything else that should be low, else the best value measured
	// Reference is given, or a tenth of the way beyond the worst value measured, so that the ends of the frontier count. If
	// all that was measured is ideal, it is the ideal, and the objective takes no part.
	Reference float64
}

// Volume is the hypervolume of a frontier.
type Volume struct {
	// Value is the share, in [0, 1], of the box between the ideal and the reference that the frontier dominates: 1 if a
	// point reaches the ideal, 0 if none is better than the reference in everything.
	Value  float64
	Box    []Side
	Points int // on the frontier
	Beyond int // points of the frontier that are not better than the reference in everything, and count for nothing
}

// Hypervolume is exact for any number of objectives (While et al., IEEE Transactions on Evolutionary Computation 16(1),
// 2012; time and memory grow fast beyond four). reference gives values by column; an objective without one takes its
// own from the measured rows (see Side), so that two volumes can be compared only where both were given the same. Rows that are
// not ok, or null in an objective, do not count.
func Hypervolume(rows []Row, objs []Objective, reference map[string]float64) (Volume, error) {
	on, _, err := Frontier(rows, objs)
	if err != nil {
		return Volume{}, err
	}
	for _, name := range sortedKeys(reference) {
		if !slices.ContainsFunc(objs, func(o Objective) bool { return o.Column == name }) {
			return Volume{}, fmt.Errorf("the reference names %s, which is no objective; they are %s", name, strings.Join(columnsOfObjectives(objs), ", "))
		}
		if err := checkNumber(reference[name]); err != nil {
			return Volume{}, fmt.Errorf("the reference of %s: %w", name, err)
		}
	}
	var all, front [][]float64
	for i, r := range rows {
		costs, ok := costsOf(r, objs)
		if !ok || r.Text("status") != "ok" {
			continue
		}
		all = append(all, costs)
		if on[i] {
			front = append(front, costs)
		}
	}
	v := Volume{Box: boxOf(all, objs, reference), Points: len(front)}
	var inside [][]float64
	for _, costs := range front {
		scaled := make([]float64, len(objs))
		counts := true
		for j, side := range v.Box {
			ideal, ref := side.cost(side.Ideal), side.cost(side.Reference)
			if _, given := reference[side.Column]; !given && ref == ideal {
				continue // all that was measured is ideal, and tells nothing apart
			}
			scaled[j] = (costs[j] - ideal) / (ref - ideal)
			counts = counts && costs[j] < ref
		}
		if !counts {
			v.Beyond++
			continue
		}
		inside = append(inside, scaled)
	}
	v.Value = volume(inside)
	return v, nil
}

// cost turns a value so that smaller is better.
func (s Side) cost(value float64) float64 {
	if s.Direction == Higher {
		return -value
	}
	return value
}

func boxOf(costs [][]float64, objs []Objective, reference map[string]float64) []Side {
	box := make([]Side, len(objs))
	for j, o := range objs {
		best, worst := math.Inf(1), math.Inf(-1)
		for _, c := range costs {
			best, worst = min(best, c[j]), max(worst, c[j])
		}
		box[j].Objective = o
		col, _ := Lookup(o.Column)
		turn := box[j].cost // its own inverse
		switch {
		case o.Direction == Higher && col.Unit == "fraction":
			box[j].Ideal = 1
		case o.Direction == Lower:
			box[j].Ideal = min(0, best)
		case len(costs) > 0:
			box[j].Ideal = turn(best)
		}
		if ref, given := reference[o.Column]; given {
			box[j].Reference = ref
		} else if len(costs) > 0 {
			box[j].Reference = turn(worst + (worst-box[j].cost(box[j].Ideal))/10)
		}
	}
	return box
}

// volume is what points in [0, 1]^m dominate within the unit box, smaller being better. Beyond three objectives by WFG:
// the volume of a set is the sum over its points of what each adds to those after it.
func volume(points [][]float64) float64 {
	if len(points) == 0 {
		return 0
	}
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b []float64) int { return -slices.Compare(a, b) }) // worst first, so that limits are few
	switch len(points[0]) {
	case 1:
		return 1 - points[len(points)-1][0]
	case 2:
		return area(points)
	case 3:
		return sliced(points)
	}
	sum := 0.0
	for i, p := range points {
		alone := 1.0
		for _, v := range p {
			alone *= 1 - v
		}
		sum += alone - volume(limited(points[i+1:], p))
	}
	return sum
}

// limited moves points to where they share volume with p, and keeps those that none of the others dominates.
func limited(points [][]float64, p []float64) [][]float64 {
	moved := make([]candidate, len(points))
	for i, q := range points {
		m := make([]float64, len(p))
		for j := range p {
			m[j] = max(p[j], q[j])
		}
		moved[i] = candidate{i, m}
	}
	var out [][]float64
	frontOf(moved, func(c candidate, _ int, dominated bool) {
		if !dominated && (len(out) == 0 || !slices.Equal(out[len(out)-1], c.costs)) {
			out = append(out, c.costs)
		}
	})
	return out
}

// sliced is the volume in three objectives: slices of the third, each with the area of the points up to there. O(n f) for
// f points of which none dominates another in the first two.
func sliced(points [][]float64) float64 {
	slices.SortFunc(points, func(a, b []float64) int { return cmp.Compare(a[2], b[2]) })
	sum := 0.0
	var stair [][]float64 // by the first objective rising, and so by the second falling
	for i, p := range points {
		at, _ := slices.BinarySearchFunc(stair, p[0], func(q []float64, x float64) int { return cmp.Compare(q[0], x) })
		if (at == 0 || stair[at-1][1] > p[1]) && (at == len(stair) || stair[at][0] > p[0] || stair[at][1] > p[1]) {
			end := at
			for end < len(stair) && stair[end][1] >= p[1] {
				end++
			}
			stair = slices.Replace(stair, at, end, p)
		}
		next := 1.0
		if i+1 < len(points) {
			next = points[i+1][2]
		}
		if next > p[2] {
			sum += (next - p[2]) * steps(stair)
		}
	}
	return sum
}

// steps is the area under a stair.
func steps(stair [][]float64) float64 {
	sum, height := 0.0, 1.0
	for _, p := range stair {
		sum += (1 - p[0]) * (height - p[1])
		height = p[1]
	}
	return sum
}

// area is the volume in two objectives, in O(n log n).
func area(points [][]float64) float64 {
	slices.SortFunc(points, func(a, b []float64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	sum, height := 0.0, 1.0
	for _, p := range points {
		if p[1] < height {
			sum += (1 - p[0]) * (height - p[1])
			height = p[1]
		}
	}
	return sum
}

// ParseReference reads "recall_at_10=0,latency_p99_seconds=100ms".
func ParseReference(text string) (map[string]float64, error) {
	out := map[string]float64{}
	c := newCatalogue()
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok {
			return nil, fmt.Errorf("reference %q: write column=value, such as latency_p99_seconds=100ms", part)
		}
		i, _, known := c.find(name)
		if !known {
			return nil, fmt.Errorf("reference %q: %w", part, c.unknown(name))
		}
		q, err := withUnits(value)
		if err == nil {
			err = q.checkColumns(c, map[string]Type{name: c.columns[i].Type})
		}
		if err != nil {
			return nil, fmt.Errorf("reference %q: %w", part, err)
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(q.plain), 64)
		if err != nil {
			return nil, fmt.Errorf("reference %q: %q is no number", part, value)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("reference %q: %s is given twice", part, name)
		}
		out[name] = v
	}
	return out, nil
}

// VolumeColumns are the columns of VolumeRow beside those that name the data.
func VolumeColumns(objs []Objective) []Column {
	columns := []Column{
		{Name: "hypervolume", Group: "frontier", Type: Float, Unit: "fraction", Better: Higher, Doc: "Share of the box from the ideal to the reference that the frontier dominates."},
		{Name: "frontier_points", Group: "frontier", Type: Int, Unit: "points", Doc: "Points on the frontier."},
		{Name: "beyond_reference", Group: "frontier", Type: Int, Unit: "points", Doc: "Those of them that are not better than the reference in everything, and count for nothing."},
	}
	for _, o := range objs {
		col, _ := Lookup(o.Column)
		columns = append(columns,
			Column{Name: "ideal_" + o.Column, Group: "frontier", Type: Float, Unit: col.Unit, Doc: "The better end of the box."},
			Column{Name: "reference_" + o.Column, Group: "frontier", Type: Float, Unit: col.Unit, Doc: "The worse end of the box."})
	}
	return columns
}

// VolumeRow is the group's hypervolume as a row with the columns of VolumeColumns.
func (g Group) VolumeRow(objs []Objective, reference map[string]float64) (Row, error) {
	v, err := Hypervolume(g.Rows, objs, reference)
	if err != nil {
		return nil, err
	}
	r := Row{"hypervolume": v.Value, "frontier_points": int64(v.Points), "beyond_reference": int64(v.Beyond)}
	if g.Dataset != "" {
		r["dataset"] = g.Dataset
	}
	if g.Digest != "" {
		r["dataset_digest"] = g.Digest
	}
	for _, side := range v.Box {
		r["ideal_"+side.Column], r["reference_"+side.Column] = side.Ideal, side.Reference
	}
	return r, nil
}
