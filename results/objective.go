package results

import (
	"errors"
	"fmt"
	"strings"
)

// Objective is a column with the direction that is better.
type Objective struct {
	Column    string
	Direction Direction
}

// String is the form that ParseObjective reads.
func (o Objective) String() string { return o.Column + ":" + o.Direction.String() }

// String is max, min or none.
func (d Direction) String() string {
	switch d {
	case Higher:
		return "max"
	case Lower:
		return "min"
	}
	return "none"
}

// ParseObjective reads "recall_at_10:max" or "latency_p99_seconds:min". Without a direction it takes the one that is
// better for the column, if it has one; the other one is an error, for a frontier of the worst points is no frontier.
func ParseObjective(s string) (Objective, error) {
	name, direction, given := strings.Cut(strings.TrimSpace(s), ":")
	col, ok := Lookup(name)
	if !ok {
		return Objective{}, fmt.Errorf("objective %q: %w", s, newCatalogue().unknown(name))
	}
	if col.Type != Int && col.Type != Float {
		return Objective{}, fmt.Errorf("objective %q: the column holds %s, an objective needs numbers", s, col.Type)
	}
	o := Objective{Column: name, Direction: col.Better}
	switch {
	case given && direction == "max":
		o.Direction = Higher
	case given && direction == "min":
		o.Direction = Lower
	case given:
		return Objective{}, fmt.Errorf("objective %q: the direction is max or min, not %q", s, direction)
	case o.Direction == None:
		return Objective{}, fmt.Errorf("objective %q: neither direction is better by itself; write %s:max or %s:min", s, name, name)
	}
	if col.Better != None && o.Direction != col.Better {
		return Objective{}, fmt.Errorf("objective %q: %s is better the other way; write %s:%s", s, name, name, col.Better)
	}
	return o, nil
}

// ParseObjectives reads objectives one by one; at least one is needed, and none twice.
func ParseObjectives(texts []string) ([]Objective, error) {
	var objs []Objective
	for _, s := range texts {
		o, err := ParseObjective(s)
		if err != nil {
			return nil, err
		}
		objs = append(objs, o)
	}
	return objs, checkObjectives(objs)
}

func checkObjectives(objs []Objective) error {
	if len(objs) == 0 {
		return errors.New("there are no objectives; give at least one, such as recall_at_10:max")
	}
	seen := map[string]bool{}
	for _, o := range objs {
		if _, err := ParseObjective(o.String()); err != nil {
			return err
		}
		if seen[o.Column] {
			return fmt.Errorf("objective %q is given twice", o.Column)
		}
		seen[o.Column] = true
	}
	return nil
}

// cost is the row's value of the objective turned so that smaller is better; ok is false where it is null.
func (o Objective) cost(r Row) (value float64, ok bool) {
	v, ok := r.Number(o.Column)
	if o.Direction == Higher {
		v = -v
	}
	return v, ok
}
